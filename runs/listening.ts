/**
 * Test runs that listen for an event. The operator offers such a run, and takes it back when its time is
 * over; the gateway takes it for the first event. One of them gets it.
 */
import { doneOrUnavailable, orUnavailable } from '../store/connection.ts';
import type { Done, RunStoreConnection, Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { defineScript } from '../store/script.ts';
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
  return offerFor(conn, project, run, forMs + LEEWAY_MS);
}

const TAKE = defineScript({
  flags: 'drains',
  keys: ['listening'],
  answers: {
    'a list': 'the run and for how many milliseconds it was still on offer; empty if it is not on offer',
  },
  body: `
    local run = redis.call('GET', listening)
    if not run then return {} end
    local left = redis.call('PTTL', listening)
    redis.call('UNLINK', listening)
    return { run, left }
  `,
});

/** A run that was taken, and for how many milliseconds more it would have been on offer. */
export type Taken = { run: ListeningRun; leftMs: number };

/**
 * Takes the run with the uid of this object. `taken` is undefined if an event has taken it, or its time is
 * over. After `unavailable` it may be taken or not.
 */
export function takeListening(
  conn: RunStoreConnection,
  project: ProjectUid,
  recordUid: string,
): Promise<{ taken: Taken | undefined } | Unavailable> {
  return orUnavailable(async () => {
    const answer = await conn.script(TAKE, [keysOf(project).listening(recordUid)], []);
    const given = answer as [string, number] | [];
    if (given.length === 0) return { taken: undefined };
    const [text, leftMs] = given;
    return { taken: { run: JSON.parse(text) as ListeningRun, leftMs } };
  });
}

/** Whether the run with the uid of this object is on offer. */
export function isListening(
  conn: RunStoreConnection,
  project: ProjectUid,
  recordUid: string,
): Promise<boolean | Unavailable> {
  return orUnavailable(
    async () => (await conn.command('exists', keysOf(project).listening(recordUid))) === 1,
  );
}

/** Offers a run again whose event could not be submitted, for the time that was left. */
export function returnListening(
  conn: RunStoreConnection,
  project: ProjectUid,
  { run, leftMs }: Taken,
): Promise<Done> {
  return offerFor(conn, project, run, Math.max(leftMs, 1));
}

function offerFor(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: ListeningRun,
  forMs: number,
): Promise<Done> {
  const key = keysOf(project).listening(run.recordUid);
  return doneOrUnavailable(() => conn.command('set', key, JSON.stringify(run), 'PX', Math.ceil(forMs)));
}
