/** The fields of a node that name a credential. Pure. */
import { membersOf } from '../../../api/record.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';

type CredentialField = { field: string; name: string };

/**
 * That of its kind first, then those of the tools and other models of an agent. Nodes of a draft may lack a
 * kind, or have members of any type.
 */
export function credentialFields(node: WorkflowNode): CredentialField[] {
  const { tools, fallback } = membersOf(node.agent);
  return [
    ...Object.entries(node).flatMap(([kind, fields]) => fieldIn(kind, fields)),
    ...fieldsIn('agent.tools', tools),
    ...fieldsIn('agent.fallback', fallback),
  ];
}

function fieldsIn(path: string, list: unknown): CredentialField[] {
  return Array.isArray(list) ? list.flatMap((each, index) => fieldIn(`${path}[${index}]`, each)) : [];
}

function fieldIn(path: string, fields: unknown): CredentialField[] {
  const { credential } = membersOf(fields);
  return typeof credential === 'string' ? [{ field: `${path}.credential`, name: credential }] : [];
}
