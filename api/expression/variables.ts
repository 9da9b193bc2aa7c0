/**
 * Variables of a project: the keys of a ConfigMap, which expressions read as `$vars.<name>`. Values are
 * strings; those of keys that end in `.json` are parsed.
 */

import { parseJson } from '../json.ts';

/** The name of the ConfigMap. */
export const VARIABLES_NAME = 'windlass-variables';

/** The most bytes of all keys and values. */
export const VARIABLES_BYTES = 65_536;

export type Variables = {
  values: Readonly<Record<string, unknown>>;
  /** The keys that end in `.json`, and whose values are not JSON: they have no value. */
  invalid: readonly string[];
  /** The ConfigMap is larger than `VARIABLES_BYTES`: no key of it has a value. */
  isTooLarge?: true;
};

export const NO_VARIABLES: Variables = { values: {}, invalid: [] };

/** The variables in the data of a ConfigMap. */
export function variablesIn(data: Readonly<Record<string, string>> = {}): Variables {
  const entries = Object.entries(data);
  const bytes = new TextEncoder().encode(entries.flat().join('')).length;
  if (bytes > VARIABLES_BYTES) return { ...NO_VARIABLES, isTooLarge: true };
  const parsed = entries.map(([key, text]) => [key, valueOf(key, text)] as const);
  return {
    values: Object.fromEntries(parsed.filter(([, value]) => value !== undefined)),
    invalid: parsed.flatMap(([key, value]) => (value === undefined ? [key] : [])),
  };
}

/** Undefined for a value that should be JSON and is not. */
function valueOf(key: string, text: string): unknown {
  if (!key.endsWith('.json')) return text;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}
