/**
 * Parses a text with references, `Hello {{ $('trigger').data_content.name }}`, into plain data. Guarantees:
 * throws only `ExpressionError`, always with a position; takes time linear in the text; executes nothing;
 * printing and parsing again gives the same template.
 */
import { ExpressionError, positionAt } from './errors.ts';
import { parseExact } from '../exact/exactNumber.ts';
import { n8nReferenceAt } from './n8n.ts';
import {
  type Literal,
  NODE_MEMBERS,
  type NodeMember,
  type PathStep,
  type Reference,
  RUN_MEMBERS,
} from './reference.ts';

/**
 * A parsed text: its parts in order, literal texts and references. Plain JSON data, so that it can be stored
 * with a revision. `single` is true for one reference with only white space around it, which keeps the type
 * of its value.
 */
export type Template = { parts: readonly TemplatePart[]; single: boolean };
export type TemplatePart = string | Reference;

/** Limits of a text. Lengths count UTF-16 units. */
export const TEMPLATE_LIMITS = {
  templateLength: 65_536,
  references: 256,
  pathSteps: 64,
  keyLength: 1_024,
} as const;

const ALLOWED =
  "inside {{ }} write $('node id').text_content, $('node id').data_content.name[0]['any key'], $previous, $run, $vars, $item, $index, $url('node id'), or text in quotes";

/**
 * Parses one text. `{{ 'text' }}` yields that text unchanged: `{{ '{{' }}` yields two literal braces, and `{{
 * '' }}` beside one reference converts its value to text.
 * @throws ExpressionError `Syntax` or `Limit`, with the line and column in the text
 */
export function parseTemplate(text: string): Template {
  if (text.length > TEMPLATE_LIMITS.templateLength) {
    throw new ExpressionError(
      'Limit',
      `a text must have at most ${TEMPLATE_LIMITS.templateLength} characters`,
      {
        position: positionAt(text, TEMPLATE_LIMITS.templateLength),
      },
    );
  }
  const parts: TemplatePart[] = [];
  let references = 0;
  let quoted = false;
  let offset = 0;
  for (let open = openingBraces(text, 0); open !== -1; open = openingBraces(text, offset)) {
    pushText(parts, text.slice(offset, open));
    const cursor: Cursor = { text, offset: open + 2, open };
    const part = parseBraces(cursor);
    offset = cursor.offset;
    if (typeof part === 'string') {
      quoted = true;
      pushText(parts, part);
    } else if (++references > TEMPLATE_LIMITS.references) {
      throw limit(cursor, open, `a text must have at most ${TEMPLATE_LIMITS.references} references`);
    } else parts.push(part);
  }
  pushText(parts, text.slice(offset));
  if (quoted || !isBareReference(parts)) return { parts, single: false };
  return { parts: parts.filter((part) => typeof part !== 'string'), single: true };
}

/** White space around one reference does not count as text: block scalars of YAML end with a line break. */
function isBareReference(parts: readonly TemplatePart[]): boolean {
  const references = parts.filter((part) => typeof part !== 'string');
  return references.length === 1 && parts.every((part) => typeof part !== 'string' || part.trim() === '');
}

/** Neighbouring texts become one, so that equal templates have equal parts. */
function pushText(parts: TemplatePart[], text: string): void {
  if (text === '') return;
  const last = parts.at(-1);
  if (typeof last === 'string') parts[parts.length - 1] = last + text;
  else parts.push(text);
}

/**
 * The offset of the next expression. The last two of three or more braces open it, so that `{{{ … }}}` works
 * in JSON.
 */
function openingBraces(text: string, from: number): number {
  let open = text.indexOf('{{', from);
  while (open !== -1 && text[open + 2] === '{') open += 1;
  return open;
}

type Cursor = { readonly text: string; readonly open: number; offset: number };

function parseBraces(cursor: Cursor): TemplatePart {
  skipSpace(cursor);
  const first = cursor.text[cursor.offset];
  const part = first === "'" || first === '"' ? parseString(cursor) : parseWithDefault(cursor);
  skipSpace(cursor);
  if (cursor.text.startsWith('}}', cursor.offset)) {
    cursor.offset += 2;
    return part;
  }
  if (cursor.offset >= cursor.text.length) throw syntax(cursor, cursor.open, 'this {{ has no closing }}');
  throw syntax(cursor, cursor.offset, `expected }} here; ${ALLOWED}`);
}

