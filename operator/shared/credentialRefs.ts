/** The credentials that a workflow names, and the kinds that its nodes accept. */
import type { CredentialKind } from '../../api/credential.ts';
import { withoutDisabled } from '../../api/disabled.ts';
import { constantEntry } from '../../api/hosts.ts';
import type { Revision } from '../../api/revision.ts';
import type { AgentTool } from '../../api/step.ts';
import { kindOf, type WorkflowNode, type WorkflowSpec } from '../../api/workflow.ts';
import { pollsWith } from '../../nodes/pollers.ts';
import { credentialsFor } from '../../nodes/providers/register.ts';
import { findSkill } from '../../nodes/register.ts';
import { scopesOf, scopesOfTool, type Scopes } from '../../nodes/scopes.ts';

export type CredentialRef = {
  /** The node that names it. */
  node: string;
  name: string;
  /** The kinds that the node accepts; empty if unknown. */
  kinds: readonly CredentialKind[];
  /** The scopes that the node needs; left out if unknown. */
  scopes?: Scopes;
  /** The entry of `allowedHosts` that admits the node's URL; left out where its host is not constant. */
  hostEntry?: string;
};

/** The spec of a workflow, or of a draft, which is neither active nor suspended. */
type AnySpec = Partial<WorkflowSpec> & Pick<WorkflowSpec, 'nodes'>;

/** By the nodes, which nothing mutates: each change of a project asks for those of all its workflows. */
const refsOf = new WeakMap<readonly WorkflowNode[], readonly CredentialRef[]>();

/** Every credential that runs of a workflow need: those that its nodes name, without disabled steps. */
export function credentialRefs(spec: AnySpec): readonly CredentialRef[] {
  const known = refsOf.get(spec.nodes);
  if (known) return known;
  const refs = namedCredentials(withoutDisabled(spec));
  refsOf.set(spec.nodes, refs);
  return refs;
}

/** Every credential that the nodes of a workflow name, also disabled steps. */
export function namedCredentials(spec: AnySpec): CredentialRef[] {
  return spec.nodes.flatMap((node) => {
    const fields = node[kindOf(node)] ?? {};
    const name = 'credential' in fields ? fields.credential : undefined;
    if (name === undefined) return [];
    const ofTools = (node.agent?.tools ?? []).flatMap((tool) => refOfTool(node.id, tool));
    const ofFallback = (node.agent?.fallback ?? []).map(({ credential }) => {
      return { node: node.id, name: credential, kinds: kindsFor(node) };
    });
    const scopes = scopesOf(node);
    const hostEntry = constantEntry(node.skill?.parameters?.['url']);
    return [
      {
        node: node.id,
        name,
        kinds: kindsFor(node),
        ...(scopes && { scopes }),
        ...(hostEntry && { hostEntry }),
      },
      ...ofFallback,
      ...ofTools,
    ];
  });
}

function refOfTool(node: string, tool: AgentTool): CredentialRef[] {
  if (tool.credential === undefined) return [];
  const scopes = scopesOfTool(tool);
  const hostEntry = constantEntry(tool.parameters?.['url']);
  return [
    {
      node,
      name: tool.credential,
      kinds: findSkill(tool.skill)?.credentials ?? [],
      ...(scopes && { scopes }),
      ...(hostEntry && { hostEntry }),
    },
  ];
}

function kindsFor(node: WorkflowNode): readonly CredentialKind[] {
  if (node.agent) return credentialsFor('model');
  if (node.bot) return ['bot'];
  if (node.skill) return findSkill(node.skill.name)?.credentials ?? [];
  return pollsWith(kindOf(node));
}

/** The data of a cached revision. */
export type RevisionCredentials = { credentials: string[] };

/** The credentials that the steps of a revision name. */
export function credentialsOfRevision(data: unknown): RevisionCredentials {
  const { steps = [] } = (data ?? {}) as Partial<Revision>;
  const names = steps.flatMap((step) => {
    if (step.kind === 'skill') return [step.skill.credential];
    if (step.kind !== 'agent') return [];
    const { agent } = step;
    return [agent, ...(agent.fallback ?? []), ...(agent.tools ?? [])].map(({ credential }) => credential);
  });
  return { credentials: [...new Set(names.filter((name) => name !== undefined))] };
}
