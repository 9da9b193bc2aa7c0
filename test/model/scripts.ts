/**
 * The scripts of the run store by name. Each is learned from the function that sends it, called once with a
 * connection that only writes down what it is given, so that the reference cannot speak of another script
 * than the programs send.
 */
import { advance } from '../../runs/advance.ts';
import { sendPulse } from '../../runs/pulse.ts';
import { cancelRun } from '../../runs/cancel.ts';
import { claimRuns } from '../../runs/claim.ts';
import { NO_BARRIER } from '../../store/barrier.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import { wakeDue } from '../../runs/due.ts';
import { createEnder } from '../../runs/ender.ts';
import { handBack } from '../../runs/handback.ts';
import { putRevision } from '../../runs/revisions.ts';
import { setQuota } from '../support/runStore/calls.ts';
import { setWorkflowLimits } from '../../runs/limits.ts';
import { createFailureSweep } from '../../runs/failures.ts';
import { beginCreate, noteObject, undoCreate } from '../../runs/record/creation.ts';
import { dropExcess } from '../../runs/record/dropExcess.ts';
import { lease, postpone, quarantine, spend } from '../../runs/record/recordQueue.ts';
import { recorded } from '../../runs/record/recorded.ts';
import { admitUnfinished } from '../../runs/record/unfinished.ts';
import { rejoin } from '../../runs/rejoin.ts';
import { restoreRun } from '../../runs/restore.ts';
import { keysOf } from '../../store/keys.ts';
import type { Script } from '../../store/script.ts';
import type { Subscriber } from '../../store/subscriber.ts';
import { beginSeeding, openSeeded, seedKeys } from '../../runs/seed.ts';
import { closeSignal, signalRun } from '../../runs/signals.ts';
import { submit } from '../../runs/submit.ts';
import { createTakeover, takeOver } from '../../runs/takeover.ts';
import type { WorkflowLimits } from '../../runs/types/limits.ts';
import type { RunState } from '../../runs/types/run.ts';
import type { Submission } from '../../runs/types/submission.ts';

import type { State } from './state.ts';
import { REVISION, revisionOf, uidOf, WORKFLOWS } from './workflows.ts';

const project = 'learned';
const ref = { project, run: 'r', token: 'a/b/c' };
const state = { ...ref, workflowUid: 'w', sequence: 0, phase: 'Pending' } as unknown as RunState;
const submission: Submission = {
  project,
  workflow: 'w',
  workflowUid: 'w',
  revision: 'w-1',
  trigger: 'webhook',
  input: '{}',
  bodyHash: '',
  test: false,
};
const limits: WorkflowLimits = { workflowUid: 'w', policy: 'Queue', deadlineMs: 1 };
const put = { run: 'r', uid: 'u', workflowUid: 'w', input: '{}', nodes: [] } as unknown as Parameters<
  typeof restoreRun
>[2];
const key = { workflowUid: 'w', hash: 'h', body: '', run: 'r' };
const seeding = { project, token: 't' };

/** Subscriptions that never get a message. */
export const UNTOLD: Subscriber = {
  subscribe: () => Promise.resolve({ end: () => undefined }),
  close: () => Promise.resolve(),
};

type Lesson = [names: string[], call: (conn: RunStoreConnection) => Promise<unknown>, answers?: unknown[]];

