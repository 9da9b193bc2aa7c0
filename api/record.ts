/** Narrows unknown values to objects with members. */

/** Whether the value is an object, but not null or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a value; none if it is not an object. */
export function membersOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
