/**
 * The text of a `code` step: how it becomes a function, and the nodes that it names. Pure. Everything that
 * compiles or executes a source takes it from here, so that line and column are those of the source.
 */

/** The name of the source in stack traces. */
export const SOURCE_FILE = 'source';

/** The lines before the source in `functionOf` and `OTHER_FORMS`. */
const LINES_BEFORE = 1;

/** The expression whose value is the function that a source is the body of. */
export const functionOf = (source: string): string => `(async function () {\n${source}\n})`;

/**
 * The source as the body of a class method. Where a `}` of the source ended the body early, the next token
 * would have to continue an expression in parentheses, which begins with neither `}` nor a class element, and
 * an object literal, which continues with `,` or `}`, and a class body, which never continues with `,`. No
 * token fits all three, so that a source that compiles in each form is one function body.
 */
export const OTHER_FORMS: readonly ((source: string) => string)[] = [
  (source) => `({ async code() {\n${source}\n} })`,
  (source) => `(class { async code() {\n${source}\n} })`,
];

export type Position = { line: number; column: number };

/** The first position of a stack trace that is inside the source. */
export function positionIn(stack: string, source: string): Position | undefined {
  const lines = source.split('\n').length;
  for (const [, line, column] of stack.matchAll(/\bsource:(\d+):(\d+)/g)) {
    const own = Number(line) - LINES_BEFORE;
    if (own > lines) continue;
    // The engine takes the start of the function for expressions without a position.
    return own < 1 ? { line: 1, column: 1 } : { line: own, column: Number(column) };
  }
  return undefined;
}

/** `line 3, column 5: ` or nothing. */
export const printPosition = (position: Position | undefined): string =>
  position ? `line ${position.line}, column ${position.column}: ` : '';

/** The words of a source that may be IDs of nodes: the only nodes that the code can read. */
export function namesOfNodes(source: string): string[] {
  const words = new Set(source.match(/[A-Za-z_$][\w$]*/g));
  return words.has('nodes') ? [...words] : [];
}

/**
 * A comment or a string in JavaScript; or a `nodes` expression with the node's ID. Takes linear time: an open
 * comment extends to the end, and a string begins with no escaped quote, which a template may have.
 */
const TOKENS =
  /\/\/[^\n]*|\/\*(?:[^]*?\*\/|[^]*)|(?<![\w$.])nodes\s*(?:\?\.|\.)\s*(?<dotted>[A-Za-z]\w*)|(?<![\w$.])nodes\s*(?:\?\.)?\[\s*(?:"(?<double>\w+)"|'(?<single>\w+)')\s*\]|(?<!\\)"(?:[^"\\\n]|\\[^])*"|(?<!\\)'(?:[^'\\\n]|\\[^])*'/g;

/** The node IDs in `nodes.<id>` and `nodes['<id>']` outside comments and strings, with first positions. */
export function referencedNodes(source: string): Map<string, Position> {
  const found = new Map<string, Position>();
  for (const { index, groups: { dotted, double, single } = {} } of source.matchAll(TOKENS)) {
    const id = dotted ?? double ?? single;
    if (id === undefined || found.has(id)) continue;
    const lines = source.slice(0, index).split('\n');
    found.set(id, { line: lines.length, column: (lines.at(-1) ?? '').length + 1 });
  }
  return found;
}