/** `answers`: what the scripts before the last one answer. */
const LESSONS: Lesson[] = [
  [['submit'], (conn) => submit(conn, submission)],
  [
    ['claim', 'failMissing'],
    (conn) => claimRuns(conn, { project, runner: 'r', max: 1 }),
    [[[], [], 0, ['w 1 r']]],
  ],
  [['advance'], (conn) => advance(conn, ref, {})],
  [['endTogether'], endTwo],
  [['signal'], (conn) => signalRun(conn, project, { run: 'r', node: 'n', value: '1' })],
  [['closeSignal'], (conn) => closeSignal(conn, ref, 'n')],
  [['rejoin'], (conn) => rejoin(conn, ref, { epoch: 1, acceptedAt: 1, remainingMs: 1 })],
  [['handBack'], (conn) => handBack(conn, ref)],
  [['takeOver'], (conn) => takeOver(conn, { ...ref, runner: 'a', heartbeat: '' })],
  [['readBeats', 'forgetRunner'], takeOverOnce, [[['a', '1'], []]]],
  [['pulse'], (conn) => sendPulse(conn, project, 'r')],
  [['cancel'], (conn) => cancelRun(conn, project, 'r')],
  [['wake'], (conn) => wakeDue(conn, project)],
  [['limit'], (conn) => setWorkflowLimits(conn, project, limits)],
  [['putRevision'], (conn) => putRevision(conn, project, 'w-1', REVISION)],
  [['tune'], (conn) => setQuota(conn, project, 1)],
  [['lease'], (conn) => lease(conn, project, 1)],
  [['admitUnfinished'], (conn) => admitUnfinished(conn, project, [state])],
  [['spend'], (conn) => spend(conn, project, [1])],
  [['recorded'], (conn) => recorded(conn, state, 'written')],
  [['dropExcess'], (conn) => dropExcess(conn, [{ ...state, phase: 'Succeeded', endedAt: 1 }])],
  [['beginCreate'], (conn) => beginCreate(conn, state)],
  [['undoCreate'], (conn) => undoCreate(conn, state, 'a')],
  [['noteObject'], (conn) => noteObject(conn, state, 'u')],
  [['quarantine'], (conn) => quarantine(conn, state)],
  [['settleFailure'], sweepFailuresOnce],
  [['postpone'], (conn) => postpone(conn, project, [state], 1)],
  [['beginSeeding', 'clear'], (conn) => beginSeeding(conn, project), [['again']]],
  [['seedKeys'], (conn) => seedKeys(conn, seeding, [key])],
  [['restore'], (conn) => restoreRun(conn, project, put, seeding)],
  [['openSeeded'], (conn) => openSeeded(conn, seeding)],
];

function endTwo(conn: RunStoreConnection): Promise<unknown> {
  const end = createEnder(conn);
  const steps = ['r', 's'].map((run) => ({ ref: { ...ref, run }, follows: 1, reply: '', nodes: [] }));
  return Promise.all(steps.map(end));
}

/** One check of the others by a runner, all of which it takes for dead unless they beat meanwhile. */
export async function takeOverOnce(
  conn: RunStoreConnection,
  { project: of = project, runner = 'r' }: { project?: string; runner?: string } = {},
): Promise<void> {
  const ending = new AbortController();
  const looking = createTakeover({ conn, project: of, runner, deadAfterMs: 0 }).run(ending.signal);
  ending.abort();
  await looking;
}

const ignore = (): void => undefined;
const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** One sweep over the failures of the project. */
export async function sweepFailuresOnce(conn: RunStoreConnection, of: string = project): Promise<void> {
  const ending = new AbortController();
  const options = { conn: withCallees(conn, of), project: of, namespace: 'model', log: QUIET };
  const sweeping = createFailureSweep(options).run(ending.signal);
  ending.abort();
  await sweeping;
}

/** The operator lists workflows for calls; those of the model never change. */
function withCallees(conn: RunStoreConnection, of: string): RunStoreConnection {
  return {
    ...conn,
    command: async (name, ...args) => {
      const [key, workflow = ''] = args.map(String);
      if (key !== keysOf(of).callees) return conn.command(name, ...args);
      return WORKFLOWS.some((known) => known === workflow)
        ? `${uidOf(workflow)} ${revisionOf(workflow)}`
        : null;
    },
  };
}

const COMMANDS: Record<string, unknown> = {
  hget: 'w',
  hmget: ['w', null],
  hgetall: {},
  // A failure that starts nothing, since its target has no revision.
  hscan: ['0', ['r', '{"target":{"workflow":"w"},"event":{}}']],
  scan: ['0', ['wl:{learned}:q']],
};

class Learned extends Error {}

