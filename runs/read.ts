/** Reads runs: the run itself while the store has it, its summary and exact totals afterwards. */
import { parseExact } from '../api/exact/exactNumber.ts';
import type { Testing } from '../api/mock.ts';
import { isTerminal, type NodePhase, type RunPhase } from '../api/phase.ts';
import { FAILURES } from '../api/reasons.ts';
import type { NodeOutput } from '../api/value.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { groupsOf, workflowOfGroup, type RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { countOf } from '../store/numbers.ts';
import { groupOfToken } from './claimToken.ts';
import type { NodeState } from './types/node.ts';
import type { FailureOutcome, Reply } from './types/result.ts';
import type { Decision, ParentRef, RunState } from './types/run.ts';
import type { Counts, RunSummary } from './types/summary.ts';

/** The immutable part of a run: the field `head` of its hash. */
export type RunHead = {
  workflow: string;
  revision: string;
  trigger: string;
  test: boolean;
  dedupeKey?: string | undefined;
  dedupeHash?: string | undefined;
  bodyHash?: string | undefined;
  retryOf?: string | undefined;
  origin?: string | undefined;
  decisions?: readonly Decision[] | undefined;
  until?: string | undefined;
  testing?: Testing | undefined;
  requestedBy?: string | undefined;
  recordUid?: string | undefined;
  parent?: ParentRef | undefined;
};

/** The names from which the keys of a run and of its parent are made. */
type Subject = { project: ProjectUid; run: string; group: RunGroup; parent?: ParentRef | undefined };

/**
 * The run, as the subject of scripts; undefined if the store does not have it. Throws as the connection does.
 */
export async function readSubject(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
): Promise<Subject | undefined> {
  const fields = await conn.command('hmget', keysOf(project).run(run), 'wf', 'head');
  const [group, head] = fields as (string | null)[];
  if (typeof group !== 'string') return undefined;
  return { project, run, group, parent: (JSON.parse(head ?? '{}') as Partial<RunHead>).parent };
}

/** The run, while the store has it: until it has ended and is recorded, and ten seconds more. */
export function readRun(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
): Promise<RunState | undefined | Unavailable> {
  const keys = keysOf(project);
  return orUnavailable(async () => {
    const [fields, cancel] = await Promise.all([
      conn.command('hgetall', keys.run(run)),
      conn.command('sismember', keys.cancels, run),
    ]);
    return parseRun(project, run, fields as Record<string, string>, cancel === 1);
  });
}

const BRIEF =
  'phase wf head epoch sequence accepted started ended reason message crashes recorded creating unreported'.split(
    ' ',
  );

/** The run without input and nodes: a few hundred bytes, whatever the size of the run. */
export function readBrief(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
): Promise<RunState | undefined | Unavailable> {
  return orUnavailable(async () => {
    const values = (await conn.command('hmget', keysOf(project).run(run), ...BRIEF)) as (string | null)[];
    const pairs = BRIEF.map((name, index) => [name, values[index]] as const);
    const present = pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    return parseRun(project, run, Object.fromEntries(present), false);
  });
}

/** The summary of a run that has left the store. */
export function readSummary(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  run: string,
): Promise<RunSummary | undefined | Unavailable> {
  return orUnavailable(async () => {
    const keys = groupsOf(workflowUid).map(keysOf(project).summaries);
    const lines = await Promise.all(keys.map((key) => conn.command('hget', key, run)));
    const line = lines.find((text) => typeof text === 'string');
    return line === undefined ? undefined : (JSON.parse(line) as RunSummary);
  });
}

export type GroupCounts = Counts & {
  /** The limits of the group are stored. */
  hasLimits: boolean;
  /** How many failed runs Events have reported; left out where that was never stored. */
  reported?: number;
};

/**
 * Exact totals of the live runs, or the test runs, of a workflow since the store was created, how many are
 * claimed now, and whether their limits are stored.
 */
export function readCounts(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
): Promise<GroupCounts | Unavailable> {
  const fields = ['accepted', 'Succeeded', 'Failed', 'Cancelled', 'last', 'policy', 'reported'];
  const { wf, claims } = keysOf(project);
  return orUnavailable(async () => {
    const [values, tokens] = (await Promise.all([
      conn.command('hmget', wf(group), ...fields),
      conn.command('hvals', claims),
    ])) as [(string | null)[], string[]];
    const [accepted = 0, succeeded = 0, failed = 0, cancelled = 0, last = 0] = values.map(countOf);
    const hasLimits = values[5] !== null;
    const reported = values[6];
    const active = accepted - succeeded - failed - cancelled;
    // The two are not read at the same moment: a run may have been claimed, or have ended, in between.
    const claimed = tokens.filter((token) => groupOfToken(token) === group).length;
    const running = Math.min(claimed, active);
    return {
      succeeded,
      failed,
      cancelled,
      active,
      running,
      waiting: active - running,
      hasLimits,
      ...(typeof reported === 'string' && { reported: countOf(reported) }),
      ...(last > 0 && { lastAcceptedAt: Math.floor(last / 1_000) }),
    };
  });
}

