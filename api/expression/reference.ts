/**
 * References as plain JSON data, and their text. Printing a reference and parsing it again gives the same
 * reference.
 */

/** One step into a value: a key of an object, or a zero-based index into a list. */
export type PathStep = string | number;

/** The members of a node's output that a reference can read. */
export const NODE_MEMBERS = ['text_content', 'data_content', 'error', 'headers'] as const;
export type NodeMember = (typeof NODE_MEMBERS)[number];

/**
 * `node`: `$('<node id>').<member>` and a path below it. `item` and `index`: `$item` and `$index`, which
 * exist only in a node with `forEach`.
 */
export type Reference =
  | { source: 'node'; node: string; member: NodeMember; path: readonly PathStep[] }
  | { source: 'item'; path: readonly PathStep[] }
  | { source: 'index' };

const NAME = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

/** The text of the reference between the braces. */
export function printReference(reference: Reference): string {
  if (reference.source === 'index') return '$index';
  if (reference.source === 'item') return `$item${printPath(reference.path)}`;
  return `$(${quote(reference.node)}).${reference.member}${printPath(reference.path)}`;
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
