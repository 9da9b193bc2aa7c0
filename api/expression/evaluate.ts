/**
 * Puts values in the place of references. Guarantees: throws nothing but `ExpressionError`; reads own properties of
 * plain objects and elements of lists, nothing else; what a reference yields is never parsed again; no result is larger
 * than `OUTPUT_LIMIT`. Values are not copied: what comes back may share parts with the scope and is read-only.
 */
import { ExpressionError, MissingValueError } from './errors.ts';
import { type PathStep, printPath, printReference, type Reference } from './reference.ts';
import type { CompiledValue } from './template.ts';

/** What a node left behind, as references see it. */
export type NodeOutput = { text_content: string; data_content: unknown; error?: unknown; headers?: unknown };

/** What references can see. `node` gives `undefined` for a node that was skipped or did not run. */
export type Scope = { node: (id: string) => NodeOutput | undefined; item?: unknown; index?: number };

/** The largest result, counted as JSON in UTF-16 units: 512 Ki. */
export const OUTPUT_LIMIT = 524_288;

/** Deeper values cannot be written as JSON safely; what comes in through the gateway is at most 64 deep. */
const DEPTH_LIMIT = 256;

/**
 * The value with every reference replaced.
 * @throws MissingValueError when something is not there; ExpressionError `Limit` when the result is too large
 */
export function evaluate(compiled: CompiledValue, scope: Scope): unknown {
  return evaluatePart(compiled, { scope, room: OUTPUT_LIMIT });
}

/** The value of one reference, with its type. @throws MissingValueError */
export function resolve(reference: Reference, scope: Scope): unknown {
  let value = resolveRoot(reference, scope);
  if (reference.source === 'index') return value;
  let depth = 0;
  for (const key of reference.path) {
    const next = step(value, key);
    if (next === undefined) throw missingStep(reference, depth, key, value);
    value = next;
    depth += 1;
  }
  return value;
}

/** A value as text: texts as they are, everything else as JSON (`null` is "null"). */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}

type Evaluation = { readonly scope: Scope; room: number };

function evaluatePart(compiled: CompiledValue, evaluation: Evaluation): unknown {
  if (compiled.kind === 'literal') return compiled.value;
  if (compiled.kind === 'reference') return evaluateReference(compiled.reference, evaluation);
  if (compiled.kind === 'text') return evaluateText(compiled.parts, evaluation);
  if (compiled.kind === 'list') return compiled.items.map((item) => evaluatePart(item, evaluation));
  return Object.fromEntries(compiled.entries.map(([key, value]) => [key, evaluatePart(value, evaluation)]));
}

function evaluateReference(reference: Reference, evaluation: Evaluation): unknown {
  const value = resolve(reference, evaluation.scope);
  spend(evaluation, sizeOf(value, evaluation.room), reference);
  return value;
}

function evaluateText(parts: readonly (string | Reference)[], evaluation: Evaluation): string {
  let text = '';
  for (const part of parts) {
    const piece = typeof part === 'string' ? part : referenceText(part, evaluation);
    spend(evaluation, piece.length, part);
    text += piece;
  }
  return text;
}

/** Measured before it is written, because what is too large or too deep must not be written at all. */
function referenceText(reference: Reference, evaluation: Evaluation): string {
  const value = resolve(reference, evaluation.scope);
  if (typeof value === 'string') return value;
  if (sizeOf(value, evaluation.room) > evaluation.room) throw tooLarge(reference);
  return toText(value);
}

function spend(evaluation: Evaluation, size: number, part: string | Reference): void {
  evaluation.room -= size;
  if (evaluation.room < 0) throw tooLarge(part);
}

function tooLarge(part: string | Reference): ExpressionError {
  const cause = typeof part === 'string' ? 'this text' : printReference(part);
  return new ExpressionError(
    'Limit',
    `with ${cause} the value is larger than ${OUTPUT_LIMIT} characters of JSON`,
  );
}

/** At least half of the length of the value as JSON; stops counting once it is beyond `room`. */
function sizeOf(value: unknown, room: number, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  if (depth > DEPTH_LIMIT) throw new ExpressionError('Limit', `values may be nested ${DEPTH_LIMIT} deep`);
  let size = 2;
  for (const [key, member] of Object.entries(value)) {
    if (size > room) return size;
    size += (Array.isArray(value) ? 1 : key.length + 4) + sizeOf(member, room - size, depth + 1);
  }
  return size;
}

function resolveRoot(reference: Reference, scope: Scope): unknown {
  if (reference.source === 'node') return resolveMember(reference, scope);
  const value = reference.source === 'item' ? scope.item : scope.index;
  if (value !== undefined) return value;
  const name = `$${reference.source}`;
  throw new MissingValueError(printReference(reference), `${name} exists only inside a node with forEach`);
}

function resolveMember(reference: Reference & { source: 'node' }, scope: Scope): unknown {
  const output = scope.node(reference.node);
  const written = printReference(reference);
  if (!output) throw new MissingValueError(written, `${written}: the node '${reference.node}' did not run`);
  const value = output[reference.member];
  if (value !== undefined) return value;
  throw new MissingValueError(written, `${written}: ${WHY_ABSENT[reference.member]}`);
}

const WHY_ABSENT = {
  text_content: 'the node produced no text_content',
  data_content: 'the node produced no data_content',
  error: 'the node did not fail, so there is no error',
  headers: 'there are no headers; only a webhook that admits some has them',
} as const;

/** One step down, or `undefined`. Indexes are for lists and keys for objects; nothing inherited is ever seen. */
export function step(value: unknown, key: PathStep): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value))
    return typeof key === 'number' && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof key === 'string' && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

type PathReference = Exclude<Reference, { source: 'index' }>;

function missingStep(
  reference: PathReference,
  depth: number,
  key: PathStep,
  deepest: unknown,
): MissingValueError {
  const there = printReference({ ...reference, path: reference.path.slice(0, depth) });
  return new MissingValueError(printReference(reference), `${there} ${describeMissing(deepest, key)}`);
}

/** Says what is there instead, by type and size, never by content: `is a list of 2; [5] does not exist`. */
export function describeMissing(value: unknown, key: PathStep): string {
  const wanted = typeof key === 'number' ? `[${key}]` : printPath([key]);
  if (Array.isArray(value)) {
    if (typeof key === 'string')
      return `is a list: read an element of it with an index such as [0], not ${wanted}`;
    return `has ${count(value.length, 'element')}; ${wanted} does not exist`;
  }
  if (typeof value !== 'object' || value === null)
    return `is ${named(value)}; ${wanted} cannot be read from it`;
  if (typeof key === 'number')
    return `is an object: read a member of it with a key such as ['${key}'], not ${wanted}`;
  return `has ${count(Object.keys(value).length, 'member')}; ${wanted} does not exist`;
}

function named(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

function count(size: number, noun: string): string {
  return `${size} ${noun}${size === 1 ? '' : 's'}`;
}
