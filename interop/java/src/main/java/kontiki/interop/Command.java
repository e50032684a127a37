package kontiki.interop;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** A line of standard input: number, name and {@code key=value} arguments, separated by tabs; values are URL-encoded. */
record Command(long number, String name, Map<String, String> arguments) {
  static Command parse(String line) {
    final String[] parts = line.split("\t");
    final Map<String, String> arguments = new LinkedHashMap<>();
    for (int i = 2; i < parts.length; i++) {
      final int equals = parts[i].indexOf('=');
      final String value = URLDecoder.decode(parts[i].substring(equals + 1), StandardCharsets.UTF_8);
      arguments.put(parts[i].substring(0, equals), value);
    }
    return new Command(Long.parseLong(parts[0]), parts[1], arguments);
  }

  /** An argument that must be there. */
  String get(String key) {
    final String value = arguments.get(key);
    if (value == null) {
      throw new IllegalArgumentException(name + " needs " + key);
    }
    return value;
  }

  String get(String key, String otherwise) {
    return arguments.getOrDefault(key, otherwise);
  }

  boolean has(String key) {
    return arguments.containsKey(key);
  }

  long number(String key) {
    return Long.parseLong(get(key));
  }
}
