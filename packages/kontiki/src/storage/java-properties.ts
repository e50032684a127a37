/** Text of a `.properties` file as Java reads and writes it (spec: storage 2). */

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };
const BLANKS = ' \t\f';

/** Undoes escapes. Throws SyntaxError on a malformed unicode escape. */
function unescapeText(text: string): string {
  return text.replace(
    /\\(u(?<hex>.{0,4})|[\s\S])?/g,
    (_match, what: string | undefined, ...rest) => {
      if (what === undefined) return '';
      const groups = rest.at(-1) as { hex?: string };
      if (groups.hex === undefined) return ESCAPES[what] ?? what;
      if (!/^[0-9a-fA-F]{4}$/.test(groups.hex)) throw new SyntaxError(`malformed \\u${groups.hex}`);
      return String.fromCharCode(Number.parseInt(groups.hex, 16));
    },
  );
}

function trimStart(text: string): string {
  let at = 0;
  while (at < text.length && BLANKS.includes(text.charAt(at))) at++;
  return text.slice(at);
}

function endsInOddBackslashes(text: string): boolean {
  return (/\\*$/.exec(text)?.[0].length ?? 0) % 2 === 1;
}

/** Joins continued lines; drops blank lines and comments. */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let continued: string | undefined;
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = trimStart(raw);
    if (continued === undefined && (line === '' || line.startsWith('#') || line.startsWith('!'))) {
      continue;
    }
    const whole: string = (continued ?? '') + line;
    if (endsInOddBackslashes(line)) continued = whole.slice(0, -1);
    else {
      lines.push(whole);
      continued = undefined;
    }
  }
  if (continued !== undefined) lines.push(continued);
  return lines;
}

function splitLine(line: string): [string, string] {
  let at = 0;
  while (at < line.length && !`=:${BLANKS}`.includes(line.charAt(at))) {
    at += line.charAt(at) === '\\' ? 2 : 1;
  }
  const key = line.slice(0, at);
  let value = trimStart(line.slice(at));
  if (value.startsWith('=') || value.startsWith(':')) value = trimStart(value.slice(1));
  return [unescapeText(key), unescapeText(value)];
}

/** Keys and values; the last duplicate wins. Throws SyntaxError on a malformed unicode escape. */
export function parseProperties(text: string): Map<string, string> {
  return new Map(logicalLines(text).map(splitLine));
}

const WRITTEN: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\f': '\\f',
  '=': '\\=',
  ':': '\\:',
  '#': '\\#',
  '!': '\\!',
};

/** A value as it stands in the file: of blanks, only a leading one is escaped. */
export function escapeValue(value: string): string {
  const escaped = value.replace(/[\\\t\n\r\f=:#!]/g, (char) => WRITTEN[char] ?? char);
  return escaped.startsWith(' ') ? `\\${escaped}` : escaped;
}
