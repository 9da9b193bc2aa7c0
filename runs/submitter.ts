/**
 * Submits events that come one by one: those of one turn of the event loop in one call for each group, or in
 * several where they are many. The run store then does once for all of a call what it would do for each.
 */
import type { RunStoreConnection } from '../store/connection.ts';
import { groupOf } from '../store/groups.ts';
import { submit, submitTogether } from './submit.ts';
import type { Submission, Submitted } from './types/submission.ts';

/** As `submit`. */
export type Submitter = (event: Omit<Submission, 'parent'>) => Promise<Submitted>;

type Waiting = { event: Parameters<Submitter>[0]; resolve: (submitted: Promise<Submitted>) => void };
/** Events of one turn that are submitted together. */
type Group = { waiting: Waiting[]; characters: number };

/**
 * So many events of a group are submitted at once, before the turn ends: the run store begins with them
 * while this process reads the other events of the turn.
 */
const MOST_EVENTS = 16;
/**
 * The most characters of the inputs of a call, but for a single event that has more: while a call is
 * executed, the run store does nothing else.
 */
const MOST_CHARACTERS = 256 * 1024;

export function createSubmitter(conn: RunStoreConnection): Submitter {
  let groups = new Map<string, Group>();
  const submitAll = () => {
    const all = groups;
    groups = new Map();
    for (const { waiting } of all.values()) submitCall(conn, waiting);
  };
  return (event) => {
    if (event.resumed !== undefined) return submit(conn, event);
    return new Promise((resolve) => {
      if (groups.size === 0) setImmediate(submitAll);
      const name = `${event.project} ${groupOf(event)}`;
      const group = groups.get(name) ?? { waiting: [], characters: 0 };
      groups.set(name, group);
      const { length } = event.input;
      if (group.characters + length > MOST_CHARACTERS) submitWaiting(conn, group);
      group.waiting.push({ event, resolve });
      group.characters += length;
      if (group.waiting.length === MOST_EVENTS) submitWaiting(conn, group);
    });
  };
}

function submitWaiting(conn: RunStoreConnection, group: Group): void {
  submitCall(conn, group.waiting);
  group.waiting = [];
  group.characters = 0;
}

function submitCall(conn: RunStoreConnection, call: readonly Waiting[]): void {
  if (call.length === 0) return;
  const outcomes = submitTogether(
    conn,
    call.map(({ event }) => event),
  );
  call.forEach(({ resolve }, index) => {
    const outcome = outcomes[index];
    if (outcome) resolve(outcome);
  });
}
