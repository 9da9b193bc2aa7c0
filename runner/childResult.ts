/**
 * The results of child runs: reads how a child ended, also where the run store has lost it, and turns its end
 * into the result of the node.
 */
import { joinExact } from '../api/exact/exactNumber.ts';
import type { NodeOutput } from '../api/expression/scope.ts';
import type { WorkflowRun } from '../api/kinds.ts';
import { isTerminal, type RunPhase, type TerminalPhase } from '../api/phase.ts';
import { StepError, type FailureReason } from '../api/reasons.ts';
import type { WorkflowStep } from '../api/step.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import { readRun } from '../runs/read.ts';
import type { ChildResult } from '../runs/types/result.ts';
import type { RunState } from '../runs/types/run.ts';
import { isUnavailable, type RunStoreConnection } from '../store/connection.ts';
import type { ProjectUid } from '../store/keys.ts';
import { lastNode, outputOfRun } from './runOutput.ts';

/**
 * Reads the record of a run from the API server; undefined if it has none. Throws if the server does not
 * answer.
 */
export type ReadRecord = (run: string) => Promise<WorkflowRun | undefined>;

/** Where the ends of child runs are read. */
export type ChildStore = { conn: RunStoreConnection; readRecord?: ReadRecord | undefined };

/** How child runs end that may have had an effect which another child run would repeat. */
const IN_DOUBT: readonly (string | undefined)[] = ['EffectUnknown', 'DataLost'] satisfies FailureReason[];

/**
 * The result of the node whose child has ended.
 * @throws StepError `ChildFailed` if it did not succeed; not to be retried if effects of it are in doubt
 */
export function resultOfChild(
  { name }: WorkflowStep,
  child: string,
  { phase, reason, message, output }: ChildResult,
): StepResult {
  if (phase === 'Succeeded' && output) return { output };
  if (phase === 'Succeeded') {
    const message = `run ${child} of workflow ${name} succeeded, but the run store lost its output`;
    throw new StepError('ChildFailed', message, { retryable: false });
  }
  const happened = phase === 'Cancelled' ? 'was cancelled' : 'failed';
  const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
  const text = `run ${child} of workflow ${name} ${happened}${why && `: ${why}`}`;
  throw new StepError('ChildFailed', text, IN_DOUBT.includes(reason) ? { retryable: false } : {});
}

/**
 * The result of a child whose end may be lost: `unfinished` while the run store has it, `unknown` while that
 * cannot be read, or until the operator has restored or ended it. A run that has neither a key nor a record
 * is lost.
 */
export async function findResult(
  store: ChildStore,
  parent: RunState,
  child: string,
): Promise<ChildResult | 'unfinished' | 'unknown'> {
  const found = await findChild(store, parent, child);
  if (found === 'unknown') return found;
  return found.result === 'unfinished' && found.isMissing ? 'unknown' : found.result;
}

/**
 * `owner`: the parent of the child, as far as it is known. `isMissing`: the run store does not have the
 * child.
 */
type FoundChild = {
  owner?: string | undefined;
  result: ChildResult | 'unfinished';
  isMissing?: boolean;
};

export async function findChild(
  { conn, readRecord }: ChildStore,
  parent: RunState,
  child: string,
): Promise<FoundChild | 'unknown'> {
  const { project } = parent;
  const state = await readRun(conn, project, child);
  if (state && isUnavailable(state)) return 'unknown';
  try {
    if (state) return { owner: state.parent?.run, result: await resultOfState(conn, project, state) };
    const record = await readRecord?.(child);
    const owner = record?.spec.parent?.run;
    if (!record || !isOfChain(parent, owner)) return { result: lost('the run has no record') };
    return { owner, result: await resultOfRecord(conn, project, record), isMissing: true };
  } catch {
    return 'unknown';
  }
}

/** Of a resumed run it may be the child of any earlier run of the chain. */
export function isOfChain({ run, origin }: RunState, owner: string | undefined): boolean {
  return owner === run || (owner !== undefined && origin !== undefined);
}

async function resultOfState(
  conn: RunStoreConnection,
  project: ProjectUid,
  state: RunState,
): Promise<ChildResult | 'unfinished'> {
  if (!isTerminal(state.phase)) return 'unfinished';
  return resultOf(state, state.phase, await lastOutput(conn, project, state));
}

async function resultOfRecord(
  conn: RunStoreConnection,
  project: ProjectUid,
  { status = {} }: WorkflowRun,
): Promise<ChildResult | 'unfinished'> {
  const { phase, nodes = [], revision = '' } = status;
  if (!isTerminal(phase)) return 'unfinished';
  if (phase !== 'Succeeded') return resultOf(status, phase, undefined);
  const last = await lastNode(conn, project, revision, nodes);
  if (last?.truncated) return lost('its record does not have all of its output');
  const { text_content = '', data_content = null, exact } = last?.output ?? {};
  return resultOf(status, phase, { text_content, data_content: joinExact(data_content, exact) });
}

function lost(why: string): ChildResult {
  const message = `the run store lost its data, and ${why}, so its result is unknown`;
  return { phase: 'Failed', reason: 'DataLost', message };
}

function resultOf(
  { reason, message }: { reason?: string | undefined; message?: string | undefined },
  phase: RunPhase,
  output: NodeOutput | undefined,
): ChildResult {
  return {
    phase: phase as TerminalPhase,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(output && phase === 'Succeeded' && { output }),
  };
}

async function lastOutput(
  conn: RunStoreConnection,
  project: ProjectUid,
  { nodes, revision, reply }: RunState,
): Promise<NodeOutput> {
  const last = (await lastNode(conn, project, revision, nodes))?.output;
  return outputOfRun(last ?? { text_content: '', data_content: null }, reply);
}
