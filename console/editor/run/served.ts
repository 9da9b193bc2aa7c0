/** Waits until a test run executes the published version: every gateway replica serves that revision. */
import { WORKFLOWS, type WorkflowObject } from '../../kube/resources.ts';
import { ApiFailure } from '../../http/failure.ts';
import { getObject } from '../../kube/objects.ts';

export type Served = { kind: 'served' } | { kind: 'waits' | 'refused'; why: string };

/** Whether the generation is served, by the status. */
export function servedState({ status }: Pick<WorkflowObject, 'status'>, generation: number): Served {
  const { observedGeneration = 0, conditions = [] } = status ?? {};
  const routed = conditions.find(({ type }) => type === 'Routed');
  if (routed === undefined || Math.min(observedGeneration, routed.observedGeneration ?? 0) < generation)
    return { kind: 'waits', why: 'The operator has not processed the change yet.' };
  // A bot that belongs to another workflow only receives no messages; test runs work.
  if (routed.status === 'True' || routed.reason === 'BotTaken') return { kind: 'served' };
  if (routed.reason !== 'InvalidSpec') return { kind: 'waits', why: routed.message };
  const valid = conditions.find(({ type }) => type === 'Valid');
  return { kind: 'refused', why: valid?.message ?? routed.message };
}

const EVERY_MS = 200;
const LONGEST_MS = 30_000;

/**
 * Waits until the published version is in effect everywhere. Throws an ApiFailure if it is invalid or takes
 * too long.
 */
export async function untilServed(
  { namespace, name }: { namespace: string; name: string },
  { signal, onWait }: { signal: AbortSignal; onWait: (why: string) => void },
): Promise<void> {
  const deadline = Date.now() + LONGEST_MS;
  let generation: number | undefined;
  for (;;) {
    const workflow = await getObject(WORKFLOWS, namespace, name, signal);
    generation ??= workflow.metadata.generation ?? 0;
    const state = servedState(workflow, generation);
    if (state.kind === 'served') return;
    if (state.kind === 'refused') throw failure('The workflow cannot run', state.why);
    if (Date.now() > deadline) throw failure('The change has not taken effect yet', state.why);
    onWait(state.why);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    signal.throwIfAborted();
  }
}

function failure(title: string, detail: string): ApiFailure {
  return new ApiFailure({ status: -1, title, detail, reason: 'not-served' });
}
