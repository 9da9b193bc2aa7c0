/** What events, runners and those who cancel do to runs. */
import { FAILURES } from '../../../api/reasons.ts';
import type { TerminalPhase } from '../../../api/phase.ts';
import { entryOf, inOrder, type Run, type State } from '../state.ts';
import {
  admit,
  endRun,
  fenced,
  freeSlot,
  isFenced,
  NO_STORE,
  requeue,
  runOf,
  stopTime,
  workflowOf,
  type Transition,
} from './moves.ts';

const CRASH_LIMIT = 3;
const COALESCE_MS = 1_000;

const pairsOf = (flat: string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, at) => [flat[at * 2] ?? '', flat[at * 2 + 1] ?? '']);

/** The record is behind: a recorder may take the run in a second, unless one is to take it already. */
function noteChange(run: Run, now: number): void {
  run.out ??= now + COALESCE_MS;
}

const submit: Transition = (state, call) => {
  const { uid = '', run_id = '', body_hash = '', head = '', input = '' } = call.args;
  if (state.id === undefined) return NO_STORE;
  const known = call.keys['dk'] ? state.keys[call.keys['dk']] : undefined;
  if (known?.body && known.body !== body_hash) return ['conflict', known.run];
  if (known) return ['duplicate', known.run, '', known.phase ?? ''];
  if (state.runs[run_id]) return ['taken'];
  if (isUsedUp(state.quota)) return ['full'];
  if (call.keys['dk'] && isUsedUp(state.keyQuota)) return ['full', 'keys'];
  const workflow = workflowOf(state, uid);
  if (workflow.suspended) return ['suspended'];
  if (workflow.policy === 'Reject' && workflow.active >= (workflow.limit ?? Infinity))
    return ['rejected', String(workflow.limit)];
  const replaced = workflow.policy === 'Replace' ? replace(state, uid, workflow.limit ?? Infinity) : [];
  const run = newRun({ wf: uid, accepted: String(call.us), head, input });
  state.runs[run_id] = run;
  run.live = workflow.policy === 'Replace';
  if (workflow.timeout !== undefined) run.timeout = workflow.timeout;
  admit(state, run);
  if (call.keys['dk']) state.keys[call.keys['dk']] = { run: run_id, body: body_hash, expires: false };
  workflow.accepted += 1;
  workflow.last = call.us;
  return ['accepted', ...replaced];
};

/** Histories set quotas to almost nothing, or to more than they ever need. */
export const isUsedUp = (quota: number | undefined): boolean => quota !== undefined && quota < 1_000;

/** A run that nobody has claimed yet, and that is in no queue yet. */
export function newRun(given: Pick<Run, 'wf' | 'accepted' | 'head' | 'input'>): Run {
  return {
    ...given,
    phase: 'Pending',
    epoch: 0,
    sequence: 0,
    nodes: {},
    waits: {},
    crashes: 0,
    progress: false,
    refused: 0,
    dropped: false,
    held: false,
    cancel: false,
    live: false,
    listed: true,
  };
}

/** The oldest runs that a newer one replaces are asked to end. */
function replace(state: State, uid: string, limit: number): string[] {
  const others = inOrder(state, (run) => (run.live && run.wf === uid && !run.cancel ? 0 : undefined));
  const replaced = others.slice(0, Math.max(0, others.length - limit + 1));
  for (const name of replaced) runOf(state, name).cancel = true;
  return replaced;
}

const claim: Transition = (state, call) => {
  const { runner = '', max, random = '' } = call.args;
  if (state.id === undefined) return NO_STORE;
  state.beats[runner] ??= 0;
  const queue = () => inOrder(state, (run) => run.ready).slice(0, Number(max));
  const { admitted, isBegunOnly } = roomOf(state);
  const taken: unknown[] = [];
  let { v } = state;
  let isShort = false;
  for (const [index, name] of queue().entries()) {
    const run = runOf(state, name);
    const { active, limit = Infinity } = workflowOf(state, run.wf);
    if (!call.rest.includes(entryOf(state, name))) continue;
    const crashes = run.progress ? 0 : run.crashes;
    const isAlone = crashes >= 2;
    if (active > limit && !run.cancel) {
      hold(state, run, call.now);
    } else if (taken.length >= admitted) {
      isShort = true;
      break;
    } else if (isBegunOnly && run.started === undefined) {
      isShort = true;
    } else if (!isAlone || taken.length === 0) {
      v = Math.max(v, run.ready ?? 0);
      take(run, `${runner}/${run.wf}/${random}${index * 2 + 1}`, call.now);
      Object.assign(run, { crashes, progress: false });
      const left = run.deadline === undefined ? -1 : Math.max(0, run.deadline - call.now);
      taken.push([name, run.token, left, isAlone ? 1 : 0, run.cancel ? 1 : 0, call.now]);
      if (isAlone) break;
    }
  }
  Object.assign(state, { v, isShort });
  return [taken, queue().map((name) => entryOf(state, name)), isShort ? 1 : 0];
};

