/** Reading of untrusted JSON: own members alone, and never an exception. */

export type Json = Record<string, unknown>;

/** The value if it is an object that is no list, else an empty object. */
export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** The value if it is a list, else an empty list. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a text; a number or boolean as text; else the default. */
export function textOf(value: unknown, otherwise = ''): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;
}

/** The value if it is a finite number, or a text that is one. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The own member at a path such as `options.response`; undefined where there is none. */
export function memberOf(value: unknown, path: string): unknown {
  let at: unknown = value;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Json)[name];
  }
  return at;
}

/** Whether the value is an object or list with a member or element. */
export function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
