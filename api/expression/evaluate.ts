/**
 * Replaces references with their values. Guarantees: throws only `ExpressionError`; reads only own properties
 * of plain objects and elements of lists; never parses the value of a reference; no result is larger than
 * `OUTPUT_LIMIT`. Values are not copied: the result may share parts with the scope and is read-only.
 */
import { ExactNumber } from '../exact/exactNumber.ts';
import { ExpressionError } from './errors.ts';
import { printReference, type Reference } from './reference.ts';
import { lookUp, missingValue, type Scope } from './scope.ts';
import type { CompiledValue } from './template.ts';

/** The largest result, counted as JSON in UTF-16 units: 512 Ki. */
export const OUTPUT_LIMIT = 524_288;

/** Deeper values cannot be written as JSON safely. The gateway accepts at most 64 levels. */
const DEPTH_LIMIT = 256;

/**
 * The value with every reference replaced.
 * @throws MissingValueError for a value that does not exist; ExpressionError `Limit` for a result that is too
 *   large
 */
export function evaluate(compiled: CompiledValue, scope: Scope): unknown {
  return evaluatePart(compiled, { scope, room: OUTPUT_LIMIT });
}

/**
 * The value of one reference, with its type, or its default if the value is null or does not exist.
 * @throws MissingValueError without a default
 */
export function resolve(reference: Reference, scope: Scope): unknown {
  const value = lookUp(reference, scope);
  if (reference.default !== undefined) return value ?? reference.default;
  if (value === undefined) throw missingValue(reference, scope);
  return value;
}

/** A value as text: strings unchanged, all other values as JSON (`null` is "null"). */
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

/** Measures a value before it is written: a value that is too large or too deep must not be written. */
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
    `${cause} makes the value larger than ${OUTPUT_LIMIT} characters of JSON`,
  );
}

/** At least half of the length of the value as JSON; stops counting above `room`. */
function sizeOf(value: unknown, room: number, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (value instanceof ExactNumber) return value.text.length;
  if (!isCollection(value)) return 4;
  if (depth > DEPTH_LIMIT)
    throw new ExpressionError('Limit', `values must be nested at most ${DEPTH_LIMIT} levels deep`);
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (size > room) return size;
      size += 1 + sizeOf(item, room - size, depth + 1);
    }
    return size;
  }
  for (const key in value) {
    if (size > room) return size;
    size += key.length + 4 + sizeOf(value[key], room - size, depth + 1);
  }
  return size;
}

function isCollection(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
