/** A test run that listens for one real event: a WorkflowRun with `listenFor`. */
import { isTerminal } from '../../../api/phase.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { isPassing } from '../../http/call.ts';
import type { ApiFailure } from '../../http/failure.ts';
import { deleteObject, getObject } from '../../kube/objects.ts';
import { RUNS, type RunObject } from '../../kube/resources.ts';
import { newRunName } from '../../runs/retry.ts';
import { createOnce, listeningRunSpec } from './draftRun.ts';
import { runRefused } from './refused.ts';

/** How long the console lets a run listen. */
const LISTEN_FOR = '2m';

/** Where a run listens, and until when (RFC 3339). */
export type Listening = NonNullable<NonNullable<RunObject['status']>['listening']>;

const EVERY_MS = 500;

/** The event came: the run has begun, or ended already. Pure. */
export function hasBegun({ status }: Pick<RunObject, 'status'>): boolean {
  // A runner numbers the changes of a run.
  return status?.sequence !== undefined;
}

/** Why the run of this spec listens no more, or cannot listen; undefined while it does. Pure. */
export function refusalOf(
  { status }: Pick<RunObject, 'status'>,
  spec: WorkflowSpec = { active: false, nodes: [] },
): ApiFailure | undefined {
  if (!isTerminal(status?.phase)) return undefined;
  const { reason = 'CannotListen', message = '' } = status ?? {};
  const title = reason === 'NoEvent' ? 'The time to listen is over' : 'The test run cannot listen';
  return runRefused({ title, reason, message }, spec);
}

/**
 * Creates the run, and returns its name once an event started it. Calls back once it listens. When the signal
 * is aborted before, the run is deleted. Throws an ApiFailure if it cannot listen, or if no event came.
 */
export async function untilEvent(
  namespace: string,
  run: Parameters<typeof listeningRunSpec>[0],
  { signal, onListening }: { signal: AbortSignal; onListening: (listening: Listening) => void },
): Promise<string> {
  const name = newRunName(run.workflow, { id: crypto.randomUUID(), at: Date.now() });
  try {
    await createOnce({ metadata: { name, namespace }, spec: listeningRunSpec(run, LISTEN_FOR) }, signal);
    for (;;) {
      const object = await found(namespace, name, signal);
      if (object && hasBegun(object)) return name;
      const refusal = object && refusalOf(object, run.spec);
      if (refusal) throw refusal;
      if (object?.status?.listening) onListening(object.status.listening);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      signal.throwIfAborted();
    }
  } catch (error) {
    // A run that cannot be deleted stops listening by itself.
    if (signal.aborted) await deleteObject(RUNS, namespace, name).catch(() => undefined);
    throw error;
  }
}

/** The object; undefined while it cannot be read for a moment. */
async function found(namespace: string, name: string, signal: AbortSignal): Promise<RunObject | undefined> {
  try {
    return await getObject<RunObject>(RUNS, namespace, name, signal);
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
}
