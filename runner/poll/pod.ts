/**
 * A pod that looks at the accounts of a project: at each when it is due, at several at the same time, until its time is over.
 * Accounts that failed have places of their own, so that they hold up no other.
 */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../runs/connection.ts';
import { listTriggers } from '../../runs/polling/triggers.ts';
import { lookAt, type LookDeps } from './look.ts';

/** Looks at the same time: of accounts that work, and of those that failed. */
const PLACES = { well: 8, failing: 4 };
/** How often it is asked which triggers there are. */
const LIST_MS = 10_000;
const AGAIN_MS = 500;

type Known = { dueAt: number; failing: boolean };

export type PodOptions = Omit<LookDeps, 'leave'> & {
  /** For how long it may look. */
  forMs: number;
  /** Aborted when it is to end before that. */
  stop?: AbortSignal;
};

/** Looks until its time is over, or until nothing is due before that. False where the run store was never reached. */
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

  function startDue(): void {
    const free = { ...PLACES };
    for (const { failing } of looking.values()) free[failing ? 'failing' : 'well'] -= 1;
    const now = performance.now();
    const due = [...known].filter(([uid, { dueAt }]) => dueAt <= now && !looking.has(uid));
    for (const [uid, { failing }] of due.toSorted(([, a], [, b]) => a.dueAt - b.dueAt)) {
      const lane = failing ? 'failing' : 'well';
      if (free[lane] === 0) continue;
      free[lane] -= 1;
      looking.set(uid, { failing, done: look(uid, failing) });
    }
  }

  /** When something becomes due; undefined where nothing does before the end. What is due waits for a place, and so for a look to end. */
  function nextAt(): number | undefined {
    const now = performance.now();
    if (listedAt === -Infinity) return now + AGAIN_MS;
    const next = Math.min(...[...known.values()].map(({ dueAt }) => dueAt).filter((at) => at > now));
    return next < end ? next : undefined;
  }

  while (!leave.aborted) {
    if (performance.now() - listedAt >= LIST_MS) await list();
    startDue();
    const at = nextAt();
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
