/**
 * A pod that looks at the accounts of a project: at each when it is due, at several at the same time, until
 * its time is over.
 */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../runs/connection.ts';
import { listTriggers } from '../../runs/polling/triggers.ts';
import { dueOf, type Known } from './due.ts';
import { lookAt, type LookDeps } from './look.ts';

/** How often it is asked which triggers there are. */
const LIST_MS = 10_000;
const AGAIN_MS = 500;

export type PodOptions = Omit<LookDeps, 'leave'> & {
  /** For how long it may look. */
  forMs: number;
  /** Aborted when it is to end before that. */
  stop?: AbortSignal;
};

/**
 * Looks until its time is over, or until nothing is due before that. False where the run store was never
 * reached.
 */
export async function runPod({ forMs, stop, ...options }: PodOptions): Promise<boolean> {
  const end = performance.now() + forMs;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), forMs);
  const leave = AbortSignal.any([over.signal, ...(stop ? [stop] : [])]);
  const deps: LookDeps = { ...options, leave };
  const known = new Map<string, Known>();
  const looking = new Map<string, { failing: boolean; done: Promise<void> }>();
  let listedAt = -Infinity;
  let isTold = false;

  async function list(): Promise<void> {
    const found = await listTriggers(deps.conn, deps.project);
    if (isUnavailable(found)) return;
    listedAt = performance.now();
    for (const uid of found) if (!known.has(uid)) known.set(uid, { dueAt: listedAt, failing: false });
  }

  async function look(uid: string, failing: boolean): Promise<void> {
    const looked = await lookAt(deps, uid, { onlyWell: !failing });
    looking.delete(uid);
    if (looked.outcome === 'gone') return void known.delete(uid);
    known.set(uid, { dueAt: performance.now() + looked.ms, failing: looked.failing });
    if (looked.away !== undefined && !isTold) {
      isTold = true;
      deps.log.warn({ why: looked.away }, 'the run store does not say what is due, trying again');
    }
  }

  /** Begins what is due. When something becomes due; undefined where nothing does before the end. */
  function startDue(): number | undefined {
    const now = performance.now();
    const { begin, next } = dueOf(known, looking, now);
    for (const uid of begin) {
      const failing = known.get(uid)?.failing === true;
      looking.set(uid, { failing, done: look(uid, failing) });
    }
    if (listedAt === -Infinity) return now + AGAIN_MS;
    return next !== undefined && next < end ? next : undefined;
  }

  while (!leave.aborted) {
    if (performance.now() - listedAt >= LIST_MS) await list();
    const at = startDue();
    if (at === undefined && looking.size === 0) break;
    await pause(
      at,
      [...looking.values()].map(({ done }) => done),
      leave,
    );
  }
  await Promise.all([...looking.values()].map(({ done }) => done));
  clearTimeout(timer);
  return listedAt !== -Infinity;
}

/** Until then, or until a look has ended. A list that is due waits for one of the two. */
async function pause(at: number | undefined, looks: Promise<void>[], leave: AbortSignal): Promise<void> {
  const over = new AbortController();
  const ms = at === undefined ? LIST_MS : at - performance.now();
  const signal = AbortSignal.any([over.signal, leave]);
  await Promise.race([sleep(Math.min(ms, LIST_MS), signal), ...looks]);
  over.abort();
}
