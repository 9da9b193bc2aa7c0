/**
 * What recorders do to a project: leases, the write budget, creating objects, and releasing recorded runs.
 */
import type { TerminalPhase } from '../../../api/phase.ts';
import { keptOf } from '../parse.ts';
import type { Call } from '../scripts.ts';
import type { Run, State } from '../state.ts';
import {
  COALESCE_MS,
  isUsedUp,
  LEASE_MS,
  NO_STORE,
  runOf,
  untilFirst,
  workflowOf,
  type Transition,
} from './moves.ts';

const SETTLED_MS = 1_000;
const EVICTED = 20;
const QUARANTINE_MS = { first: 5_000, longest: 600_000 };

const lease: Transition = (state, { args: { count }, now }) => {
  if (state.id === undefined) return NO_STORE;
  // By name where the time is the same: the members are names here, and not entries.
  const due = Object.entries(state.runs).flatMap(([name, { out = Infinity }]) =>
    out <= now ? [{ name, out }] : [],
  );
  due.sort((a, b) => a.out - b.out || (a.name < b.name ? -1 : 1));
  const names = due.slice(0, Number(count)).map(({ name }) => name);
  for (const name of names) runOf(state, name).out = now + LEASE_MS;
  return [names, untilFirst(state, ({ out }) => out, now)];
};

/** Unfinished runs beyond a limit are not recorded, for now. */
const admitUnfinished: Transition = (state, { args, rest }) => {
  if (state.id === undefined) return NO_STORE;
  const names = rest.filter((_, at) => at % 2 === 1);
  return names.map((name) => {
    const run = state.runs[name];
    if (!run || run.ended !== undefined || run.isRecorded) return 1;
    const recorded = Object.values(state.runs).filter(({ isRecorded }) => isRecorded);
    const own = recorded.filter(({ wf }) => wf === run.wf);
    const isAdmitted =
      own.length < Number(args['of_workflow']) && recorded.length < (state.unfinished ?? 10_000);
    run.isRecorded = isAdmitted;
    if (!isAdmitted) delete run.out;
    return isAdmitted ? 1 : 0;
  });
};

const spend: Transition = (state, { rest, now }) => {
  if (state.id === undefined) return NO_STORE;
  const { rate = 0, tokens = rate, filled = 0 } = state;
  let left = Math.min(rate, tokens + (Math.max(0, now - filled) / 1_000) * rate);
  let paid = 0;
  while (paid < rest.length && left >= Number(rest[paid])) left -= Number(rest[paid++]);
  Object.assign(state, { tokens: left, filled: now });
  return paid;
};

const recorded: Transition = (state, call) => {
  const { run_id = '', sequence, why, summary = '' } = call.args;
  if (state.id === undefined) return NO_STORE;
  const run = state.runs[run_id];
  if (!run || run.dropped) {
    delete run?.out;
    return 'gone';
  }
  if (run.unreported) {
    run.out = call.now + COALESCE_MS;
    return 'kept';
  }
  if (why === 'excess' && !isExcess(state, run, call.wall)) return 'kept';
  if (String(run.sequence) !== sequence) {
    run.out = run.ended === undefined ? call.now + COALESCE_MS : call.now;
    return 'behind';
  }
  delete run.out;
  if (run.ended !== undefined) release(state, { name: run_id, line: summary }, call);
  return 'recorded';
};

function isAsFound(run: Run | undefined, phase: string | undefined, sequence: string): boolean {
  if (!run || run.phase !== phase || String(run.sequence) !== sequence || run.ended === undefined)
    return false;
  return !run.dropped && !run.unreported && run.recorded === undefined && run.creating === undefined;
}

/** Three values for each run. Runs that are not simply dropped are asked one by one. */
const dropExcess: Transition = (state, call) => {
  if (state.id === undefined) return NO_STORE;
  const { args, rest } = call;
  const answers: string[] = [];
  for (let at = 0; at < rest.length; at += 3) {
    const [run_id = '', sequence = '', summary = ''] = rest.slice(at);
    const run = state.runs[run_id];
    const isSimple = isAsFound(run, args['phase'], sequence);
    if (!isSimple) answers.push('alone');
    else
      answers.push(String(recorded(state, { ...call, args: { run_id, sequence, why: 'excess', summary } })));
  }
  return answers;
};

