/**
 * Child runs of workflow nodes: starts them, turns their end into the result of the node, and finds ends that
 * the run store has lost.
 */
import { joinExact, parseExact } from '../api/exact/exactNumber.ts';
import type { NodeOutput } from '../api/expression/scope.ts';
import type { WorkflowRun } from '../api/kinds.ts';
import { isTerminal, type RunPhase, type TerminalPhase } from '../api/phase.ts';
import { StepError } from '../api/reasons.ts';
import type { WorkflowStep } from '../api/step.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import { getCallee } from '../runs/callees.ts';
import { isDeleted } from '../runs/deletion.ts';
import { sleep } from '../kube/clock.ts';
import { isAfterFailure } from '../runs/failures.ts';
import { childName } from '../runs/names.ts';
import { readRun } from '../runs/read.ts';
import { getRevision } from '../runs/revisions.ts';
import { DEDUPE_KEPT_S } from '../runs/room.ts';
import { submitChild } from '../runs/submit.ts';
import type { ChildResult, ClaimRef, Reply, RunState } from '../runs/types.ts';
import { isUnavailable, type RunStoreConnection } from '../store/connection.ts';
import type { ProjectUid } from '../store/keys.ts';
import { retryUntilStored } from './retryUntilStored.ts';

/** How many levels of child runs there may be. */
const MAX_DEPTH = 10;
/** Room for what surrounds the input of a child (`advance.ts`: 512 KiB). */
const INPUT_LIMIT_BYTES = 512 * 1024;

/** Between two reads of a child that an earlier run of the chain has started. */
const READ_AGAIN_MS = 500;

export type CallDeps = ChildStore & { abandon: AbortSignal };

/**
 * `ref`: the current claim of the parent. `regain`: takes the parent back from a run store that has lost the
 * claim, and returns whether it is executed here.
 */
type Parent = { parent: RunState; ref: () => ClaimRef; regain: () => Promise<boolean> };

/**
 * `fields`: the evaluated fields of the node. `effectKey`: also of the same attempt of the failed run that
 * the parent resumes.
 */
export type Call = Parent & {
  node: string;
  step: WorkflowStep;
  fields: Record<string, unknown>;
  /** The index of the item that the node is executed for. */
  item: number | undefined;
  effectKey: string;
  /** The node may have started the child before. */
  isInDoubt: boolean;
};

/**
 * `output`: the node does not wait for the child. `isKnown`: the child was started before, so that it may
 * have ended.
 */
export type Called = { child: string; isKnown: boolean } | { output: NodeOutput };

/**
 * Starts the child run of an attempt, or finds the one that the attempt started before.
 * @throws StepError if the child is refused
 */
export async function callWorkflow(deps: CallDeps, call: Call): Promise<Called> {
  const { conn, abandon } = deps;
  const { parent, step, fields, effectKey } = call;
  const { name, wait = true } = step;
  refusePath(pathOf(parent), name);
  const input = JSON.stringify({ text_content: '', data_content: fields['input'] ?? {} });
  if (Buffer.byteLength(input) > INPUT_LIMIT_BYTES)
    throw new StepError('OutputTooLarge', 'workflow.input is larger than 512 KiB: pass less data');
  const callee = await retryUntilStored(() => getCallee(conn, parent.project, name).then(found), abandon);
  if (!callee) throw new StepError('Cancelled', 'the runner was stopped');
  if (!callee.value) throw missing(name);
  let { isInDoubt } = call;
  for (let passed = 0; ; passed += 1) {
    const run = childName(name, passed === 0 ? effectKey : `${effectKey}/${passed}`);
    const submission = { callee: callee.value, run, input, isInDoubt };
    const isKnown = (await isForgotten(deps, parent, run)) || (await submitCall(deps, call, submission));
    if (!wait) return { output: { text_content: run, data_content: { run } } };
    if (!isKnown || parent.origin === undefined) return { child: run, isKnown };
    const found = await readEndedChild(deps, parent, run);
    if (found.isOwn || found.result.output) return { child: run, isKnown };
    if (found.result.reason === 'DataLost') isInDoubt = true;
  }
}

type Submission = {
  callee: { workflowUid: string; revision: string };
  run: string;
  input: string;
  isInDoubt: boolean;
};

/** Submits the child run. Returns whether it was known before. @throws StepError if it is refused */
async function submitCall(deps: CallDeps, call: Call, submission: Submission): Promise<boolean> {
  const first = await submitOnce(deps, call, submission);
  const isFenced = first?.outcome === 'fenced';
  const submitted = isFenced && (await call.regain()) ? await submitOnce(deps, call, submission) : first;
  if (!submitted) throw new StepError('Cancelled', 'the runner was stopped');
  if (submitted.outcome !== 'accepted') throw refusal(call.step.name, submission.run, submitted);
  return submitted.duplicate;
}

