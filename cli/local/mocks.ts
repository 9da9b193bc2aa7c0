/**
 * What the steps of a run without a cluster do: a mock that somebody gave, what they do in a cluster, or
 * nothing. Pure.
 */
import { withoutDisabled } from '../../api/disabled.ts';
import type { Mock } from '../../api/mock.ts';
import { nameOfTool, type AgentTool } from '../../api/step.ts';
import type { WorkflowNode, WorkflowSpec } from '../../api/workflow.ts';
import { needsMock } from '../../nodes/mocks.ts';
import { findSkill } from '../../nodes/register.ts';

/** The output of steps whose effect is not allowed. */
const NOT_DONE = { text_content: 'not done: effects are not allowed', data_content: null };

/**
 * Mocks for every step and tool of the workflows that contacts another system. `given`: each names its
 * workflow; they win. With `allowEffects` the others do what they do in a cluster.
 */
export function mocksFor(
  workflows: ReadonlyMap<string, WorkflowSpec>,
  given: readonly Mock[],
  allowEffects: boolean,
): Mock[] {
  const isGiven = (mock: Mock) =>
    given.some(
      ({ workflow, node, tool }) => workflow === mock.workflow && node === mock.node && tool === mock.tool,
    );
  const instead = allowEffects ? { real: true } : { output: NOT_DONE };
  const others = [...workflows].flatMap(([workflow, spec]) =>
    withoutDisabled(spec)
      .nodes.flatMap(placesIn)
      .map((place): Mock => ({ workflow, ...place, ...instead })),
  );
  return [...given, ...others.filter((mock) => !isGiven(mock))];
}

/** The steps of a workflow that these mocks keep from doing anything. */
export function stepsWithoutEffect(workflow: string, mocks: readonly Mock[]): Set<string> {
  const undone = mocks.filter(
    (mock) => mock.workflow === workflow && mock.tool === undefined && mock.output === NOT_DONE,
  );
  return new Set(undone.map(({ node }) => node));
}

/** The nodes that wait for a callback and have no mock: without a gateway nothing can call them. */
export function openCallbacks(workflow: string, spec: WorkflowSpec, mocks: readonly Mock[]): string[] {
  const { nodes } = withoutDisabled(spec);
  const isMocked = (id: string) => mocks.some((mock) => mock.workflow === workflow && mock.node === id);
  return nodes.filter(({ id, wait }) => wait?.callback && !isMocked(id)).map(({ id }) => id);
}

type EffectPlace = { node: string; tool?: string };

function placesIn({ id, skill, agent }: WorkflowNode): EffectPlace[] {
  if (skill) return needsMock(findSkill(skill.name)) ? [{ node: id }] : [];
  return (agent?.tools ?? []).filter(hasEffect).map((tool) => ({ node: id, tool: nameOfTool(tool) }));
}

function hasEffect({ skill }: AgentTool): boolean {
  return needsMock(findSkill(skill));
}
