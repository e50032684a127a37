package kontiki.interop;

import java.util.LinkedHashMap;
import java.util.Map;

/** Writes the one line of JSON that answers a command. */
final class Json {
  private Json() {}

  /** An object with its fields in the order given: name, value, name, value ... */
  static Map<String, Object> object(Object... namesAndValues) {
    final Map<String, Object> fields = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return fields;
  }

  static String write(Object value) {
    final StringBuilder out = new StringBuilder();
    append(out, value);
    return out.toString();
  }

  private static void append(StringBuilder out, Object value) {
    if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else if (value instanceof Map<?, ?> map) {
      out.append('{');
      String separator = "";
      for (Map.Entry<?, ?> field : map.entrySet()) {
        out.append(separator);
        appendText(out, field.getKey().toString());
        out.append(':');
        append(out, field.getValue());
        separator = ",";
      }
      out.append('}');
    } else if (value instanceof Iterable<?> list) {
      out.append('[');
      String separator = "";
      for (Object element : list) {
        out.append(separator);
        append(out, element);
        separator = ",";
      }
      out.append(']');
    } else {
      appendText(out, value.toString());
    }
  }

  private static void appendText(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      final char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
