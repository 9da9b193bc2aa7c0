/**
 * Tools that an agent of a failed run has called. A run that resumes it begins the conversation again, so
 * that the model may call them once more. Pure.
 */
import type { Revision, RevisionStep } from '../api/revision.ts';
import { nameOfTool } from '../api/step.ts';
import type { NodeState } from './types/node.ts';

/** Whether the effect of the step, or of one of its tools, must not be repeated. */
export type IsAtMostOnce = (step: RevisionStep, tool?: string) => boolean;

/** Whether a tool that the agent may call has an effect that must not be repeated. */
export function hasToolOnce(step: RevisionStep, isAtMostOnce: IsAtMostOnce): boolean {
  return toolsOnce(step, isAtMostOnce).length > 0;
}

/**
 * Why the agent must not be executed again: it has called a tool whose effect must not be repeated, or
 * nothing shows that it has not. Undefined for other steps. `isRecorded`: the node comes from the record of
 * the run, which may lack the transcript.
 */
export function refuseCalledTools(
  { step, node, isRecorded }: { step: RevisionStep; node: NodeState; isRecorded: boolean },
  { revision, isAtMostOnce }: { revision: Revision; isAtMostOnce: IsAtMostOnce },
): string | undefined {
  const names = toolsOnce(step, isAtMostOnce);
  const { transcript, agent } = node;
  if (names.length === 0) return undefined;
  const called = transcript?.entries.find(
    ({ tool = '', isError, endedAt }) => names.includes(tool) && !isError && endedAt !== undefined,
  )?.tool;
  if (called !== undefined) return `it has called the tool ${called}`;
  const isMissing = (agent?.toolCalls ?? 0) > 0 || (isRecorded && isWithheld(step.id, revision));
  const isCut = transcript ? transcript.omitted > 0 : isMissing;
  return isCut ? `its record does not show whether it has called ${names.join(' or ')}` : undefined;
}

function toolsOnce(step: RevisionStep, isAtMostOnce: IsAtMostOnce): string[] {
  if (step.kind !== 'agent') return [];
  const names = (step.agent.tools ?? []).map(nameOfTool);
  return names.filter((name) => isAtMostOnce(step, name));
}

function isWithheld(id: string, { recordData, sensitive = [] }: Revision): boolean {
  return recordData === 'None' || sensitive.includes(id);
}
