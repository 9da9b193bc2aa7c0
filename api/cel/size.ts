/** Sizes and members of CEL values. Reads own properties only. */

import { ExactNumber } from '../exact/exactNumber.ts';

const CHARACTERS_PER_STEP = 32;

/** The price of reading a value once, without its members. */
export function width(value: unknown): number {
  if (typeof value === 'string') return value.length / CHARACTERS_PER_STEP;
  if (value instanceof ExactNumber) return value.text.length / CHARACTERS_PER_STEP;
  return isCollection(value) ? elementCount(value) : 0;
}

export function elementCount(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (value instanceof Map) return value.size;
  if (value instanceof Uint8Array) return value.length / CHARACTERS_PER_STEP;
  return isCollection(value) ? Object.keys(value).length : 0;
}

export function isCollection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** The number of values in a value; stops counting above `room`. */
export function deepSize(value: unknown, room: number): number {
  if (!isCollection(value) || value instanceof Uint8Array) return 1 + width(value);
  const members: Iterable<unknown> =
    Array.isArray(value) || value instanceof Map ? value.values() : Object.values(value);
  let size = 1;
  for (const member of members) {
    if (size > room) return size;
    size += deepSize(member, room - size);
  }
  return size;
}

/** The entries of a list (index and element) or of an object (key and value); undefined for other values. */
export function entriesOf(value: unknown): [unknown, unknown][] | undefined {
  if (Array.isArray(value)) return value.map((item: unknown, index) => [BigInt(index), item]);
  if (value instanceof Map) return [...value];
  if (!isCollection(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value) : undefined;
}

/**
 * The object with these members. A Map if a member would hide the constructor, by which cel-js detects types.
 */
export function toObject(members: ReadonlyMap<string, unknown>): unknown {
  return members.has('constructor') ? members : Object.fromEntries(members);
}