/**
 * Its workflow has more ended runs that wait than its history keeps, and it has no object and cannot get one.
 */
function isExcess(state: State, run: Run, wall: number): boolean {
  const { waiting, keep } = workflowOf(state, run.wf);
  const phase = run.phase as TerminalPhase;
  if (run.ended === undefined || run.recorded !== undefined || run.creating !== undefined) return false;
  return Math.abs(wall - run.ended) >= SETTLED_MS && waiting[phase] > keep[phase];
}

function release(state: State, { name, line }: { name: string; line: string }, { keys }: Call): void {
  const run = runOf(state, name);
  // Its name may come again while the copy of an earlier run is kept: that stays.
  if (run.phase === 'Failed' && !isUsedUp(state.quota)) state.kept[name] ??= keptOf(run);
  run.dropped = true;
  run.listed = false;
  run.items = {};
  workflowOf(state, run.wf).waiting[run.phase as TerminalPhase] -= 1;
  state.summaries[name] = { wf: run.wf, accepted: run.accepted, line };
  if (isUsedUp(state.keyQuota)) evict(state, run.wf);
  const key = keys['dedupe'] ? state.keys[keys['dedupe']] : undefined;
  if (!key || key.run !== name || key.phase !== undefined) return;
  key.expires = true;
  key.phase = run.reply === undefined ? run.phase : '';
  if (run.reply !== undefined && keys['reply'] && !isUsedUp(state.keyQuota))
    state.replies[keys['reply']] = run.reply;
}

/** Where summaries may take no more, the oldest of the workflow go, but for one. */
function evict(state: State, uid: string): void {
  const own = Object.entries(state.summaries).filter(([, { wf }]) => wf === uid);
  const oldest = own.map(([name, { accepted }]) => `${accepted} ${name}`).toSorted();
  for (const entry of oldest.slice(0, Math.min(EVICTED, own.length - 1)))
    delete state.summaries[entry.slice(entry.indexOf(' ') + 1)];
}

const quarantine: Transition = (state, { args: { run_id = '' }, now }) => {
  const run = state.runs[run_id];
  if (!run) return 0;
  run.refused += 1;
  const delay = Math.min(QUARANTINE_MS.longest, QUARANTINE_MS.first * 2 ** (run.refused - 1));
  if (run.out !== undefined) run.out = now + delay;
  return run.refused;
};

const postpone: Transition = (state, { args: { delay }, rest, now }) => {
  for (const name of rest) {
    const run = state.runs[name];
    if (run?.out !== undefined) run.out = now + Number(delay);
  }
};

/** The failure has started a run, or will start none, or keeps what it needs to start one later. */
const settleFailure: Transition = (state, { args: { run_id = '', entry = '', result = '' }, now }) => {
  if (entry === '') delete state.failures[run_id];
  else if (state.failures[run_id] !== undefined) state.failures[run_id] = entry;
  const run = state.runs[run_id];
  if (!run?.unreported) return;
  run.unreported = false;
  if (result !== '') run.onFailure = result;
  if (run.out !== undefined) run.out = now;
};

/** The run of a script that is told it only by its key. */
function ownRun(state: State, { keys: { run = '' } }: Call): Run | undefined {
  return state.runs[run.slice(run.lastIndexOf(':') + 1)];
}

export const RECORDING: Record<string, Transition> = {
  lease,
  admitUnfinished,
  spend,
  recorded,
  dropExcess,
  quarantine,
  postpone,
  settleFailure,
  beginCreate: (state, call) => {
    const run = ownRun(state, call);
    if (!run || run.dropped) return 0;
    run.creating = run.creating === undefined ? (call.args['attempt'] ?? '') : 'ambiguous';
    return 1;
  },
  undoCreate: (state, call) => {
    const run = ownRun(state, call);
    if (!run || run.creating !== call.args['attempt']) return 0;
    delete run.creating;
    return 1;
  },
  noteObject: (state, call) => {
    const run = ownRun(state, call);
    if (!run) return 0;
    run.recorded = call.args['uid'] ?? '';
    return undefined;
  },
};
