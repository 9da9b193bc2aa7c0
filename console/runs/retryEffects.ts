/** The nodes of a workflow whose effects a retry may repeat. Pure. */
import { MAX_DEPTH } from '../../api/scopes.ts';
import type { WorkflowNode, WorkflowSpec } from '../../api/workflow.ts';
import { edgesOf, nodesAfter } from '../editor/model/graph.ts';

type RetryEffects = {
  /** IDs of nodes that change something elsewhere, or ask a model. */
  repeated: string[];
  /** Those of them whose effect must not be repeated. */
  once: string[];
};

/** The effect of a skill: `None`, `AtLeastOnce` or `AtMostOnce`. */
type EffectOfSkill = (name: string) => string | undefined;

/**
 * The effects of a retry from the failed node, or from the start where `failed` is left out. A node in groups
 * is executed again with the outermost of them.
 */
export function retryEffects(
  spec: Pick<WorkflowSpec, 'nodes' | 'edges'>,
  effectOfSkill: EffectOfSkill,
  failed?: string,
): RetryEffects {
  const begin = failed === undefined ? undefined : outermost(spec.nodes, failed);
  const after = begin === undefined ? undefined : nodesAfter(edgesOf(spec), begin).add(begin);
  const nodes = spec.nodes.filter(({ id }) => after?.has(outermost(spec.nodes, id)) ?? true);
  const repeated = nodes.filter((node) => hasEffect(node, effectOfSkill));
  const once = repeated.filter((node) => isOnce(node, effectOfSkill));
  return { repeated: repeated.map(({ id }) => id), once: once.map(({ id }) => id) };
}

function outermost(nodes: readonly WorkflowNode[], id: string, most = MAX_DEPTH): string {
  const { within } = nodes.find((node) => node.id === id) ?? {};
  return within === undefined || most === 0 ? id : outermost(nodes, within, most - 1);
}

function hasEffect({ skill, agent, workflow }: WorkflowNode, effectOfSkill: EffectOfSkill): boolean {
  if (skill !== undefined) return effectOfSkill(skill.name) !== 'None';
  return agent !== undefined || workflow !== undefined;
}

function isOnce({ effect, skill, agent }: WorkflowNode, effectOfSkill: EffectOfSkill): boolean {
  const tools = (agent?.tools ?? []).map((tool) => tool.effect ?? effectOfSkill(tool.skill ?? ''));
  return [effect ?? effectOfSkill(skill?.name ?? ''), ...tools].includes('AtMostOnce');
}