async function learn([names, call, answers = []]: Lesson): Promise<[sha: string, name: string][]> {
  const seen: Script[] = [];
  const command = async (name: string) => COMMANDS[name];
  const conn = {
    subscriber: () => UNTOLD,
    command,
    serverOf: () => ({ command }),
    script: async (script: Script) => {
      const answer = answers[seen.length];
      seen.push(script);
      if (answer === undefined) throw new Learned();
      return answer;
    },
    replicated: NO_BARRIER.replicated,
  } as unknown as RunStoreConnection;
  await call(conn).catch((error: unknown) => {
    if (!(error instanceof Learned)) throw error;
  });
  return names.map((name, index) => [seen[index]?.sha ?? '', name]);
}

/** The names of all scripts that move runs, by the hash under which they are sent. */
export async function learnScripts(): Promise<ReadonlyMap<string, string>> {
  return new Map((await Promise.all(LESSONS.map(learn))).flat());
}

/** What a script was sent, by the names that it gives to its keys and arguments. */
export type Call = {
  name: string;
  keys: Record<string, string>;
  /** All keys, in order. */
  allKeys: readonly string[];
  args: Record<string, string>;
  /** The arguments after the named ones. */
  rest: string[];
  /** The server's clock, in microseconds and in milliseconds. */
  us: number;
  wall: number;
  /** The project's clock, in milliseconds. */
  now: number;
};

/** Names what was sent to a script. */
export function namedCall(
  name: string,
  { lua, keys, lists }: Script,
  sent: { keys: readonly string[]; args: readonly (string | number)[]; us: number; state: State },
): Call {
  const wall = Math.floor(sent.us / 1_000);
  const args = sent.args.map(String);
  const names = /^local (.+) = ARGV\[1\]/m.exec(lua)?.[1]?.split(', ') ?? [];
  const named = Object.fromEntries(names.map((arg, index) => [arg, args[index] ?? '']));
  return {
    name,
    keys: Object.fromEntries(keys.map((key, index) => [key, sent.keys[index] ?? ''])),
    allKeys: sent.keys,
    args: { ...named, ...countsIn(named, Object.keys(lists)) },
    rest: args.slice(names.length),
    us: sent.us,
    wall,
    now: projectTime(sent.state, wall),
  };
}

/** The values of an event in the call, and its keys. */
const EVENT_ARGS = ['run_id', 'body_hash', 'size', 'head', 'input'];
const EVENT_KEYS = 2;

/** One call for each event of the call, in order. */
export function eventsOf(call: Call): Call[] {
  const { nodes_count, item_nodes_count } = call.args;
  const from = 2 * (Number(nodes_count) + Number(item_nodes_count));
  const kept = call.rest.slice(0, from);
  const values = call.rest.slice(from);
  const count = values.length / EVENT_ARGS.length;
  const keys = call.allKeys.slice(-EVENT_KEYS * count);
  return Array.from({ length: count }, (_, index) => {
    const row = values.slice(index * EVENT_ARGS.length);
    const args = Object.fromEntries(EVENT_ARGS.map((name, at) => [name, row[at] ?? '']));
    const [run = '', dedupe = ''] = keys.slice(index * EVENT_KEYS);
    return {
      ...call,
      args: { ...call.args, ...args },
      keys: { ...call.keys, run, ...(dedupe !== run && { dedupe }) },
      rest: kept,
    };
  });
}

/** How many rows each list has but the last, as `<list>_count`. */
function countsIn({ counts }: Record<string, string>, lists: readonly string[]): Record<string, string> {
  const numbers = counts?.split(',') ?? [];
  return Object.fromEntries(
    lists.slice(0, -1).map((list, index) => [`${list}_count`, numbers[index] || '0']),
  );
}

const CLOCK_STEP_MS = 1_000;

/** A project's clock is as the server's, but never goes back. */
function projectTime({ clock, ahead }: State, wall: number): number {
  const now = wall + ahead;
  return now < clock - CLOCK_STEP_MS ? clock : now;
}
