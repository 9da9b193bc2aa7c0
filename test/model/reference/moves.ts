/**
 * The moves that several transitions share: a run becomes ready, gives its slot up, ends. They change the
 * state that they are given.
 */
import type { TerminalPhase } from '../../../api/phase.ts';
import type { Call } from '../scripts.ts';
import { inOrder, type Run, type State, type Workflow } from '../state.ts';

/** What a script answers where the store has lost its data. */
export const NO_STORE = 'NOLOG';
/** For how long a recorder has a run to itself. */
export const LEASE_MS = 30_000;
/** How long a change waits for others before it is recorded. */
export const COALESCE_MS = 1_000;

const FAILURES_AHEAD_MS = 60_000;

/** Changes the state as the script does, and gives the answer. */
export type Transition = (state: State, call: Call) => unknown;

/** Histories set quotas to almost nothing, or to more than they ever need. */
export const isUsedUp = (quota: number | undefined): boolean => quota !== undefined && quota < 1_000;

/** The record is behind: a recorder may take the run soon, unless one is to take it already. */
export function noteChange(run: Run, now: number): void {
  run.out ??= now + COALESCE_MS;
}

/** The run; a script that is about one asks for it only after it has found that it is there. */
export function runOf(state: State, name: string): Run {
  const run = state.runs[name];
  if (!run) throw new Error(`the reference knows no run ${name}`);
  return run;
}

export function workflowOf(state: State, uid: string): Workflow {
  const none = () => ({ Succeeded: 0, Failed: 0, Cancelled: 0 });
  return (state.workflows[uid] ??= {
    policy: '',
    suspended: false,
    active: 0,
    vt: 0,
    accepted: 0,
    last: 0,
    ended: none(),
    waiting: none(),
    keep: none(),
  });
}

/** A run is ready at the virtual time at which its workflow's next run starts, and takes a slot. */
export function makeReady(state: State, run: Run): void {
  const workflow = workflowOf(state, run.wf);
  run.ready = Math.max(state.v, workflow.vt);
  workflow.vt = run.ready + 1;
  workflow.active += 1;
}

/**
 * A run that comes to the queue: ready while its workflow has a slot, and queued over its limit otherwise.
 */
export function admit(state: State, run: Run): void {
  const { active, limit = Infinity } = workflowOf(state, run.wf);
  if (active >= limit) run.overLimit = true;
  else makeReady(state, run);
}

/** A slot of the workflow is given up; the oldest run over the limit takes it, if the limit admits one. */
export function freeSlot(state: State, uid: string): void {
  const workflow = workflowOf(state, uid);
  workflow.active -= 1;
  if (workflow.limit === undefined || workflow.active >= workflow.limit) return;
  const [first] = overLimitOf(state, uid);
  if (first === undefined) return;
  const run = runOf(state, first);
  run.overLimit = false;
  makeReady(state, run);
}

/** The runs of a workflow over its limit, the oldest first. */
export function overLimitOf(state: State, uid: string): string[] {
  return inOrder(state, (run) => (run.overLimit && run.wf === uid ? 0 : undefined));
}

/** A claimed run is ready again, before others, and keeps its slot. */
export function requeue(state: State, run: Run): void {
  run.ready = state.v;
  delete run.token;
}

/** The time of a run that nobody executes stands still. */
export function stopTime(run: Run, now: number): void {
  if (run.deadline === undefined) return;
  run.timeout = Math.max(0, run.deadline - now);
  delete run.deadline;
}

export type End = { phase: TerminalPhase; reason: string; message: string };

