/**
 * Serializes YAML that YAML 1.1 readers understand alike: kubectl and Helm read a bare `n` or `on` as a
 * boolean.
 */
import { stringify } from 'yaml';

/** Long lines are not folded. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}
