/** Accepts events: `submit` stores each once per dedupe key. Only then the caller may answer 2xx. */
import { isTerminal } from '../api/phase.ts';
import { orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import { groupOf } from '../store/groups.ts';
import { keysOf, type ProjectKeys } from '../store/keys.ts';
import { argumentsOf } from '../store/script.ts';
import { cancelRun } from './cancel.ts';
import { isChildOutcome, type ChildOutcome } from './children.ts';
import { dedupeHash, newRunName } from './names.ts';
import type { RunHead } from './read.ts';
import { RUN_OVERHEAD_BYTES } from './room.ts';
import { scriptKeys } from './scriptKeys.ts';
import { SUBMIT } from './submitScript.ts';
import type { Reply } from './types/result.ts';
import type { ParentRef } from './types/run.ts';
import type { Resumed, Submission, Submitted } from './types/submission.ts';

/**
 * Stores an event as a run, unless its workflow is suspended. The same dedupe key gives the same run, and
 * with another body `conflict`. The name of a run that the caller chose is its dedupe key. What is answered
 * is on all replicas that may be promoted. `unavailable`: the event may be stored or not.
 */
export function submit(conn: RunStoreConnection, submission: Omit<Submission, 'parent'>): Promise<Submitted> {
  return orUnavailable(() => conn.replicated(submission.project, () => storeRoot(conn, submission)));
}

/**
 * The same for several events of one group, none of which resumes a run: one call, as if they came in this
 * order. Gives an outcome for each.
 */
export function submitTogether(
  conn: RunStoreConnection,
  submissions: readonly Omit<Submission, 'parent' | 'resumed'>[],
): Promise<Submitted>[] {
  const calls = submissions.map(preparedOf);
  let answers: Promise<string[][]> | undefined;
  // One call for all, which the first admitted event makes.
  const answersOnce = () => (answers ??= send(conn, calls, NO_HOLDER));
  return calls.map((call, index) =>
    orUnavailable(() =>
      conn.replicated(call.submission.project, async () =>
        rootOutcome(await outcomeOf(conn, call, (await answersOnce())[index])),
      ),
    ),
  );
}

/**
 * Stores a child run for the runner that holds its parent. The name of the child is its dedupe key. A child
 * of a parent in doubt may have been executed before: effects of it that must not be repeated must not begin.
 * Everything else is as for `submit`.
 */
export function submitChild(
  conn: RunStoreConnection,
  submission: Submission & { run: string; parent: ParentRef },
  holder: Holder,
): Promise<Submitted | ChildOutcome> {
  return orUnavailable(() => store(conn, submission, holder));
}

/** The runner that holds the parent of a child run. */
type Holder = { token: string; isInDoubt: boolean };
const NO_HOLDER: Holder = { token: '', isInDoubt: false };

async function storeRoot(conn: RunStoreConnection, submission: Submission): Promise<Submitted> {
  return rootOutcome(await store(conn, submission, NO_HOLDER));
}

function rootOutcome(submitted: Submitted | ChildOutcome): Submitted {
  if (isChildOutcome(submitted)) throw new Error('a run without a parent was refused as a child');
  return submitted;
}

async function store(
  conn: RunStoreConnection,
  submission: Submission,
  holder: Holder,
): Promise<Submitted | ChildOutcome> {
  const call = preparedOf(submission);
  const [answer] = await send(conn, [call], holder);
  return outcomeOf(conn, call, answer);
}

/** An event, the run that it shall start, and the hash of its dedupe key. */
type Prepared = { submission: Submission; run: string; hash: string | undefined };

function preparedOf(submission: Submission): Prepared {
  const key = keyOf(submission);
  return {
    submission,
    // Never derived from the key: when the key has expired, the object of its run may still exist.
    run: submission.run ?? newRunName(submission.workflow),
    hash: key === undefined ? undefined : dedupeHash(submission.workflowUid, key),
  };
}

/** The answers of the script, one for each event. */
async function send(
  conn: RunStoreConnection,
  events: readonly Prepared[],
  holder: Holder,
): Promise<string[][]> {
  const [first] = events;
  if (first === undefined) return [];
  const { submission, run } = first;
  const { project, parent, resumed } = submission;
  const group = groupOf(submission);
  const keys = keysOf(project);
  const args = argumentsOf(SUBMIT, {
    group,
    ...parentArgs(parent, holder.token),
    in_doubt: isInDoubt(submission, holder) ? '1' : '',
    ...keptRows(resumed),
    events: events.map(eventRow),
  });
  const eventKeys = events.flatMap((event) => keysOfEvent(keys, event));
  return (await conn.script(
    SUBMIT,
    [...scriptKeys(SUBMIT, { project, run, group, parent }), ...eventKeys],
    args,
  )) as string[][];
}

function eventRow({ submission, run, hash }: Prepared): (string | number)[] {
  return [run, submission.bodyHash, sizeOf(submission), headOf(submission, hash), submission.input];
}

function keysOfEvent(keys: ProjectKeys, { submission, run, hash }: Prepared): [run: string, dedupe: string] {
  const runKey = keys.run(run);
  return [runKey, hash === undefined ? runKey : keys.dedupe(submission.workflowUid, hash)];
}

async function outcomeOf(
  conn: RunStoreConnection,
  { submission, run, hash }: Prepared,
  answer: readonly string[] = [],
): Promise<Submitted | ChildOutcome> {
  const [outcome, detail = '', reply = '', phase = ''] = answer;
  if (outcome === 'accepted') return accepted(conn, submission, run, answer.slice(1));
  if (outcome === 'duplicate') {
    const keys = keysOf(submission.project);
    const kept = hash === undefined ? [] : [keys.reply(submission.workflowUid, hash)];
    return duplicate(conn, keys.run(detail), kept, { run: detail, reply, phase });
  }
  const refused = refusalOf(outcome ?? '', detail);
  if (refused) return refused;
  // The name exists. We choose another one; a name that the caller chose is a conflict.
  return submission.run === undefined ? store(conn, submission, NO_HOLDER) : { outcome: 'conflict', run };
}

function refusalOf(outcome: string, detail: string): Submitted | ChildOutcome | undefined {
  switch (outcome) {
    case 'fenced':
    case 'stopped':
    case 'too-many':
    case 'suspended':
      return { outcome };
    case 'conflict':
      return { outcome, run: detail };
    case 'rejected':
      return { outcome, limit: Number(detail) };
    case 'damaged':
      return { outcome: 'unavailable', why: 'damaged', retryAfterSeconds: 10 };
    case 'full':
      return { outcome: 'unavailable', why: 'full', retryAfterSeconds: detail === 'keys' ? 60 : 10 };
    default:
      return undefined;
  }
}

/** Whether effects of the run may have happened before. */
function isInDoubt({ resumed }: Submission, holder: Holder): boolean {
  return holder.isInDoubt || resumed?.isInDoubt === true;
}

function parentArgs(parent: ParentRef | undefined, token: string) {
  return {
    parent_run: parent?.run ?? '',
    parent_token: token,
    parent_waits: parent?.waits ? '1' : '',
  };
}

/** The dedupe key. The prefix separates keys of callers from those of triggers, objects and names. */
function keyOf(submission: Submission): string | undefined {
  const { dedupeKey, trigger } = submission;
  if (dedupeKey === undefined) return nameAsKey(submission);
  return trigger === 'webhook' || trigger === 'execute' ? `caller/${dedupeKey}` : dedupeKey;
}

/**
 * An object, and a name that the caller chose, are submitted until they are seen to run: they are one run.
 */
function nameAsKey({ run, recordUid }: Submission): string | undefined {
  return recordUid === undefined ? run && `run/${run}` : `object/${recordUid}`;
}

type Row = readonly [field: string, value: string];

/** The fields of a resumed run: of its nodes, and of items of its loops. */
function keptRows(resumed?: Resumed): { nodes: Row[]; item_nodes: Row[] } {
  return {
    nodes: (resumed?.nodes ?? []).map((node) => [`n:${node.id}`, JSON.stringify(node)]),
    item_nodes: [...(resumed?.items ?? [])].map(([key, node]) => [key, JSON.stringify(node)]),
  };
}

function sizeOf({ input, dedupeKey = '', requestedBy = '', testing, resumed }: Submission): number {
  const { nodes, item_nodes } = keptRows(resumed);
  const tested = testing ? JSON.stringify(testing) : '';
  const texts = [input, dedupeKey, requestedBy, tested, ...nodes.flat(), ...item_nodes.flat()];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), RUN_OVERHEAD_BYTES);
}