/** Ends a run, once and for all, wherever it is. */
export function endRun(
  state: State,
  run: Run,
  { phase, reason, message }: End,
  { now, wall, args }: Pick<Call, 'now' | 'wall' | 'args'>,
): void {
  const hadSlot = run.ready !== undefined || run.token !== undefined;
  Object.assign(run, {
    phase,
    ended: wall,
    sequence: run.sequence + 1,
    overLimit: false,
    cancel: false,
    live: false,
    signals: {},
  });
  if (phase === 'Failed') addFailure(state, run, args['run_id'] ?? '');
  const told = tellEnd(run, { phase, reason, message }, args['result'] ?? '');
  const { run_id = '' } = args;
  // A run that resumes the failed one needs its items.
  if (phase !== 'Failed') run.items = {};
  cancelChildren(state, run_id);
  forgetUnfinished(state, run, now);
  delete run.ready;
  delete run.due;
  delete run.token;
  if (hadSlot) freeSlot(state, run.wf);
  const { ended, waiting } = workflowOf(state, run.wf);
  ended[phase] += 1;
  waiting[phase] += 1;
  // What a recorder holds is left to it; a failure comes before successes.
  if (run.out === undefined || run.out < now + LEASE_MS / 2)
    run.out = phase === 'Failed' ? now - FAILURES_AHEAD_MS : now;
  tellParent(state, run, run_id, told);
}

/** A live failure is still to start the workflow that its own names. */
function addFailure(state: State, run: Run, name: string): void {
  const { onFailure } = workflowOf(state, run.wf);
  if (onFailure === undefined) return;
  state.failures[name] = `{"target":${onFailure}}`;
  run.unreported = true;
}

/** Reason and message of the end. Answers what the parent of the run is told. */
function tellEnd(run: Run, { phase, reason, message }: End, result: string): string {
  const by = run.replacedBy;
  delete run.replacedBy;
  if (by === undefined || phase !== 'Cancelled') {
    if (reason !== '') run.reason = reason;
    if (message !== '') run.message = message;
    return result;
  }
  run.reason = 'Replaced';
  run.message = `Run ${by} replaced this run (concurrency.policy: Replace).`;
  return JSON.stringify({ phase, reason: run.reason, message: run.message });
}

/** The end of a run requests the end of the children that it waits for. */
function cancelChildren(state: State, name: string): void {
  for (const child of Object.keys(state.children[name] ?? {})) runOf(state, child).cancel = true;
  delete state.children[name];
}

/** The end of a child is a signal of the parent that waits for it. */
function tellParent(state: State, { parent }: Run, name: string, result: string): void {
  if (parent === undefined) return;
  signalRun(state, state.runs[parent], name, result);
  const { [name]: _ended, ...others } = state.children[parent] ?? {};
  delete state.children[parent];
  if (Object.keys(others).length > 0) state.children[parent] = others;
}

/** Stores the first signal of a field of an unfinished run, which is ready again if it is parked. */
export function signalRun(state: State, run: Run | undefined, field: string, value: string): void {
  if (!run || run.ended !== undefined || run.signals[field] !== undefined) return;
  if (run.due !== undefined) comeBack(state, run);
  const count = Number(/^\d+/.exec(run.signaled)?.[0] ?? 0) + 1;
  run.signaled = `${count} ${field}`;
  run.signals[field] = value;
}

/** When a recorded run ends, the first unrecorded run of its workflow may be recorded. */
function forgetUnfinished(state: State, run: Run, now: number): void {
  const { wf, isRecorded: wasRecorded } = run;
  delete run.isRecorded;
  if (!wasRecorded) return;
  const others = Object.entries(state.runs).filter(
    ([, other]) => other.wf === wf && other.isRecorded === false,
  );
  const [first] = others.toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (!first) return;
  delete first[1].isRecorded;
  first[1].out ??= now;
}

/** Whether the caller's claim is no more; then nothing may change. */
export function isFenced(state: State, { args: { run_id = '', token } }: Call): boolean {
  return state.runs[run_id]?.token !== token;
}

/** What a fenced call is answered. */
export function fenced(state: State): string {
  return state.id === undefined ? NO_STORE : 'fenced';
}

/** A parked run comes to the queue again. */
export function comeBack(state: State, run: Run): void {
  const workflow = workflowOf(state, run.wf);
  const { vt } = workflow;
  delete run.due;
  admit(state, run);
  // Runs that have begun go before all others where there is no room: their ends make some.
  if (!state.isShort || run.ready === undefined) return;
  workflow.vt = vt;
  run.ready = state.v - 1;
}

/** In how many milliseconds the first run is due by that time; -1 without one. */
export function untilFirst(state: State, timeOf: (run: Run) => number | undefined, now: number): number {
  const first = Math.min(...Object.values(state.runs).map((run) => timeOf(run) ?? Infinity));
  return first === Infinity ? -1 : Math.max(0, first - now);
}