/** How many runs may be claimed: where the store has no room, one at a time, and of those that have begun where any waits. */
function roomOf(state: State): { admitted: number; isBegunOnly: boolean } {
  if (!isUsedUp(state.claimQuota)) return { admitted: Infinity, isBegunOnly: false };
  const runs = Object.values(state.runs);
  if (runs.some(({ token }) => token !== undefined)) return { admitted: 0, isBegunOnly: false };
  return { admitted: 1, isBegunOnly: runs.some(({ due }) => due !== undefined) };
}

/** Ready runs above a limit that was lowered meanwhile give their slot up. */
function hold(state: State, run: Run, now: number): void {
  const workflow = workflowOf(state, run.wf);
  workflow.active -= 1;
  workflow.vt = run.ready ?? 0;
  delete run.ready;
  run.held = true;
  stopTime(run, now);
}

function take(run: Run, token: string, now: number): void {
  delete run.ready;
  if (run.timeout !== undefined) run.deadline ??= now + run.timeout;
  run.started ??= now;
  Object.assign(run, {
    token,
    phase: 'Running',
    epoch: Math.max(run.epoch, now) + 1,
    sequence: run.sequence + 1,
  });
  noteChange(run, now);
}

const advance: Transition = (state, call) => {
  if (isFenced(state, call)) return fenced(state);
  const { args, now } = call;
  const run = runOf(state, args['run_id'] ?? '');
  // Stored before, be it that the answer was lost or that the call came late.
  if (args['follows'] !== '' && run.sequence > Number(args['follows'])) return run.cancel ? 1 : 0;
  const waits = 2 * Number(args['waits']);
  for (const [node, delay] of pairsOf(call.rest.slice(0, waits))) run.waits[node] = now + Number(delay);
  for (let at = waits; at < call.rest.length; at += 3)
    run.nodes[(call.rest[at] ?? '').slice(2)] = call.rest[at + 1] ?? '';
  if (args['reply']) run.reply ??= args['reply'];
  const { phase, reason = '', message = '' } = args;
  if (phase) {
    endRun(state, run, { phase: phase as TerminalPhase, reason, message }, now);
    return 0;
  }
  if (args['park'] !== '' && !run.cancel) {
    run.due = now + Number(args['park']);
    run.phase = 'Waiting';
    delete run.token;
    stopTime(run, now);
    freeSlot(state, run.wf);
  }
  run.sequence += 1;
  if (args['checkpoints'] === '1') run.progress = true;
  noteChange(run, now);
  return run.cancel ? 1 : 0;
};

const handBack: Transition = (state, call) => {
  if (isFenced(state, call)) return fenced(state);
  const run = runOf(state, call.args['run_id'] ?? '');
  requeue(state, run);
  return run.cancel ? 1 : 0;
};

const takeOver: Transition = (state, call) => {
  if (isFenced(state, call)) return fenced(state);
  const { run_id = '', runner = '', beat } = call.args;
  if (String(state.beats[runner] ?? '') !== beat) return 'alive';
  const run = runOf(state, run_id);
  run.crashes = run.progress ? 1 : run.crashes + 1;
  run.progress = false;
  if (run.crashes < CRASH_LIMIT) {
    requeue(state, run);
    return 'ready';
  }
  endRun(state, run, { phase: 'Failed', reason: 'Poison', message: FAILURES.Poison.meaning }, call.now);
  return 'poison';
};

const cancel: Transition = (state, { args: { run_id = '' }, now }) => {
  if (state.id === undefined) return NO_STORE;
  const run = state.runs[run_id];
  if (!run) return 'absent';
  if (run.ended !== undefined) return run.phase;
  if (run.token !== undefined) {
    run.cancel = true;
    return 'requested';
  }
  const message = FAILURES.Cancelled.meaning;
  endRun(state, run, { phase: 'Cancelled', reason: 'Cancelled', message }, now);
  return 'cancelled';
};

const wake: Transition = (state, { args: { count }, rest, now }) => {
  if (state.id === undefined) return NO_STORE;
  const isDue = ({ due = Infinity }: Run) => due <= now;
  const others: string[] = [];
  for (const name of inOrder(state, (run) => (isDue(run) ? run.due : undefined)).slice(0, Number(count))) {
    const run = runOf(state, name);
    const { vt } = workflowOf(state, run.wf);
    if (!rest.includes(run.wf)) {
      others.push(entryOf(state, name));
      continue;
    }
    delete run.due;
    admit(state, run);
    // Runs that have begun go before all others where there is no room: their ends make some.
    if (state.isShort && run.ready !== undefined) {
      workflowOf(state, run.wf).vt = vt;
      run.ready = state.v - 1;
    }
  }
  const [next] = inOrder(state, (run) => run.due);
  return [others, next === undefined ? -1 : Math.max(0, (runOf(state, next).due ?? 0) - now)];
};

export const RUNNING: Record<string, Transition> = {
  submit,
  claim,
  advance,
  handBack,
  takeOver,
  cancel,
  wake,
  beat: (state, { args: { runner = '' } }) => (state.beats[runner] = (state.beats[runner] ?? 0) + 1),
  readBeats: () => undefined,
  forgetRunner: (state, { args: { runner = '', beat } }) => {
    if (String(state.beats[runner] ?? '') !== beat) return 0;
    delete state.beats[runner];
    return undefined;
  },
};
