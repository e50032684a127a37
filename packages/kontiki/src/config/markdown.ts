import type { KeyDefinition } from './key-definition.js';
import { PARAMETER_KEYS } from './keys/parameter-keys.js';
import { UNUSED_KEYS } from './keys/unused-keys.js';
import { definitionOf, KEY_NAMES, type KeyName } from './registry.js';

const INTRODUCTION = `# Configuration

<!-- Generated from the registry of keys by \`npm run generate\`; do not edit. -->

Keys have the names and the value syntax of Apache Ratis. Programs give them as \`options\` of
\`RaftServer.create\` (values: numbers of milliseconds and bytes, or text) or as a
\`RaftProperties\` object; the \`kontiki\` command takes \`-D key=value\` and \`--conf FILE\` (Java
properties). \`kontiki config\` prints every key with its value, where that came from, and what it
means. An unknown key below \`raft.\` is warned of, with the known one that was perhaps meant; a
value that is not acceptable is refused with \`KONTIKI_CONFIG_INVALID\`.

| kind | text |
|---|---|
| duration | a whole number and a unit: \`ns us ms s min h d\`; without one, that of the default |
| size | a whole number of bytes, or with \`k m g t\` (powers of 1024); a \`b\` may follow |
| int, long | decimal, or hexadecimal with \`0x\`; \`_\` between digits is ignored |
| boolean | \`true\`, \`t\`, \`false\`, \`f\` in any case; anything else means the default |
| paths, list | separated by commas |
| retryPolicy | \`1ms,10, 1s,20\`: ten times 1 ms, then twenty times 1 s, and others of Ratis |

\`\${name}\` in a value stands for the value of that key, \`\${env.NAME:-text}\` for an environment
variable.
`;

/** Text for a cell of a table. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function row(...cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function code(text: string): string {
  return `\`${cell(text)}\``;
}

function defaultCell(definition: KeyDefinition<unknown>): string {
  const { aliasOf, defaultText, fallback, ratisDefaultText } = definition;
  if (aliasOf !== undefined) return `that of ${code(aliasOf)}`;
  if (fallback !== undefined) {
    const factor = fallback.factor === 1 ? '' : `${fallback.factor} times `;
    return `${factor}${code(fallback.key)}`;
  }
  if (defaultText === undefined || defaultText === '') return 'not set';
  const ratis = ratisDefaultText === undefined ? '' : ` (Ratis: ${code(ratisDefaultText)})`;
  return `${code(defaultText)}${ratis}`;
}

function keyRow(key: KeyName): string {
  const definition = definitionOf(key);
  const reason = UNUSED_KEYS.get(key);
  const effect = reason === undefined ? '' : ` **No effect:** ${reason}`;
  const meaning = cell(`${definition.meaning}${effect}`);
  const { type, range } = definition;
  return row(code(key), type, defaultCell(definition), cell(range), meaning);
}

/** The keys of one component. */
function section(component: string, keys: readonly KeyName[]): string {
  const head = [row('key', 'kind', 'default', 'values', 'meaning'), '|---|---|---|---|---|'];
  return [`## ${component}`, '', ...head, ...keys.map(keyRow), ''].join('\n');
}

function parameterSection(): string {
  const rows = Object.entries(PARAMETER_KEYS).map(([key, meaning]) => row(code(key), meaning));
  const text = 'These names of Ratis stand for objects, not text. Programs give them as options.';
  return [
    ...['## objects', '', text, '', row('name in Ratis', 'what it is'), '|---|---|'],
    ...rows,
    '',
  ].join('\n');
}

/** The reference page of all keys, in Markdown. */
export function configurationPage(): string {
  const byComponent = new Map<string, KeyName[]>();
  for (const key of KEY_NAMES) {
    const { component } = definitionOf(key);
    const keys = byComponent.get(component);
    if (keys === undefined) byComponent.set(component, [key]);
    else keys.push(key);
  }
  const sections = [...byComponent].map(([component, keys]) => section(component, keys));
  return [INTRODUCTION, ...sections, parameterSection()].join('\n');
}

/** The keys without effect, one row for each reason, as a table in Markdown. */
export function unusedKeysTable(): string {
  const byReason = new Map<string, string[]>();
  for (const [key, reason] of UNUSED_KEYS) {
    const keys = byReason.get(reason);
    if (keys === undefined) byReason.set(reason, [key]);
    else keys.push(key);
  }
  const rows = [...byReason].map(([reason, keys]) => row(cell(reason), keys.map(code).join(' ')));
  return [row('why', 'keys'), '|---|---|', ...rows, ''].join('\n');
}