/** Whether the workflow has unfinished runs, live runs or test runs. Few calls, however many wait. */
export async function hasUnfinishedRuns(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<boolean | Unavailable> {
  for (const group of groupsOf(workflowUid)) {
    const counts = await readCounts(conn, project, group);
    if ('outcome' in counts) return counts;
    if (counts.active !== 0) return true;
  }
  return false;
}

/** A run from its hash; undefined where that is empty. */
export function parseRun(
  project: ProjectUid,
  run: string,
  fields: Record<string, string>,
  cancelRequested: boolean,
): RunState | undefined {
  const phase = fields['phase'];
  if (phase === undefined) return undefined;
  const nodes = nodesOf(fields);
  const endedAt = fields['ended'] === undefined ? undefined : Number(fields['ended']);
  const state: RunState = {
    run,
    project,
    group: fields['wf'] ?? '',
    workflowUid: workflowOfGroup(fields['wf'] ?? ''),
    phase: phase as RunPhase,
    epoch: Number(fields['epoch'] ?? 0),
    sequence: Number(fields['sequence'] ?? 0),
    acceptedAt: Math.floor(Number(fields['accepted']) / 1_000),
    cancelRequested: cancelRequested && !isTerminal(phase),
    crashes: Number(fields['crashes'] ?? 0),
    input: fields['input'] ?? '{}',
    nodes: isTerminal(phase) ? nodes.map((node) => settledNode(node, phase, endedAt)) : nodes,
    // Last: properties after a spread are defined slowly, one by one.
    ...(JSON.parse(fields['head'] ?? '{}') as RunHead),
  };
  return addOptional(state, fields);
}

const UNFINISHED: readonly NodePhase[] = ['Pending', 'Running', 'Waiting'];

/**
 * A node of a run that has ended in this phase, at this time: no node is left unfinished. One whose effect
 * may have happened is `Unknown`.
 */
export function settledNode(
  { nextAttemptAt: _at, waitingFor: _for, ...stored }: NodeState,
  phase: RunPhase,
  endedAt: number | undefined,
): NodeState {
  if (!UNFINISHED.includes(stored.phase)) return stored;
  const ended = { ...stored, ...(endedAt !== undefined && { endedAt }) };
  const node = ended.items ? { ...ended, items: { ...ended.items, running: 0 } } : ended;
  if (node.mark?.atMostOnce)
    return { ...node, phase: 'Unknown', reason: 'EffectUnknown', message: FAILURES.EffectUnknown.meaning };
  return { ...node, phase: phase === 'Cancelled' ? 'Cancelled' : 'Failed' };
}

function nodesOf(fields: Record<string, string>): NodeState[] {
  const nodes: NodeState[] = [];
  for (const name in fields) {
    if (!name.startsWith('n:')) continue;
    const node = withOutput(parseExact(fields[name] ?? '') as NodeState, fields['input'] || '{}');
    nodes.push(withWait(node, fields[`w:${node.id}`]));
  }
  return nodes.length > 1 ? nodes.toSorted(inOrder) : nodes;
}

/** Nodes in the order of their start times. */
function inOrder(a: NodeState, b: NodeState): number {
  const at = ({ startedAt, endedAt }: NodeState) => startedAt ?? endedAt ?? Infinity;
  if (at(a) !== at(b)) return at(a) - at(b);
  return a.id < b.id ? -1 : 1;
}

/** Adds the optional fields of a run. One by one: each claim gets here, and spreads take longer. */
function addOptional(state: RunState, fields: Record<string, string>): RunState {
  const { started, ended, reason, message, reply, recorded, creating, restored, doubt, vars, signaled } =
    fields;
  const { unreported, onFailure, tokens } = fields;
  if (tokens !== undefined) state.usage = usageIn(tokens, fields);
  if (unreported !== undefined) state.isUnreported = true;
  if (onFailure !== undefined) state.onFailure = JSON.parse(onFailure) as FailureOutcome;
  if (recorded !== undefined) state.recordedUid = recorded;
  if (creating !== undefined) state.createBegun = true;
  if (restored !== undefined) state.restored = true;
  if (doubt !== undefined) state.doubt = true;
  if (vars !== undefined) state.variables = vars;
  if (signaled !== undefined) state.signaled = signaled;
  if (started !== undefined) state.startedAt = Number(started);
  if (ended !== undefined) state.endedAt = Number(ended);
  if (reason) state.reason = reason;
  if (message) state.message = message;
  if (reply !== undefined) state.reply = JSON.parse(reply) as Reply;
  return state;
}

function usageIn(tokens: string, { cost, estimated, currency = '' }: Record<string, string>) {
  return { tokens: countOf(tokens), estimated: countOf(estimated), cost: countOf(cost), currency };
}

/** The time is that of the last wait: it does not apply to a node that continued. */
function withWait(node: NodeState, at: string | undefined): NodeState {
  return node.phase === 'Waiting' && at !== undefined ? { ...node, nextAttemptAt: Number(at) } : node;
}

/** The trigger's output is the run's input, which is stored once only. */
function withOutput(node: NodeState, input: string): NodeState {
  if (!node.outputIsInput) return node;
  const { text_content = '', data_content = null } = parseExact(input) as Partial<NodeOutput>;
  return { ...node, output: { text_content, data_content } };
}
