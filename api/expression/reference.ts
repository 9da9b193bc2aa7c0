/**
 * References as plain JSON data, and their text. Printing a reference and parsing it again gives the same
 * reference.
 */

/** One step into a value: a key of an object, or a zero-based index into a list. */
export type PathStep = string | number;

/** The members of a node's output that a reference can read. */
export const NODE_MEMBERS = ['text_content', 'data_content', 'error', 'headers', 'item', 'index'] as const;
export type NodeMember = (typeof NODE_MEMBERS)[number];

/** The members of `$run`. */
export const RUN_MEMBERS = [
  'id',
  'workflow',
  'project',
  'accepted',
  'localTime',
  'timeZone',
  'test',
] as const;

/**
 * `node`: `$('<node id>').<member>` and a path below it; `previous`: the same of the node before. `run`:
 * `$run.<member>`. `vars`: `$vars.<name>` and a path below it. `item` and `index`: `$item` and `$index`,
 * which exist only in a node with `forEach`. `url`: `$url('<node id>')`, the URL of a callback. `default`:
 * `?? <literal>`, for a value that is null or does not exist.
 */
export type Reference = (
  | { source: 'node'; node: string; member: NodeMember; path: readonly PathStep[] }
  | { source: 'previous'; member: NodeMember; path: readonly PathStep[] }
  | { source: 'item' | 'run' | 'vars'; path: readonly PathStep[] }
  | { source: 'index' }
  | { source: 'url'; node: string }
) & { default?: Literal };

/** A value that can be written after `??`. */
export type Literal = string | number | boolean | null;

/** The reference with the node before in place of `$previous`. */
export function withoutPrevious(reference: Reference, previous: string | undefined): Reference {
  if (reference.source !== 'previous' || previous === undefined) return reference;
  return { ...reference, source: 'node', node: previous };
}

const NAME = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

/** The text of the reference between the braces. */
export function printReference(reference: Reference): string {
  const { default: value } = reference;
  if (value === undefined) return printSource(reference);
  return `${printSource(reference)} ?? ${typeof value === 'string' ? quote(value) : String(value)}`;
}

function printSource(reference: Reference): string {
  if (reference.source === 'index') return '$index';
  if (reference.source === 'url') return `$url(${quote(reference.node)})`;
  const path = printPath(reference.path);
  if (reference.source === 'node') return `$(${quote(reference.node)}).${reference.member}${path}`;
  return reference.source === 'previous'
    ? `$previous.${reference.member}${path}`
    : `$${reference.source}${path}`;
}

/** The text of a path after a reference: `.items[0]['any key']`. */
export function printPath(path: readonly PathStep[]): string {
  return path.map(printStep).join('');
}

export function printStep(step: PathStep): string {
  if (typeof step === 'number') return `[${step}]`;
  return NAME.test(step) ? `.${step}` : `[${quote(step)}]`;
}

/** A text in single quotes, with quotes and backslashes escaped. */
function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
