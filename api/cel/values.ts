/**
 * Converts between JSON and CEL values. Does not change its input; results are plain JSON of bounded size.
 */
import { Optional } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { ExactNumber, fromBigInt } from '../exact/exactNumber.ts';
import { ExpressionError } from '../expression/errors.ts';
import { OUTPUT_LIMIT } from '../expression/evaluate.ts';

/** Deeper values are refused. The gateway accepts at most 64 levels. */
const DEPTH_LIMIT = 256;

/**
 * A JSON value for cel-js, which detects types by `constructor`: an object with a member of that name becomes
 * a Map, all other values stay unchanged.
 * @throws ExpressionError `Limit` when it is nested too deep
 */
export function toCel(value: unknown): unknown {
  return holdsConstructor(value, 0) ? withMaps(value) : value;
}

function holdsConstructor(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return false;
  if (depth > DEPTH_LIMIT) throw tooDeep();
  let found = Object.hasOwn(value, 'constructor');
  // Visits every member, so that the depth limit applies whether or not there is such a member.
  for (const member of Object.values(value)) found = holdsConstructor(member, depth + 1) || found;
  return found;
}

function withMaps(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (Array.isArray(value)) return value.map(withMaps);
  const members = Object.entries(value).map(([key, member]) => [key, withMaps(member)] as const);
  return Object.hasOwn(value, 'constructor') ? new Map(members) : Object.fromEntries(members);
}

/**
 * A CEL value as JSON: ints as numbers (beyond 2^53 exact ones), timestamps and durations as strings (RFC
 * 3339, `3600s`).
 * @throws ExpressionError `Type` for a value that JSON cannot represent, `Limit` for one that is too large or
 *   too deep
 */
export function fromCel(value: unknown): unknown {
  return toJson(value, { room: OUTPUT_LIMIT }, 0);
}

type Room = { room: number };

function toJson(value: unknown, size: Room, depth: number): unknown {
  const scalar = toScalar(value);
  size.room -= 2 + lengthOf(scalar);
  if (size.room < 0)
    throw new ExpressionError('Limit', `the result is larger than ${OUTPUT_LIMIT} characters of JSON`);
  if (scalar !== undefined) return scalar;
  if (typeof value !== 'object' || value === null) throw notJson();
  if (depth > DEPTH_LIMIT) throw tooDeep();
  if (Array.isArray(value)) return value.map((item) => toJson(item, size, depth + 1));
  const entries: (readonly [unknown, unknown])[] = [
    ...(value instanceof Map ? value : Object.entries(value)),
  ];
  return Object.fromEntries(
    entries.map(([key, member]) => [toKey(key, size), toJson(member, size, depth + 1)]),
  );
}

function lengthOf(scalar: unknown): number {
  if (scalar instanceof ExactNumber) return scalar.text.length;
  return typeof scalar === 'string' ? scalar.length : 0;
}

function toKey(key: unknown, size: Room): string {
  const text = String(key);
  size.room -= text.length;
  return text;
}

/** The scalar in JSON; undefined for a list or an object. */
function toScalar(value: unknown): string | number | boolean | ExactNumber | null | undefined {
  if (value instanceof ExactNumber) return value;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'bigint') return fromBigInt(value);
  if (value instanceof UnsignedInt) return fromBigInt(value.value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Duration) return value.toString();
  if (Array.isArray(value) || value instanceof Map || isPlain(value)) return undefined;
  if (value instanceof Optional)
    throw new ExpressionError(
      'Type',
      'the result is optional: end it with .orValue(…), which gives a default',
    );
  throw notJson();
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function notJson(): ExpressionError {
  return new ExpressionError(
    'Type',
    'the result is not a JSON value: it is a type, bytes or a number that is not finite',
  );
}

function tooDeep(): ExpressionError {
  return new ExpressionError('Limit', `values must be nested at most ${DEPTH_LIMIT} levels deep`);
}
