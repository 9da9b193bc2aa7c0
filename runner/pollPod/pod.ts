/**
 * The loop of a poll pod: polls the accounts of a project when they are due, several concurrently, until its
 * time is over.
 */
import { sleep } from '../../kube/clock.ts';
import { isUnavailable } from '../../store/connection.ts';
import { listTriggers } from '../../store/polling/triggers.ts';
import { createAccounts } from '../poll/accounts.ts';
import type { PollDeps } from '../poll/pollAccount.ts';

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
  const { conn, project } = options;
  const accounts = createAccounts({ ...options, leave });
  let listedAt = -Infinity;

  async function list(): Promise<void> {
    const found = await listTriggers(conn, project);
    if (isUnavailable(found)) return;
    listedAt = performance.now();
    accounts.add(found);
  }

  /** Starts due polls. Returns when the next account becomes due; undefined if none does before the end. */
  function startDue(): number | undefined {
    const next = accounts.startDue();
    if (listedAt === -Infinity) return performance.now() + RETRY_MS;
    return next !== undefined && next < end ? next : undefined;
  }

  while (!leave.aborted) {
    if (performance.now() - listedAt >= LIST_MS) await list();
    const at = startDue();
    const polls = accounts.polls();
    if (at === undefined && polls.length === 0) break;
    await pause(at, polls, leave);
  }
  await Promise.all(accounts.polls());
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
