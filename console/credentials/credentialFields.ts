/** The fields of a node that name a credential, and the credentials. Pure. */
import { membersOf } from '../../api/record.ts';

/** `field`: its path in the node, such as `agent.tools[0].credential`. `name`: the credential. */
type CredentialField = { field: string; name: string };

/**
 * The field of the node's kind first, then those of the tools and other models of an agent. `node` may have
 * any value: a draft need not be valid.
 */
export function credentialFields(node: unknown): CredentialField[] {
  const members = membersOf(node);
  const { tools, fallback } = membersOf(members['agent']);
  return [
    ...Object.entries(members).flatMap(([kind, fields]) => fieldIn(kind, fields)),
    ...fieldsIn('agent.tools', tools),
    ...fieldsIn('agent.fallback', fallback),
  ];
}

/** The names of the credentials that the node uses, each once. */
export function credentialsOf(node: unknown): string[] {
  return [...new Set(credentialFields(node).map(({ name }) => name))];
}

function fieldsIn(path: string, list: unknown): CredentialField[] {
  return Array.isArray(list) ? list.flatMap((each, index) => fieldIn(`${path}[${index}]`, each)) : [];
}

function fieldIn(path: string, fields: unknown): CredentialField[] {
  const { credential } = membersOf(fields);
  return typeof credential === 'string' ? [{ field: `${path}.credential`, name: credential }] : [];
}
