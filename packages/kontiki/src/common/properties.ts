import { InvalidArgumentError } from './errors.js';

const BLANK = /[ \t\f]/;
const LEADING_BLANKS = /^[ \t\f]+/;

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

/** True when the line ends with a backslash that is not itself escaped. */
function continues(line: string): boolean {
  let count = 0;
  while (count < line.length && line[line.length - 1 - count] === '\\') count++;
  return count % 2 === 1;
}

/** Natural lines joined at continuations; comments and blank lines left out. */
function logicalLines(text: string): string[] {
  const natural = text.split(/\r\n|\r|\n/);
  const logical: string[] = [];
  for (let i = 0; i < natural.length; i++) {
    let line = (natural[i] ?? '').replace(LEADING_BLANKS, '');
    if (line === '' || line.startsWith('#') || line.startsWith('!')) continue;
    while (continues(line)) {
      i++;
      line = line.slice(0, -1) + (natural[i] ?? '').replace(LEADING_BLANKS, '');
    }
    if (line !== '') logical.push(line);
  }
  return logical;
}

function decode(text: string): string {
  if (!text.includes('\\')) return text;
  let result = '';
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char !== '\\') {
      result += char;
      continue;
    }
    const next = text.charAt(++i);
    if (next !== 'u') {
      result += ESCAPES[next] ?? next;
      continue;
    }
    const hex = text.slice(i + 1, i + 5);
    if (!/^[0-9a-fA-F]{4}$/.test(hex)) {
      throw new InvalidArgumentError(`malformed \\uXXXX escape in properties text: \\u${hex}`);
    }
    result += String.fromCharCode(Number.parseInt(hex, 16));
    i += 4;
  }
  return result;
}

/** Where the key of a logical line ends: at the first unescaped `=`, `:` or blank. */
function keyEnd(line: string): number {
  let i = 0;
  while (i < line.length) {
    const char = line.charAt(i);
    if (char === '=' || char === ':' || BLANK.test(char)) return i;
    i += char === '\\' ? 2 : 1;
  }
  return line.length;
}

/**
 * Reads Java `.properties` text (spec: storage 2): comments, continuation lines, escapes, all line
 * ends; the last of equal keys wins. Throws InvalidArgumentError on a malformed `\uXXXX` escape.
 */
export function parseProperties(text: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const end = keyEnd(line);
    const value = line.slice(end).replace(/^[ \t\f]*[=:]?[ \t\f]*/, '');
    entries.set(decode(line.slice(0, end)), decode(value));
  }
  return entries;
}

function encode(text: string, escapeAllSpaces: boolean): string {
  return text
    .replace(/[\\=:#!]/g, '\\$&')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\f', '\\f')
    .replace(escapeAllSpaces ? / /g : /^ /, '\\ ');
}

/** One `key=value` line without a line end, escaped as Java writes it (spec: storage 2). */
export function formatPropertiesEntry(key: string, value: string): string {
  return `${encode(key, true)}=${encode(value, false)}`;
}
