/** Which credentials a workflow names, and of which kind each must be. */
import type { CredentialKind } from '../../api/credential.ts';
import { kindOf, type WorkflowNode, type WorkflowSpec } from '../../api/workflow.ts';
import { pollsWith } from '../../nodes/pollers.ts';
import { findSkill } from '../../nodes/register.ts';
import { scopesOf, type Scopes } from '../../nodes/scopes.ts';

export type CredentialRef = {
  /** The node that names it. */
  node: string;
  name: string;
  /** The kinds that the node can use; empty where that is not known. */
  kinds: readonly CredentialKind[];
  /** Which rights of an account the node needs; left out where nothing is known. */
  scopes?: Scopes;
};

/** Every credential that the nodes of a workflow name. */
export function credentialRefs(spec: WorkflowSpec): CredentialRef[] {
  return spec.nodes.flatMap((node) => {
    const fields = node[kindOf(node)] ?? {};
    const name = 'credential' in fields ? fields.credential : undefined;
    if (name === undefined) return [];
    const scopes = scopesOf(node);
    return [{ node: node.id, name, kinds: kindsFor(node), ...(scopes && { scopes }) }];
  });
}

function kindsFor(node: WorkflowNode): readonly CredentialKind[] {
  if (node.agent) return ['openai'];
  if (node.bot) return ['bot'];
  if (node.skill) return findSkill(node.skill.name)?.credentials ?? [];
  return pollsWith(kindOf(node));
}
