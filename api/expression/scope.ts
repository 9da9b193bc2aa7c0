/**
 * What references can see, and what they say when it is not there. Reads own properties of objects and elements of lists,
 * and nothing else: no inherited member, no length, no method.
 */
import { MissingValueError } from './errors.ts';
import { type PathStep, printReference, printStep, type Reference } from './reference.ts';

/** What a node left behind, as references see it. `error` is there when it failed and the failure was let pass. */
export type NodeOutput = { text_content: string; data_content: unknown; error?: unknown; headers?: unknown };

/**
 * `node` gives `undefined` for a node that was skipped or did not run, and only an error for one that failed; `item` and
 * `index` are there inside forEach.
 */
export type Scope = {
  node: (id: string) => Partial<NodeOutput> | undefined;
  item?: unknown;
  index?: number;
};

/** How a reference is written in a message. */
export type Printer = (reference: Reference) => string;

/** The value that a reference names, or `undefined` where there is none. */
export function lookUp(reference: Reference, scope: Scope): unknown {
  if (reference.source === 'index') return scope.index;
  let value = rootOf(reference, scope);
  for (const key of reference.path) value = step(value, key);
  return value;
}

type PathReference = Exclude<Reference, { source: 'index' }>;

function rootOf(reference: PathReference, scope: Scope): unknown {
  return reference.source === 'item' ? scope.item : scope.node(reference.node)?.[reference.member];
}

function step(value: unknown, key: PathStep): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const fits = typeof key === (Array.isArray(value) ? 'number' : 'string');
  return fits && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** The error for a reference that `lookUp` found nothing for. It names the deepest part that exists. */
export function missingValue(
  reference: Reference,
  scope: Scope,
  print: Printer = printReference,
): MissingValueError {
  const written = print(reference);
  if (reference.source === 'index') return new MissingValueError(written, outsideForEach(written));
  const root = { ...reference, path: [] };
  let there = rootOf(reference, scope);
  if (there === undefined) return new MissingValueError(written, whyNoRoot(root, scope, print));
  for (const [depth, key] of reference.path.entries()) {
    const next = step(there, key);
    const found = print({ ...reference, path: reference.path.slice(0, depth) });
    if (next === undefined) return new MissingValueError(written, `${found} ${describeMissing(there, key)}`);
    there = next;
  }
  return new MissingValueError(written, `${written} does not exist`);
}

function whyNoRoot(root: PathReference, scope: Scope, print: Printer): string {
  const written = print(root);
  if (root.source === 'item') return outsideForEach(written);
  const ran = scope.node(root.node) !== undefined;
  return `${written}: ${ran ? WHY_ABSENT[root.member] : `the node '${root.node}' did not run`}`;
}

function outsideForEach(written: string): string {
  return `${written} exists only inside a node with forEach`;
}

const WHY_ABSENT = {
  text_content: 'the node failed, so it produced no text_content',
  data_content: 'the node failed, so it produced no data_content',
  error: 'the node did not fail, so there is no error',
  headers: 'there are no headers; only a webhook that admits some has them',
} as const;

/** Says what is there instead, by type and size and never by content: `has 2 elements; [5] does not exist`. */
function describeMissing(value: unknown, key: PathStep): string {
  const wanted = printStep(key);
  if (typeof value !== 'object' || value === null)
    return `is ${named(value)}; ${wanted} cannot be read from it`;
  if (Array.isArray(value)) {
    if (typeof key === 'number') return `has ${count(value.length, 'element')}; ${wanted} does not exist`;
    return `is a list: read an element of it with an index such as [0], not ${wanted}`;
  }
  if (typeof key === 'string')
    return `has ${count(Object.keys(value).length, 'member')}; ${wanted} does not exist`;
  return `is an object: read a member of it with a key such as ['${key}'], not ${wanted}`;
}

function named(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

function count(size: number, noun: string): string {
  return `${size} ${noun}${size === 1 ? '' : 's'}`;
}
