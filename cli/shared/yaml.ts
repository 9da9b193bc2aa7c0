/**
 * Writes YAML. Commands load this module when they print YAML: the library takes as long as all the rest of a
 * short command. They do not load the library itself, of which a bundle gives an `import()` no named exports.
 */
import { stringify } from 'yaml';

/** A value as YAML, without folded lines and anchors, and without a line break at its end. */
export const toYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
