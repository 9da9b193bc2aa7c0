/** Values as YAML that means the same to every reader: kubectl and Helm take a bare `n` or `on` for a truth value, as YAML 1.1 did. */
import { stringify } from 'yaml';

/** The value as YAML, its lines as long as they are. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}