/** Undefined: the process ends. */
function submitOnce(
  { conn, abandon }: CallDeps,
  { parent, ref, node, item, step: { name, wait = true } }: Call,
  { callee, run, input, isInDoubt }: Submission,
) {
  const { project, test, testing, group, run: own } = parent;
  const root = parent.parent?.root ?? own;
  return retryUntilStored(async () => {
    const answer = await submitChild(
      conn,
      {
        project,
        workflow: name,
        ...callee,
        run,
        trigger: 'workflow',
        input,
        bodyHash: '',
        test,
        ...(testing && { testing }),
        parent: {
          run: own,
          node,
          group,
          root,
          path: pathOf(parent),
          waits: wait,
          ...(item !== undefined && { item }),
          ...(isAfterFailure(parent) && { isAfterFailure: true }),
        },
      },
      { token: ref().token, isInDoubt },
    );
    // A full store fails the attempt: waiting here could block runs whose end makes room.
    if (isUnavailable(answer) && answer.why === 'full') return { outcome: 'full' } as const;
    if (answer.outcome !== 'suspended') return answer;
    const deleted = await isDeleted(conn, project, callee.workflowUid);
    if (isUnavailable(deleted)) return deleted;
    return deleted ? ({ outcome: 'deleted' } as const) : answer;
  }, abandon);
}

/**
 * Whether the child was started before, and has only a record left: its dedupe key has expired, so that the
 * run store would accept it again. Runs that are too young for this are not looked up.
 */
async function isForgotten(deps: CallDeps, parent: RunState, run: string): Promise<boolean> {
  const isOld = Date.now() - parent.acceptedAt > DEDUPE_KEPT_S * 1_000;
  if (!isOld && parent.origin === undefined) return false;
  for (;;) {
    const state = await readRun(deps.conn, parent.project, run);
    // The run store knows the name, and gives the same run again.
    if (state && !isUnavailable(state)) return false;
    try {
      const record = state ? undefined : await deps.readRecord?.(run);
      if (!state) return record !== undefined && isOfChain(parent, record.spec.parent?.run);
    } catch {
      // The API server does not answer.
    }
    await sleep(READ_AGAIN_MS, deps.abandon);
    if (deps.abandon.aborted) throw new StepError('Cancelled', 'the runner was stopped');
  }
}

/**
 * A child that has the key of the node, once it has ended or if it is of this run. In a resumed run it may be
 * of an earlier run of the chain. Its output is used again; where it has none, the node starts another child.
 * The end of the earlier run has requested its cancel.
 */
async function readEndedChild(
  deps: CallDeps,
  parent: RunState,
  child: string,
): Promise<{ isOwn: true } | { isOwn: false; result: ChildResult }> {
  for (;;) {
    const found = await findChild(deps, parent, child);
    if (found !== 'unknown') {
      const { owner, result } = found;
      if (owner === parent.run) return { isOwn: true };
      if (result !== 'unfinished') return { isOwn: false, result };
    }
    await sleep(READ_AGAIN_MS, deps.abandon);
    if (deps.abandon.aborted) throw new StepError('Cancelled', 'the runner was stopped');
  }
}

const found = <T>(value: T) =>
  isUnavailable(value)
    ? value
    : ({ outcome: 'done', value: value as Exclude<T, { outcome: 'unavailable' }> } as const);

/** The workflows of the run and its ancestors, that of the root first. */
function pathOf({ parent, workflow }: RunState): string[] {
  return [...(parent?.path ?? []), workflow];
}

function refusePath(path: readonly string[], name: string): void {
  const at = path.indexOf(name);
  if (at >= 0) {
    const cycle = [...path.slice(at), name].join(' → ');
    const message = `workflow ${name} would run itself without end: ${cycle}. Remove one of these workflow nodes`;
    throw new StepError('WorkflowCycle', message);
  }
  if (path.length <= MAX_DEPTH) return;
  const message = `workflow ${name} would be nested more than ${MAX_DEPTH} levels deep: ${path.join(' → ')}. Run it from a workflow nearer to the root`;
  throw new StepError('TooDeep', message);
}

function missing(name: string): StepError {
  const message = `there is no valid workflow ${name} in this namespace: apply it and correct what its condition Valid says, or correct workflow.name`;
  return new StepError('WorkflowMissing', message);
}

