/** Waits until a test run that is started next executes what is saved now. */
import { ApiFailure } from '../../http/failure.ts';
import { getObject } from '../../kube/objects.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { servedState } from './served.ts';

const EVERY_MS = 200;
const LONGEST_MS = 30_000;

/** Waits until what is saved now is in effect everywhere. Throws an ApiFailure when it cannot be, or takes too long. */
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
