/** Waits until a test run executes the published version. */
import { ApiFailure } from '../../http/failure.ts';
import { getObject } from '../../kube/objects.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { runRefused } from './refused.ts';
import { servedState } from './served.ts';

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
    if (state.kind === 'refused') {
      const refusal = { title: 'The workflow cannot run', reason: 'not-served', message: state.why };
      throw runRefused(refusal, workflow.spec);
    }
    if (Date.now() > deadline) throw failure('The change has not taken effect yet', state.why);
    onWait(state.why);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    signal.throwIfAborted();
  }
}

function failure(title: string, detail: string): ApiFailure {
  return new ApiFailure({ status: -1, title, detail, reason: 'not-served' });
}