type Refusal = Exclude<Awaited<ReturnType<typeof submitChild>>, { outcome: 'accepted' | 'unavailable' }>;

function refusal(name: string, run: string, refused: Refusal | { outcome: 'full' | 'deleted' }): StepError {
  switch (refused.outcome) {
    case 'fenced':
      return new StepError('Cancelled', 'the run is no longer executed here');
    case 'stopped':
      return new StepError('Cancelled', 'the run was cancelled');
    case 'suspended':
      return new StepError('Suspended', `workflow ${name} is suspended: set its spec.suspend to false`);
    case 'deleted': {
      const message = `workflow ${name} was deleted: apply it again, or correct workflow.name`;
      return new StepError('WorkflowMissing', message);
    }
    case 'rejected': {
      const message = `${refused.limit} runs of workflow ${name} execute already, and its concurrency policy is Reject: set retry on this node, or the policy Queue`;
      return new StepError('ConcurrencyLimit', message, { retryable: true });
    }
    case 'full': {
      const message = `the project has no room in the run store for a run of workflow ${name}: set retry on this node, or run less at a time`;
      return new StepError('RunStoreFull', message);
    }
    case 'too-many': {
      const message = `no run of workflow ${name} starts, because the root of this run has 10,000 descendants: pass several items to each child run`;
      return new StepError('TooManyChildren', message);
    }
    case 'conflict':
      return new StepError('NameTaken', `the run store still has another run named ${run}: delete that run`);
  }
}

/** The result of the node whose child has ended. @throws StepError `ChildFailed` if it did not succeed */
export function resultOfChild(
  { name }: WorkflowStep,
  child: string,
  { phase, reason, message, output }: ChildResult,
): StepResult {
  if (phase === 'Succeeded' && output) return { output };
  if (phase === 'Succeeded') {
    const message = `run ${child} of workflow ${name} succeeded, but the run store lost its output`;
    throw new StepError('ChildFailed', message);
  }
  const happened = phase === 'Cancelled' ? 'was cancelled' : 'failed';
  const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
  throw new StepError('ChildFailed', `run ${child} of workflow ${name} ${happened}${why && `: ${why}`}`);
}

/** The output of a child run: that of its response node, or else of its last node. */
export function outputOfRun(last: NodeOutput, reply: Reply | undefined): NodeOutput {
  if (!reply) return last;
  const { status, body, contentType } = reply;
  return {
    text_content: `Answered with status ${status}.`,
    data_content: { status, body: bodyOf(body, contentType) },
  };
}

function bodyOf(body: string, contentType: string): unknown {
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(contentType)) return body;
  try {
    return body === '' ? null : parseExact(body);
  } catch {
    return body;
  }
}

/**
 * Reads the record of a run from the API server; undefined if it has none. Throws if the server does not
 * answer.
 */
export type ReadRecord = (run: string) => Promise<WorkflowRun | undefined>;

/** Where the ends of child runs are read. */
export type ChildStore = { conn: RunStoreConnection; readRecord?: ReadRecord | undefined };

/**
 * The result of a child whose end may be lost: `unfinished` while it executes or will be restored, `unknown`
 * while that cannot be read. A run that has neither a key nor a record is lost.
 */
export async function findResult(
  store: ChildStore,
  parent: RunState,
  child: string,
): Promise<ChildResult | 'unfinished' | 'unknown'> {
  const found = await findChild(store, parent, child);
  return found === 'unknown' ? found : found.result;
}

/** `owner`: the parent of the child, as far as it is known. */
type FoundChild = { owner?: string | undefined; result: ChildResult | 'unfinished' };

async function findChild(
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
    return { owner, result: await resultOfRecord(conn, project, record) };
  } catch {
    return 'unknown';
  }
}

/** Of a resumed run it may be the child of any earlier run of the chain. */
function isOfChain({ run, origin }: RunState, owner: string | undefined): boolean {
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

/** The last node outside of groups, in the order of the revision, that succeeded. */
async function lastNode<T extends { id: string; phase: string }>(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
  nodes: readonly T[],
): Promise<T | undefined> {
  const revision = await getRevision(conn, project, name);
  if (revision && isUnavailable(revision)) throw new Error('the run store is unavailable');
  const ids = revision?.steps.filter(({ within }) => within === undefined).map(({ id }) => id);
  const ended = nodes.filter(({ phase }) => phase === 'Succeeded');
  if (!ids) return ended.at(-1);
  const last = ids.findLast((id) => ended.some((node) => node.id === id));
  return ended.find(({ id }) => id === last);
}