/** The immutable part of a run in one field: as JSON, which no script reads. */
function headOf(submission: Submission, dedupeHash: string | undefined): string {
  const { workflow, revision, trigger, test, dedupeKey, retryOf, until, testing } = submission;
  const { requestedBy, recordUid, parent } = submission;
  const { origin, decisions = [] } = submission.resumed ?? {};
  const bodyHash = dedupeHash === undefined ? undefined : submission.bodyHash;
  const head: RunHead = {
    workflow,
    revision,
    trigger,
    test,
    dedupeKey,
    dedupeHash,
    bodyHash,
    retryOf,
    origin,
    ...(decisions.length > 0 && { decisions }),
    until,
    testing,
    requestedBy,
    recordUid,
    parent,
  };
  return JSON.stringify(head);
}

/** Replaced runs that no runner holds end now; `submit` has requested the end of the others. */
async function accepted(
  conn: RunStoreConnection,
  { project }: Submission,
  run: string,
  replaced: string[],
): Promise<Submitted> {
  await Promise.all(replaced.map((victim) => cancelRun(conn, project, victim)));
  return { outcome: 'accepted', run, duplicate: false };
}

/**
 * The reply is a field of the run until that is recorded, and has a key of its own for an hour afterwards.
 * Without a reply, the dedupe key has the phase.
 */
async function duplicate(
  conn: RunStoreConnection,
  runKey: string,
  replyKeys: string[],
  { run, reply, phase }: { run: string; reply: string; phase: string },
): Promise<Submitted> {
  const known = { outcome: 'accepted', run, duplicate: true } as const;
  if (isTerminal(phase)) return { ...known, ended: phase };
  const found = await Promise.all([
    reply === '' ? conn.command('hget', runKey, 'reply') : reply,
    ...replyKeys.map((key) => conn.command('get', key)),
  ]);
  const text = found.find((value) => typeof value === 'string');
  return text === undefined ? known : { ...known, reply: JSON.parse(text) as Reply };
}
