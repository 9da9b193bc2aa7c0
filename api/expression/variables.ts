/**
 * Variables of a project: the keys of a ConfigMap, which expressions read as `$vars.<name>`. Values are
 * strings; those of keys that end in `.json` are parsed.
 */

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
