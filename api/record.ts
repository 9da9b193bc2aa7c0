/** Narrows unknown values to objects with members. */

import { ExactNumber } from './exact/exactNumber.ts';

/** Whether the value is an object with members: not null, an array, or an exact number. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

/** The members of a value; none if it is not an object. */
export function membersOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
