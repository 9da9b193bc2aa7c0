/** Canonical JSON, hashes of it, and comparison of JSON values. */
import { createHash } from 'node:crypto';

/** JSON with sorted keys and without undefined members: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isRecord(member) && !rawJson.isRawJSON(member)
      ? Object.fromEntries(Object.entries(member).toSorted(byKey))
      : member,
  );
}

/** The same as Go writes it, which escapes what means something in HTML, and two characters of line ends. */
export function goJson(value: unknown): string {
  return canonicalJson(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// TypeScript's library does not declare it yet: https://tc39.es/proposal-json-parse-with-source/
const rawJson = JSON as unknown as { isRawJSON(value: unknown): boolean };

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** 16 hexadecimal digits that depend on the content, not on the order of its keys. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);
}

/** Whether every member of `desired` is in `actual` with the same value. Lists must have the same length. */
export function includes(actual: unknown, desired: unknown): boolean {
  if (desired === undefined) return true;
  if (Array.isArray(desired)) {
    if (!Array.isArray(actual) || actual.length !== desired.length) return false;
    return desired.every((item, position) => includes(actual[position], item));
  }
  if (isRecord(desired)) {
    return (
      isRecord(actual) && Object.entries(desired).every(([key, member]) => includes(actual[key], member))
    );
  }
  return Object.is(actual, desired);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
