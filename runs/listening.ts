/**
 * Test runs that listen for an event. The operator offers such a run, and takes it back when its time is
 * over; the gateway takes it for the first event. One of them gets it.
 */
import { doneOrUnavailable, orUnavailable } from '../store/connection.ts';
import type { Done, RunStoreConnection, Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { takeOnce } from '../store/oneTime.ts';
import type { Submission } from './types/submission.ts';

/** The run without its event. `run` and `recordUid` are those of its object. */
export type ListeningRun = Pick<
  Submission,
  'workflow' | 'workflowUid' | 'revision' | 'until' | 'testing' | 'requestedBy'
> & { run: string; recordUid: string };

/** How long the run stays on offer where no operator takes it back, in milliseconds. */
const LEEWAY_MS = 10_000;

/** Offers the run to the first event within `forMs` milliseconds. */
export function offerListening(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: ListeningRun,
  forMs: number,
): Promise<Done> {
  const key = keysOf(project).listening(run.recordUid);
  return doneOrUnavailable(() =>
    conn.command('set', key, JSON.stringify(run), 'PX', Math.ceil(forMs + LEEWAY_MS)),
  );
}

/**
 * Takes the run with the uid of this object. Undefined if an event has taken it, or its time is over. After
 * `unavailable` it may be taken or not.
 */
export function takeListening(
  conn: RunStoreConnection,
  project: ProjectUid,
  recordUid: string,
): Promise<{ run: ListeningRun | undefined } | Unavailable> {
  return orUnavailable(async () => {
    const text = await takeOnce(conn, keysOf(project).listening(recordUid));
    return { run: typeof text === 'string' ? (JSON.parse(text) as ListeningRun) : undefined };
  });
}
