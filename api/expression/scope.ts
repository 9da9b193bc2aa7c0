/**
 * Looks up the values of references, and explains why a value does not exist. Reads only own properties of
 * objects and elements of lists: no inherited member, no length, no method.
 */
import { ExactNumber } from '../exact/exactNumber.ts';
import { VARIABLES_NAME } from './variables.ts';
import { MissingValueError } from './errors.ts';
import { foundAt } from './found.ts';
import { type PathStep, printReference, printStep, type Reference } from './reference.ts';

/** The output of a node as references read it. `error` exists if the node failed and the run continued. */
export type NodeOutput = {
  text_content: string;
  data_content: unknown;
  error?: unknown;
  headers?: unknown;
  item?: unknown;
  index?: unknown;
};

/**
 * The members of `$run`. `accepted` and `localTime` are the same time (RFC 3339), in UTC and in the time zone
 * of the workflow.
 */
type RunContext = {
  id: string;
  workflow: string;
  project: string;
  accepted: string;
  localTime: string;
  timeZone: string;
  test: boolean;
};

/**
 * `node` returns undefined for a node that was skipped or did not run, and only `error` for one that failed.
 * `previous` is the ID of the node before, if there is exactly one. `item` and `index` exist in a node with
 * forEach. `url` is the URL of a callback; undefined if there is none.
 */
export type Scope = {
  node: (id: string) => Partial<NodeOutput> | undefined;
  previous?: string | undefined;
  run?: RunContext | undefined;
  vars?: Readonly<Record<string, unknown>> | undefined;
  item?: unknown;
  index?: number | undefined;
  url?: ((node: string) => string | undefined) | undefined;
};

/** The scope with other members. A spread would lose those of a scope that is an instance of a class. */
export function withMembers(scope: Scope, members: Partial<Scope>): Scope {
  return {
    node: (id) => scope.node(id),
    previous: scope.previous,
    run: scope.run,
    vars: scope.vars,
    item: scope.item,
    index: scope.index,
    url: (node) => scope.url?.(node),
    ...members,
  };
}

/** The text of a reference in a message. */
export type Printer = (reference: Reference) => string;

/** The value of a reference; undefined if it does not exist. */
export function lookUp(reference: Reference, scope: Scope): unknown {
  if (reference.source === 'index') return scope.index;
  if (reference.source === 'url') return scope.url?.(reference.node);
  let value = rootOf(reference, scope);
  for (const key of reference.path) value = step(value, key);
  return value;
}

type PathReference = Exclude<Reference, { source: 'index' | 'url' }>;

function rootOf(reference: PathReference, scope: Scope): unknown {
  switch (reference.source) {
    case 'node':
      return scope.node(reference.node)?.[reference.member];
    case 'previous':
      return scope.previous === undefined ? undefined : scope.node(scope.previous)?.[reference.member];
    case 'vars':
      return scope.vars ?? {};
    case 'item':
    case 'run':
      return scope[reference.source];
  }
}

function step(value: unknown, key: PathStep): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return undefined;
  const fits = typeof key === (Array.isArray(value) ? 'number' : 'string');
  return fits && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** The error of a reference whose value does not exist. It names the deepest part that exists. */
export function missingValue(
  reference: Reference,
  scope: Scope,
  print: Printer = printReference,
): MissingValueError {
  const written = print(reference);
  if (reference.source === 'index') return new MissingValueError(written, outsideForEach(written));
  if (reference.source === 'url')
    return new MissingValueError(
      written,
      `${written} has no value: there is no such callback here, or the operator has not stored the keys of callbacks yet`,
    );
  const root = { ...reference, path: [] };
  if (reference.source === 'vars' && step(scope.vars, reference.path[0] ?? '') === undefined)
    return new MissingValueError(written, missingVariable(String(reference.path[0])), {
      found: foundAt(scope.vars ?? {}, { reference: written, at: print(root) }),
      source: reference,
    });
  let there = rootOf(reference, scope);
  if (there === undefined) return new MissingValueError(written, whyNoRoot(root, scope, print));
  for (const [depth, key] of reference.path.entries()) {
    const next = step(there, key);
    const found = print({ ...reference, path: reference.path.slice(0, depth) });
    if (next === undefined)
      return new MissingValueError(written, `${found} ${describeMissing(there, key)}`, {
        found: foundAt(there, { reference: written, at: found }),
        source: reference,
      });
    there = next;
  }
  return new MissingValueError(written, `${written} does not exist`);
}

function whyNoRoot(root: PathReference, scope: Scope, print: Printer): string {
  const written = print(root);
  if (root.source === 'item') return outsideForEach(written);
  if (!('member' in root)) return `${written} has no value here`;
  const id = root.source === 'node' ? root.node : scope.previous;
  if (id === undefined) return `${written} has no value: several nodes come before, or none`;
  const ran = scope.node(id) !== undefined;
  return `${written}: ${ran ? WHY_ABSENT[root.member] : `the node '${id}' did not run`}`;
}

/** Why a variable has no value, and what to do. */
function missingVariable(name: string): string {
  return `the project has no variable '${name}': add the key to the ConfigMap ${VARIABLES_NAME}`;
}

function outsideForEach(written: string): string {
  return `${written} exists only inside a node with forEach`;
}

const WHY_ABSENT = {
  text_content: 'the node failed and produced no text_content',
  data_content: 'the node failed and produced no data_content',
  error: 'the node did not fail, so there is no error',
  headers: 'there are no headers: list them in headers of the webhook',
  item: 'it exists only inside a group with forEach',
  index: 'it exists only inside a group with forEach',
} as const;

/**
 * Describes the existing value by type and size, never by content: `has no element [5]: it has 2 elements`.
 */
function describeMissing(value: unknown, key: PathStep): string {
  const wanted = printStep(key);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return `is ${named(value)} and has no ${wanted}`;
  if (Array.isArray(value)) {
    if (typeof key === 'number') return `has no element ${wanted}: it has ${count(value.length, 'element')}`;
    return `is a list: use an index such as [0], not ${wanted}`;
  }
  if (typeof key === 'string')
    return `has no member ${wanted}: it has ${count(Object.keys(value).length, 'member')}`;
  return `is an object: use a key such as ['${key}'], not ${wanted}`;
}

function named(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof ExactNumber) return 'a number';
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
}

function count(size: number, noun: string): string {
  return `${size} ${noun}${size === 1 ? '' : 's'}`;
}
