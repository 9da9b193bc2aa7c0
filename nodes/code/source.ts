/**
 * The text of a `code` step: how it becomes a function, and the nodes that it names. Pure. Everything that
 * compiles or executes a source takes it from here, so that line and column are those of the source.
 */

/** The name of the source in stack traces. */
export const SOURCE_FILE = 'source';

/** The lines before the source in `functionOf` and `OTHER_FORMS`. */
const LINES_BEFORE = 1;

/** The source with the line breaks that the engine counts. JavaScript reads the others in the same way. */
const withLineFeeds = (source: string): string => source.replaceAll(/\r\n?/g, '\n');

/** The expression whose value is the function that a source is the body of. */
export const functionOf = (source: string): string => `(async function () {\n${withLineFeeds(source)}\n})`;

/**
 * The source as the body of a class method. Where a `}` of the source ended the body early, the next token
 * would have to continue an expression in parentheses, which begins with neither `}` nor a class element, and
 * an object literal, which continues with `,` or `}`, and a class body, which never continues with `,`. No
 * token fits all three, so that a source that compiles in each form is one function body.
 */
export const OTHER_FORMS: readonly ((source: string) => string)[] = [
  (source) => `({ async code() {\n${withLineFeeds(source)}\n} })`,
  (source) => `(class { async code() {\n${withLineFeeds(source)}\n} })`,
];

export type Position = { line: number; column: number };

/** The first position of a stack trace that is inside the source. */
export function positionIn(stack: string, source: string): Position | undefined {
  const starts = engineLines(source);
  for (const [, line, column] of stack.matchAll(/\bsource:(\d+):(\d+)/g)) {
    const own = Number(line) - LINES_BEFORE;
    // The engine takes the start of the function for expressions without a position.
    if (own < 1) return { line: 1, column: 1 };
    const start = starts[own - 1];
    if (start !== undefined) return positionAt(source, start + Number(column) - 1);
  }
  return undefined;
}

/** The offsets at which the engine begins a line: it also counts U+2028 and U+2029 between tokens. */
function engineLines(source: string): number[] {
  return [0, ...[...codeOf(source).matchAll(/[\n\u2028\u2029]/g)].map(({ index }) => index + 1)];
}