function parseWithDefault(cursor: Cursor): Reference {
  const reference = parseReference(cursor);
  skipSpace(cursor);
  if (!take(cursor, '??')) return reference;
  skipSpace(cursor);
  return { ...reference, default: parseLiteral(cursor) };
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORDS: Record<string, Literal> = { true: true, false: false, null: null };

function parseLiteral(cursor: Cursor): Literal {
  const start = cursor.offset;
  const first = cursor.text[start];
  if (first === "'" || first === '"') return parseString(cursor);
  for (const [word, value] of Object.entries(WORDS)) if (takeWord(cursor, word)) return value;
  const digits = match(cursor, NUMBER);
  const number = digits === undefined ? undefined : parseExact(digits);
  if (typeof number === 'number') return number;
  if (number !== undefined)
    throw syntax(cursor, start, 'a double cannot represent this number: write it as text in quotes');
  throw syntax(cursor, start, "after ?? write a text in quotes, a number, true, false or null: ?? 'none'");
}

/** The variables of n8n that do not name an output. */
const OF_N8N: Record<string, string> = {
  $node: "$('node id').data_content",
  $now: '$run.localTime',
  $today: '$run.localTime',
  $execution: '$run',
  $workflow: '$run.workflow',
  $env: '$vars, or a credential for a secret,',
};

function parseReference(cursor: Cursor): Reference {
  const start = cursor.offset;
  if (take(cursor, '$(')) return parseNodeReference(cursor, start);
  if (take(cursor, '$url(')) return { source: 'url', node: parseNodeId(cursor, '$url') };
  if (takeWord(cursor, '$item')) return { source: 'item', path: parsePath(cursor, []) };
  if (takeWord(cursor, '$index')) return { source: 'index' };
  if (takeWord(cursor, '$previous'))
    return { source: 'previous', ...parseMember(cursor, start, '$previous') };
  if (takeWord(cursor, '$run')) return parseRunReference(cursor, start);
  if (takeWord(cursor, '$vars')) return parseVariable(cursor, start);
  const known = insteadOfN8n(cursor, start);
  if (known !== undefined) throw syntax(cursor, start, known);
  for (const [word, ours] of Object.entries(OF_N8N))
    if (takeWord(cursor, word)) throw syntax(cursor, start, `write ${ours} in place of ${word}`);
  throw syntax(
    cursor,
    start,
    `{{ is not followed by a reference; ${ALLOWED}; for literal braces write {{ '{{' }}`,
  );
}

/** What to write instead of a reference of n8n: the whole reference, so that it can be copied. */
function insteadOfN8n({ text }: Cursor, start: number): string | undefined {
  const reference = n8nReferenceAt(text, start);
  if (!reference) return undefined;
  const { written, node, isNamed, isBody, path } = reference;
  const isWebhook = isBody && !isNamed;
  const source = isWebhook ? "$('trigger')" : isNamed ? `$('${node ?? 'node id'}')` : '$previous';
  const why = isWebhook ? ', with the ID of your webhook: its data_content is the body' : '';
  return `write ${source}.data_content${path} in place of ${written}${why}`;
}

function parseNodeReference(cursor: Cursor, start: number): Reference {
  const node = parseNodeId(cursor, '$');
  return { source: 'node', node, ...parseMember(cursor, start, "$('node id')") };
}

/** The rest of `$('node id')` after the bracket. `written`: what is before the bracket. */
function parseNodeId(cursor: Cursor, written: string): string {
  skipSpace(cursor);
  const quoted = cursor.text[cursor.offset];
  if (quoted !== "'" && quoted !== '"')
    throw syntax(cursor, cursor.offset, `write the node's ID in quotes: ${written}('node id')`);
  const node = parseString(cursor);
  skipSpace(cursor);
  if (!take(cursor, ')')) throw syntax(cursor, cursor.offset, "expected ) after the node's ID");
  return node;
}

function parseMember(
  cursor: Cursor,
  start: number,
  written: string,
): { member: NodeMember; path: PathStep[] } {
  const [member, ...path] = parsePath(cursor, []);
  if (!isNodeMember(member)) {
    const offered = `after ${written} use one of .${NODE_MEMBERS.join(', .')}`;
    throw syntax(cursor, start, insteadOfN8n(cursor, start) ?? offered);
  }
  if (member === 'text_content' && path.length > 0) {
    throw syntax(cursor, start, 'text_content is a string and has no members: remove the path after it');
  }
  return { member, path };
}

function parseRunReference(cursor: Cursor, start: number): Reference {
  const path = parsePath(cursor, []);
  if (path.length === 1 && RUN_MEMBERS.some((member) => member === path[0])) return { source: 'run', path };
  throw syntax(cursor, start, `after $run use one of .${RUN_MEMBERS.join(', .')}`);
}

function parseVariable(cursor: Cursor, start: number): Reference {
  const path = parsePath(cursor, []);
  if (typeof path[0] === 'string') return { source: 'vars', path };
  throw syntax(
    cursor,
    start,
    "after $vars write the name of a variable: $vars.name or $vars['limits.json'].max",
  );
}

function isNodeMember(step: PathStep | undefined): step is NodeMember {
  return NODE_MEMBERS.some((member) => member === step);
}

function parsePath(cursor: Cursor, path: PathStep[]): PathStep[] {
  for (;;) {
    const start = cursor.offset;
    if (take(cursor, '.')) path.push(parseName(cursor));
    else if (take(cursor, '[')) path.push(parseBracket(cursor));
    else return path;
    if (path.length > TEMPLATE_LIMITS.pathSteps) {
      throw limit(cursor, start, `a reference must have at most ${TEMPLATE_LIMITS.pathSteps} path steps`);
    }
  }
}

const NAME = /[\p{ID_Start}_$][\p{ID_Continue}$]*/uy;
const INDEX = /(?:0|[1-9][0-9]{0,9})(?![0-9.])/y;

function parseName(cursor: Cursor): string {
  const name = match(cursor, NAME);
  if (name === undefined) {
    throw syntax(
      cursor,
      cursor.offset,
      "expected a name after the dot; write [0] for an index and ['any key'] for other keys",
    );
  }
  return checkKey(cursor, name);
}

function parseBracket(cursor: Cursor): PathStep {
  skipSpace(cursor);
  const first = cursor.text[cursor.offset];
  const step = first === "'" || first === '"' ? parseString(cursor) : parseIndex(cursor);
  skipSpace(cursor);
  if (!take(cursor, ']')) throw syntax(cursor, cursor.offset, 'expected ] here');
  return step;
}

function parseIndex(cursor: Cursor): number {
  const digits = match(cursor, INDEX);
  if (digits === undefined) {
    throw syntax(cursor, cursor.offset, "inside [ ] write an index from 0, or a key in quotes: ['any key']");
  }
  return Number(digits);
}

const UNQUOTED = { "'": /[^'\\]*/y, '"': /[^"\\]*/y } as const;

/** A text in single or double quotes. Only quotes and backslashes can be escaped. */
function parseString(cursor: Cursor): string {
  const start = cursor.offset;
  const delimiter = cursor.text[start] === "'" ? "'" : '"';
  cursor.offset += 1;
  let value = '';
  for (;;) {
    value += match(cursor, UNQUOTED[delimiter]) ?? '';
    if (take(cursor, delimiter)) return checkKey(cursor, value);
    if (cursor.offset >= cursor.text.length) throw syntax(cursor, start, 'this quote is not closed');
    const escaped = cursor.text[cursor.offset + 1];
    if (escaped !== '\\' && escaped !== "'" && escaped !== '"') {
      throw syntax(cursor, cursor.offset, String.raw`a backslash inside quotes can only escape \ ' or "`);
    }
    value += escaped;
    cursor.offset += 2;
  }
}

function checkKey(cursor: Cursor, key: string): string {
  if (key.length <= TEMPLATE_LIMITS.keyLength) return key;
  throw limit(
    cursor,
    cursor.offset,
    `a name or text inside {{ }} must have at most ${TEMPLATE_LIMITS.keyLength} characters`,
  );
}

function take(cursor: Cursor, expected: string): boolean {
  if (!cursor.text.startsWith(expected, cursor.offset)) return false;
  cursor.offset += expected.length;
  return true;
}

/** Takes a whole word: `$items` does not match `$item`. */
function takeWord(cursor: Cursor, word: string): boolean {
  NAME.lastIndex = cursor.offset;
  return NAME.exec(cursor.text)?.[0] === word && take(cursor, word);
}

function match(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.offset;
  const found = pattern.exec(cursor.text)?.[0];
  cursor.offset += found?.length ?? 0;
  return found;
}

const SPACE = /[ \t\r\n]*/y;

function skipSpace(cursor: Cursor): void {
  match(cursor, SPACE);
}

function syntax(cursor: Cursor, offset: number, message: string): ExpressionError {
  return new ExpressionError('Syntax', message, { position: positionAt(cursor.text, offset) });
}

function limit(cursor: Cursor, offset: number, message: string): ExpressionError {
  return new ExpressionError('Limit', message, { position: positionAt(cursor.text, offset) });
}
