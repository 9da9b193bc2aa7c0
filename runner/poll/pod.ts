/**
 * The loop of a poll pod: polls the accounts of a project when they are due, several concurrently, until its
 * time is over.
 */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../store/connection.ts';
import { listTriggers } from '../../store/polling/triggers.ts';
import { dueOf, type Known } from './due.ts';
import { pollAccount, type PollDeps } from './pollAccount.ts';

/** How often the triggers are listed. */
const LIST_MS = 10_000;
const RETRY_MS = 500;

export type PodOptions = Omit<PollDeps, 'leave'> & {
  /** How long to poll, in milliseconds. */
  forMs: number;
  /** Aborted to end before that. */
  stop?: AbortSignal;
};

/**
 * Polls until its time is over, or until no account becomes due before that. Returns false if the run store
 * was never reached.
 */
export async function runPollPod({ forMs, stop, ...options }: PodOptions): Promise<boolean> {
  const end = performance.now() + forMs;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), forMs);
  const leave = AbortSignal.any([over.signal, ...(stop ? [stop] : [])]);
  const deps: PollDeps = { ...options, leave };
  const known = new Map<string, Known>();
  const polling = new Map<string, { failing: boolean; done: Promise<void> }>();
  let listedAt = -Infinity;
  let isLogged = false;

  async function list(): Promise<void> {
    const found = await listTriggers(deps.conn, deps.project);
    if (isUnavailable(found)) return;
    listedAt = performance.now();
    for (const uid of found) if (!known.has(uid)) known.set(uid, { dueAt: listedAt, failing: false });
  }

  async function poll(uid: string, failing: boolean): Promise<void> {
    const polled = await pollAccount(deps, uid, { onlyWorking: !failing });
    polling.delete(uid);
    if (polled.outcome === 'gone') return void known.delete(uid);
    known.set(uid, { dueAt: performance.now() + polled.ms, failing: polled.failing });
    if (polled.away !== undefined && !isLogged) {
      isLogged = true;
      deps.log.warn({ why: polled.away }, 'run store unavailable, retrying');
    }
  }

  /** Starts due polls. Returns when the next account becomes due; undefined if none does before the end. */
  function startDue(): number | undefined {
    const now = performance.now();
    const { start, next } = dueOf(known, polling, now);
    for (const uid of start) {
      const failing = known.get(uid)?.failing === true;
      polling.set(uid, { failing, done: poll(uid, failing) });
    }
    if (listedAt === -Infinity) return now + RETRY_MS;
    return next !== undefined && next < end ? next : undefined;
  }

  while (!leave.aborted) {
    if (performance.now() - listedAt >= LIST_MS) await list();
    const at = startDue();
    if (at === undefined && polling.size === 0) break;
    await pause(
      at,
      [...polling.values()].map(({ done }) => done),
      leave,
    );
  }
  await Promise.all([...polling.values()].map(({ done }) => done));
  clearTimeout(timer);
  return listedAt !== -Infinity;
}

/** Waits until that time, or until a poll has ended. */
async function pause(at: number | undefined, polls: Promise<void>[], leave: AbortSignal): Promise<void> {
  const over = new AbortController();
  const ms = at === undefined ? LIST_MS : at - performance.now();
  const signal = AbortSignal.any([over.signal, leave]);
  await Promise.race([sleep(Math.min(ms, LIST_MS), signal), ...polls]);
  over.abort();
}
