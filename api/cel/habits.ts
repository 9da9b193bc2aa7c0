/**
 * Syntax of other languages that people write in CEL, and what to write instead. The message of the first
 * match replaces the parser's.
 */
import { type N8nReference, n8nReferenceAt } from '../expression/n8n.ts';

const HABITS: readonly { written: RegExp; instead: string | Instead; isWord?: true }[] = [
  { written: /\{\{|\$\(|\$\w+/, instead: insteadOfTemplate },
  { written: /\?\?/, instead: 'CEL writes a default as a.?b.orValue("default")' },
  { written: /[=!]==/, instead: 'CEL compares with == and !=' },
  { written: /=>/, instead: 'CEL has no functions of your own: write list.map(x, x.total)' },
  { written: /<>/, instead: 'CEL compares with !=' },
  { written: /(?<![=!<>])=(?!=)/, instead: 'CEL compares with ==, not with =' },
  {
    written: /(?<![\w.])(?:and|or|not)(?!\w)/i,
    instead: 'CEL writes and, or and not as &&, || and !',
    isWord: true,
  },
  {
    written: /(?<![\w.])(?:True|False|None|nil|undefined)(?!\w)/,
    instead: 'CEL writes true, false and null',
  },
];

/** `written`: the expression from the habit on. */
type Instead = (written: string, options: { forEach: boolean }) => string;

/** A reference of parameters, such as `$('ask').text_content` or `$item.name`. */
const REFERENCE = /\$\(["']?([\w-]*)["']?\)((?:\.\w+)*)|\$(\w+)((?:\.\w+)*)/;

function insteadOfTemplate(written: string, options: { forEach: boolean }): string {
  if (!written.startsWith('{{')) {
    const ofN8n = n8nReferenceAt(written, 0);
    if (ofN8n) return `CEL does not support ${ofN8n.written}: ${writeData(ofN8n)}`;
    const reference = REFERENCE.exec(written)?.[0] ?? "$('…')";
    return `CEL does not support ${reference}: ${writeReference(reference, options)}`;
  }
  const [, inner = ''] = /^\{\{\s*(.*?)\s*\}\}/s.exec(written) ?? [];
  const ofN8n = n8nReferenceAt(inner, 0);
  const instead =
    ofN8n?.written === inner
      ? writeData(ofN8n)
      : REFERENCE.exec(inner)?.[0] === inner
        ? writeReference(inner, options)
        : undefined;
  return `CEL does not support {{ }}: ${instead ?? 'write nodes.trigger.data_content.name, and put text in quotes'}`;
}

function writeData({ node, path }: N8nReference): string {
  return `write nodes.${node ?? 'trigger'}.data_content${path}`;
}

function writeReference(reference: string, { forEach }: { forEach: boolean }): string {
  const [, node, members, name = '', rest = ''] = REFERENCE.exec(reference) ?? [];
  if (node !== undefined) return `write nodes.${node === '' ? 'trigger' : node}${members || '.data_content'}`;
  const isItem = name === 'item' || name === 'index';
  if (isItem && !forEach) return `on an edge write nodes.<ID of the group>.${name}${rest}`;
  return isItem || ['vars', 'run', 'previous'].includes(name)
    ? `write ${name}${rest}`
    : `write nodes.trigger.data_content${rest}`;
}

const QUOTED = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/**
 * The habit in an expression that cannot be parsed, and its offset; undefined if there is none. `forEach`:
 * the expression may use `item`.
 */
export function habitIn(
  source: string,
  options: { forEach: boolean },
): { offset: number; instead: string } | undefined {
  const bare = withoutTexts(source);
  const isText = isBareText(source);
  for (const { written, instead, isWord } of HABITS) {
    // In text without quotes these are ordinary words.
    if (isWord && isText) continue;
    const offset = bare.search(written);
    if (offset === -1) continue;
    return {
      offset,
      instead: typeof instead === 'string' ? instead : instead(source.slice(offset), options),
    };
  }
  return undefined;
}

/**
 * Whether an expression that cannot be parsed is likely unquoted text: words without operators or references.
 */
export function isBareText(source: string): boolean {
  return source.trim() !== '' && !/["'([]|\bnodes\b|[&|<>+*]|[=!]=/.test(source);
}

/** Functions of other languages and places, by their names, and what to write instead. */
const FUNCTION_HABITS: Readonly<Record<string, string>> = {
  toUpperCase: 'upperAscii()',
  upper: 'upperAscii()',
  toLowerCase: 'lowerAscii()',
  lower: 'lowerAscii()',
  includes: 'contains(text), or value in list',
  length: 'size()',
  len: 'size(value)',
  reduce: 'sum(), or map and filter',
  concat: 'list + list',
  replaceAll: 'replace(old, new)',
  toString: 'string(value)',
  parseInt: 'int(text)',
  parseFloat: 'double(text)',
  toFixed: '"%.2f".format([value])',
  now: 'timestamp(run.accepted)',
  round: 'math.round(number)',
  floor: 'math.floor(number)',
  ceil: 'math.ceil(number)',
  abs: 'math.abs(number)',
  min: 'math.least(list)',
  max: 'math.greatest(list)',
  range: 'lists.range(count)',
};

/** What to write in place of a function that CEL does not have; undefined if it is no known habit. */
export function insteadOf(name: string): string | undefined {
  return Object.hasOwn(FUNCTION_HABITS, name) ? FUNCTION_HABITS[name] : undefined;
}

/** Longer texts are not repeated in messages. */
const SHORT = 40;

/** The hint for unquoted text: the quotes of YAML are not part of the expression. */
export function quotesNeeded(source: string): string {
  const text = source.trim();
  const example = text.length > SHORT || text.includes('\n') ? '"some text"' : `"${text}"`;
  return `text needs its own quotes: ${example} (in YAML '${example}')`;
}

/** Has the same length, so that offsets stay valid. */
function withoutTexts(source: string): string {
  return source.replaceAll(QUOTED, (text) => ' '.repeat(text.length));
}
