/** What a reference without a value found: type, size and keys of its deepest part that exists. */
import { ExactNumber } from '../exact/exactNumber.ts';
import type { Reference } from './reference.ts';

export const FOUND_TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const;

/** Keys that are listed, and the longest of them in characters. */
export const MOST_KEYS = 20;
export const LONGEST_KEY = 64;
export const LONGEST_REFERENCE = 1_024;

/**
 * `reference`: the reference without a value, and `at` its deepest part that exists, as they are written.
 * `size`: of an object or array. Keys are data of the workflow: messages never have them.
 */
export type Found = {
  reference: string;
  at: string;
  type: (typeof FOUND_TYPES)[number];
  size?: number;
  keys?: string[];
};

/** What was found, and the reference, which says from which node it is. */
export type FoundBy = { found: Found; source: Reference };

export function foundAt(value: unknown, written: { reference: string; at: string }): Found {
  const names = { reference: cut(written.reference), at: cut(written.at) };
  return { ...names, ...shapeOf(value) };
}

function shapeOf(value: unknown): Pick<Found, 'type' | 'size' | 'keys'> {
  if (value === null || value === undefined) return { type: 'null' };
  if (value instanceof ExactNumber) return { type: 'number' };
  if (Array.isArray(value)) return { type: 'array', size: value.length };
  if (typeof value === 'string' || typeof value === 'boolean') return { type: typeof value as 'string' };
  if (typeof value !== 'object') return { type: 'number' };
  const keys = Object.keys(value);
  const shown = keys.slice(0, MOST_KEYS).map((key) => key.slice(0, LONGEST_KEY).toWellFormed());
  return { type: 'object', size: keys.length, keys: shown };
}

function cut(text: string): string {
  return text.slice(0, LONGEST_REFERENCE).toWellFormed();
}

/** The keys of the object that was found, in a sentence; undefined for every other value. */
export function foundText({ at, type, size = 0, keys = [] }: Found): string | undefined {
  if (type !== 'object' || keys.length === 0) return undefined;
  const rest = size - keys.length;
  return `${at} has: ${keys.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`;
}
