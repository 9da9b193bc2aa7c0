/**
 * The accounts that a poll pod or a runner polls: starts the polls that are due, several at a time, and
 * remembers when each account is due next.
 */
import { dueOf, type Known } from './due.ts';
import { pollAccount, type PollDeps, type PollOutcome } from './pollAccount.ts';

/** When an account is polled again after a poll that threw. */
const BROKEN_MS = 60_000;

/** Times are milliseconds of `performance.now()`. */
export type Accounts = {
  /** Adds triggers that are not known yet, which are due at once. */
  add(triggers: readonly string[]): void;
  /** Has every account asked again whether it is due. */
  recheck(): void;
  /** Starts due polls. Returns when the next account becomes due; undefined if none does. */
  startDue(): number | undefined;
  /** The polls in progress. They do not reject. */
  polls(): Promise<void>[];
};

/** `onEnd` is called after each poll. */
export function createAccounts(deps: PollDeps, onEnd: () => void = () => {}): Accounts {
  const known = new Map<string, Known>();
  const polling = new Map<string, { failing: boolean; done: Promise<void> }>();
  let isAway = false;

  function note(polled: Exclude<PollOutcome, { outcome: 'gone' }>, uid: string): void {
    known.set(uid, { dueAt: performance.now() + polled.ms, failing: polled.failing });
    if (polled.away !== undefined && !isAway)
      deps.log.warn({ why: polled.away }, 'run store unavailable, retrying');
    isAway = polled.away !== undefined;
  }

  async function poll(uid: string, failing: boolean): Promise<void> {
    try {
      const polled = await pollAccount(deps, uid, { onlyWorking: !failing });
      if (polled.outcome === 'gone') known.delete(uid);
      else note(polled, uid);
    } catch (error) {
      // A damaged key of one account must not end the polls of others.
      deps.log.error({ workflow: uid, err: error }, 'poll failed unexpectedly');
      known.set(uid, { dueAt: performance.now() + BROKEN_MS, failing: true });
    }
    polling.delete(uid);
    onEnd();
  }

  return {
    add: (triggers) => {
      const dueAt = performance.now();
      for (const uid of triggers) if (!known.has(uid)) known.set(uid, { dueAt, failing: false });
    },
    recheck: () => {
      const dueAt = performance.now();
      for (const [uid, { failing }] of known) known.set(uid, { dueAt, failing });
    },
    startDue: () => {
      const { start, next } = dueOf(known, polling, performance.now());
      for (const uid of start) {
        const failing = known.get(uid)?.failing === true;
        polling.set(uid, { failing, done: poll(uid, failing) });
      }
      return next;
    },
    polls: () => [...polling.values()].map(({ done }) => done),
  };
}