/** Line and column as editors count them: U+2028 and U+2029 end no line. */
function positionAt(source: string, offset: number): Position {
  const before = withLineFeeds(source).slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** `line 3, column 5: ` or nothing. */
export const printPosition = (position: Position | undefined): string =>
  position ? `line ${position.line}, column ${position.column}: ` : '';

/** The words of a source that may be IDs of nodes: the only nodes that the code can read. */
export function namesOfNodes(source: string): string[] {
  const words = new Set(source.match(/[A-Za-z_$][\w$]*/g));
  return words.has('nodes') ? [...words] : [];
}

/** The node IDs in `nodes.<id>` and `nodes['<id>']` outside comments and texts, with first positions. */
export function referencedNodes(source: string): Map<string, Position> {
  const found = new Map<string, Position>();
  for (const { index, groups = {} } of codeOf(source).matchAll(accessTo('nodes'))) {
    const name = nameIn(groups);
    if (name !== undefined && !found.has(name)) found.set(name, positionAt(source, index));
  }
  return found;
}

/**
 * The variables that the code reads as `vars.<name>` or `vars['<name>']`, and that must exist, with first
 * positions. A name that the code tests once, or gives a default, may be missing. None, where the code uses
 * `vars` in another way: it may be a variable of the code's own.
 */
export function requiredVariables(source: string): Map<string, Position> {
  return requiredMembers(source, 'vars');
}

/** The nodes that the code reads and that must have an output, as `requiredVariables` of variables. */
export function requiredNodes(source: string): Map<string, Position> {
  return requiredMembers(source, 'nodes');
}

function requiredMembers(source: string, object: 'vars' | 'nodes'): Map<string, Position> {
  const code = codeOf(source);
  const required = new Map<string, Position>();
  const tested = testedByName(object);
  const optional = new Set([...code.matchAll(tested)].flatMap(([, name = '']) => name));
  let accesses = code.match(tested)?.length ?? 0;
  for (const { 0: access, index, groups = {} } of code.matchAll(accessTo(object))) {
    const name = nameIn(groups) ?? '';
    accesses += 1;
    const isTested = TEST_AFTER.test(code.slice(index + access.length, index + access.length + TEST_LENGTH));
    if (isTested || access.includes('?.') || /\btypeof\s+$/.test(code.slice(Math.max(0, index - 20), index)))
      optional.add(name);
    else if (!required.has(name)) required.set(name, positionAt(source, index));
  }
  if ((code.match(wordOf(object))?.length ?? 0) > accesses) return new Map();
  return new Map([...required].filter(([name]) => !optional.has(name)));
}

const wordOf = (object: string) => new RegExp(String.raw`(?<![\w$'"]|[^.]\.)${object}(?![\w$'"])`, 'g');
/** `'name' in vars` */
const testedByName = (object: string) =>
  new RegExp(String.raw`["']([\w.-]+)["']\s+in\s+${object}(?![\w$])(?!\s*(?:\?\.|\.|\[))`, 'g');
/** A default, a comparison with undefined or null, optional access, or an assignment. */
const TEST_AFTER = /^\s*(?:\?\?|\|\||\?\.|[!=]==?\s*(?:undefined|null)\b|=(?![=>]))/;
const TEST_LENGTH = 40;

/** Matches `name.<key>` and `name['<key>']`, but not where another value has a member of that name. */
function accessTo(name: string): RegExp {
  const start = String.raw`(?<![\w$'"]|[^.]\.)${name}\s*`;
  const dotted = String.raw`(?:\?\.|\.)\s*(?<dotted>[A-Za-z_$][\w$]*)`;
  const keyed = String.raw`(?:\?\.)?\s*\[\s*(?:"(?<double>[\w.-]+)"|'(?<single>[\w.-]+)')\s*\]`;
  return new RegExp(`${start}(?:${dotted}|${keyed})`, 'g');
}

function nameIn({ dotted, double, single }: Partial<Record<string, string>>): string | undefined {
  return dotted ?? double ?? single;
}

const COMMENT = String.raw`\/\/[^\n\u2028\u2029]*[\u2028\u2029]?|\/\*(?:[^]*?\*\/|[^]*)`;
const STRING = String.raw`"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?`;
/** A pattern extends to the end of its line if it is not closed, so that no line is read twice. */
const PATTERN = String.raw`\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\]?)+\/?`;
const OTHER = String.raw`[\w$]+|\s+|[^]`;
const AFTER_VALUE = new RegExp(`${COMMENT}|${STRING}|${OTHER}`, 'y');
const AFTER_OPERATOR = new RegExp(`${COMMENT}|${STRING}|${PATTERN}|${OTHER}`, 'y');
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
const NAME_IN_QUOTES = /^(["'])[\w.-]+\1$/;
/** Words after which a `/` begins a pattern. */
const OPERATORS = new Set(
  'return typeof case in of delete void throw new else do await yield instanceof'.split(' '),
);

/**
 * The source with spaces in place of comments, regular expressions and texts, except texts in quotes that may
 * be names. Each character stays at its offset, where a line break counts as one. Takes linear time.
 */
export function codeOf(source: string): string {
  const text = withLineFeeds(source);
  const pieces: string[] = [];
  /** The braces that are open in each `${ }` around the current place. */
  const braces: number[] = [];
  let before = '';
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [token = ''] = pattern.exec(text) ?? [];
    at += token.length;
    return token;
  };
  const blank = (token: string): void => void pieces.push(token.replaceAll(/[^\n]/g, ' '));
  const takeTemplate = (): void => {
    blank(take(TEMPLATE_TEXT));
    const isCode = text[at] === '$';
    if (isCode) braces.push(0);
    const end = text.slice(at, at + (isCode ? 2 : 1));
    at += end.length;
    blank(end);
    before = isCode ? '(' : '`';
  };
  while (at < text.length) {
    const isAfterValue = /[\w$)\]}"'`]$/.test(before) && !OPERATORS.has(before);
    const token = take(isAfterValue ? AFTER_VALUE : AFTER_OPERATOR);
    const [first = ''] = token;
    if (first === '`') {
      blank(token);
      takeTemplate();
      continue;
    }
    const open = braces.at(-1);
    if (token === '}' && open === 0) {
      braces.pop();
      blank(token);
      takeTemplate();
      continue;
    }
    if (open !== undefined && (token === '{' || token === '}'))
      braces[braces.length - 1] = open + (token === '{' ? 1 : -1);
    if (isHidden(token)) blank(token);
    else pieces.push(token);
    if (!COMMENT_START.test(token) && token.trim() !== '') before = token;
  }
  return pieces.join('');
}

const COMMENT_START = /^\/[/*]/;

/** Whether a token is a comment, a pattern, or a text that is no name. */
function isHidden(token: string): boolean {
  if (token.startsWith('/')) return token.length > 1;
  return /^["']/.test(token) && !NAME_IN_QUOTES.test(token);
}
