/**
 * Submits events that come one by one: those of one turn of the event loop in one call for each group. The
 * run store then does once for all of them what it would do for each.
 */
import type { RunStoreConnection } from '../store/connection.ts';
import { groupOf } from '../store/groups.ts';
import { submit, submitTogether } from './submit.ts';
import type { Submission, Submitted } from './types/submission.ts';

/** As `submit`. */
export type Submitter = (event: Omit<Submission, 'parent'>) => Promise<Submitted>;

type Waiting = { event: Parameters<Submitter>[0]; resolve: (submitted: Promise<Submitted>) => void };

/**
 * The most events of one call, and the most characters of their inputs: while a call is executed, the run
 * store does nothing else.
 */
const MOST_EVENTS = 64;
const MOST_CHARACTERS = 256 * 1024;

export function createSubmitter(conn: RunStoreConnection): Submitter {
  let groups = new Map<string, Waiting[]>();
  const submitAll = () => {
    const all = groups;
    groups = new Map();
    for (const waiting of all.values()) for (const call of callsOf(waiting)) submitCall(conn, call);
  };
  return (event) => {
    if (event.resumed !== undefined) return submit(conn, event);
    return new Promise((resolve) => {
      if (groups.size === 0) setImmediate(submitAll);
      const name = `${event.project} ${groupOf(event)}`;
      const waiting = groups.get(name);
      if (waiting) waiting.push({ event, resolve });
      else groups.set(name, [{ event, resolve }]);
    });
  };
}

function submitCall(conn: RunStoreConnection, call: readonly Waiting[]): void {
  const outcomes = submitTogether(
    conn,
    call.map(({ event }) => event),
  );
  call.forEach(({ resolve }, index) => {
    const outcome = outcomes[index];
    if (outcome) resolve(outcome);
  });
}

/** The events in calls of bounded size. One event may be larger. */
function callsOf(waiting: readonly Waiting[]): Waiting[][] {
  const calls: Waiting[][] = [];
  let call: Waiting[] = [];
  let characters = 0;
  for (const each of waiting) {
    const { length } = each.event.input;
    if (call.length === MOST_EVENTS || (call.length > 0 && characters + length > MOST_CHARACTERS)) {
      calls.push(call);
      call = [];
      characters = 0;
    }
    call.push(each);
    characters += length;
  }
  return [...calls, call];
}
