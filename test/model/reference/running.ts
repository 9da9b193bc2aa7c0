/** What runners do to runs: they claim them, go forward, and give them up. */
import { FAILURES } from '../../../api/reasons.ts';
import type { TerminalPhase } from '../../../api/phase.ts';
import type { Call } from '../scripts.ts';
import { entryOf, inOrder, type Run, type State } from '../state.ts';
import { claim } from './claiming.ts';
import {
  comeBack,
  endRun,
  fenced,
  freeSlot,
  isFenced,
  NO_STORE,
  noteChange,
  requeue,
  runOf,
  stopTime,
  untilFirst,
  workflowOf,
  type Transition,
} from './moves.ts';

const CRASH_LIMIT = 3;

const advance: Transition = (state, call) => {
  if (isFenced(state, call)) return fenced(state);
  const { args, now } = call;
  const run = runOf(state, args['run_id'] ?? '');
  // Stored before, be it that the answer was lost or that the call came late.
  const follows = Number(args['follows'] || run.sequence);
  const unread = run.signaled === args['read'] ? 0 : 2;
  const told = () => (run.cancel ? 1 : 0) + unread;
  if (run.sequence > follows) return told();
  // The store was put back to an older state: only what has all of the run may follow.
  if (run.sequence < follows && args['whole'] !== '1') return 'rewound';
  run.sequence = follows;
  if (args['whole'] === '1') storeWhole(run, args['in_doubt'] === '1');
  storeValues(run, call);
  if (args['phase']) {
    endRun(state, run, endOf(args), call);
    return 0;
  }
  if (args['park'] !== '' && told() === 0) park(state, run, now + Number(args['park']), now);
  run.sequence += 1;
  if (args['checkpoints'] === '1') run.progress = true;
  noteChange(run, now);
  return told();
};

/**
 * Nodes in rows of four, the first value of which is the position of their run, and then the runs in rows of
 * four. A step that is not the next one of its run changes nothing, and is asked by itself.
 */
const endTogether: Transition = (state, call) => {
  const endsAt = 4 * Number(call.args['nodes_count']);
  const nodes = rowsOf(call.rest.slice(0, endsAt));
  return rowsOf(call.rest.slice(endsAt)).map(([run_id = '', token, follows, reply = ''], index) => {
    const run = state.runs[run_id];
    if (!run || run.token !== token || run.sequence !== Number(follows)) return 0;
    if (reply !== '') run.reply ??= reply;
    for (const [at, field = '', value = ''] of nodes)
      if (Number(at) === index + 1) run.nodes[field.slice('n:'.length)] = value;
    endRun(state, run, endOf(call.args), { ...call, args: { ...call.args, run_id } });
    return 1;
  });
};

function rowsOf(values: readonly string[]): string[][] {
  return Array.from({ length: values.length / 4 }, (_, index) => values.slice(4 * index, 4 * index + 4));
}

/** Its runner has stored all that it knows, which is all unless the runner itself got the run in doubt. */
function storeWhole(run: Run, isInDoubt: boolean): void {
  delete run.restored;
  run.doubt = isInDoubt;
}

function endOf({ phase, reason = '', message = '' }: Call['args']) {
  return { phase: phase as TerminalPhase, reason, message };
}

/**
 * The waits come first, in pairs, then items and their nodes with their waits and events, keys to drop,
 * signals to remove, and nodes with their events. Of several replies the first is kept.
 */
function storeValues(run: Run, { args, rest, now }: Call): void {
  if (args['reply']) run.reply ??= args['reply'];
  const itemsAt = 2 * Number(args['waits_count']);
  const droppedAt = itemsAt + 4 * Number(args['item_nodes_count']);
  const consumedAt = droppedAt + Number(args['dropped_count']);
  const nodesAt = consumedAt + Number(args['consumed_count']);
  for (let at = 0; at < itemsAt; at += 2) run.waits[rest[at] ?? ''] = now + Number(rest[at + 1]);
  for (let at = itemsAt; at < droppedAt; at += 4) {
    const [field = '', value = '', delay = ''] = rest.slice(at);
    run.items[field] = value;
    if (delay !== '') run.items[`w:${field}`] = String(now + Number(delay));
  }
  for (const field of rest.slice(droppedAt, consumedAt)) {
    delete run.items[field];
    delete run.items[`w:${field}`];
  }
  for (const field of rest.slice(consumedAt, nodesAt)) delete run.signals[field];
  for (let at = nodesAt; at < rest.length; at += 3)
    run.nodes[(rest[at] ?? '').slice('n:'.length)] = rest[at + 1] ?? '';
}

/** It waits, and holds neither runner nor slot. */
function park(state: State, run: Run, due: number, now: number): void {
  run.due = due;
  run.phase = 'Waiting';
  delete run.token;
  stopTime(run, now);
  freeSlot(state, run.wf);
}

/**
 * A runner takes its run back, which the store knows only from before the claim, or from a record; a slot is
 * used in any case.
 */
const rejoin: Transition = (state, { args, now, wall }) => {
  if (state.id === undefined) return NO_STORE;
  const run = state.runs[args['run_id'] ?? ''];
  if (!run || !mayRejoin(run, Number(args['epoch']), Number(args['accepted_at']))) return 'fenced';
  state.beats[args['runner'] ?? ''] ??= 0;
  if (run.ready === undefined) workflowOf(state, run.wf).active += 1;
  delete run.ready;
  delete run.due;
  delete run.deadline;
  run.overLimit = false;
  run.token = args['token'] ?? '';
  run.phase = 'Running';
  run.wasClaimed = true;
  run.epoch = Math.max(run.epoch, Number(args['epoch']));
  run.started ??= wall;
  if (args['left'] !== '') run.deadline = now + Number(args['left']);
  return 'done';
};

function mayRejoin(run: Run, epoch: number, acceptedAt: number): boolean {
  const isSame = Math.floor(Number(run.accepted) / 1_000) === acceptedAt;
  if (!isSame || run.ended !== undefined || run.token !== undefined) return false;
  return run.epoch < epoch || (!run.wasClaimed && run.restored !== undefined && run.restored <= epoch);
}

const handBack: Transition = (state, call) => {
  if (isFenced(state, call)) return fenced(state);
  const run = runOf(state, call.args['run_id'] ?? '');
  requeue(state, run);
  return run.cancel ? 1 : 0;
};

const takeOver: Transition = (state, call) => {
  if (isFenced(state, call)) return fenced(state);
  const { run_id = '', runner = '', heartbeat } = call.args;
  if (String(state.beats[runner] ?? '') !== heartbeat) return 'alive';
  const run = runOf(state, run_id);
  run.crashes = run.progress ? 1 : run.crashes + 1;
  run.progress = false;
  if (run.crashes < CRASH_LIMIT) {
    requeue(state, run);
    return 'ready';
  }
  endRun(state, run, { phase: 'Failed', reason: 'Poison', message: FAILURES.Poison.meaning }, call);
  return 'poison';
};

const wake: Transition = (state, { args: { count }, rest, now }) => {
  if (state.id === undefined) return NO_STORE;
  const others: string[] = [];
  const isDue = ({ due = Infinity }: Run) => due <= now;
  for (const name of inOrder(state, (run) => (isDue(run) ? run.due : undefined)).slice(0, Number(count))) {
    const run = runOf(state, name);
    if (rest.includes(run.wf)) comeBack(state, run);
    else others.push(entryOf(state, name));
  }
  return [others, untilFirst(state, ({ due }) => due, now)];
};

const pulse: Transition = (state, { args: { runner = '' }, now }) => {
  const beat = (state.beats[runner] ?? 0) + 1;
  state.beats[runner] = beat;
  const runs = Object.values(state.runs);
  const exists = (isSo: (run: Run) => boolean) => (runs.some(isSo) ? 1 : 0);
  return [
    beat,
    Object.keys(state.beats).length,
    exists(({ ready }) => ready !== undefined),
    exists(({ token }) => token !== undefined),
    exists(({ cancel }) => cancel),
    Object.keys(state.failures).length > 0 ? 1 : 0,
    // Without polled triggers.
    0,
    // Without memories, checks and registrations.
    -1,
    -1,
    -1,
    untilFirst(state, ({ due }) => due, now),
    untilFirst(state, ({ out }) => out, now),
  ];
};

export const RUNNING: Record<string, Transition> = {
  claim,
  advance,
  endTogether,
  rejoin,
  handBack,
  takeOver,
  wake,
  pulse,
  readBeats: () => undefined,
  forgetRunner: (state, { args: { runner = '', heartbeat } }) => {
    if (String(state.beats[runner] ?? '') !== heartbeat) return 0;
    delete state.beats[runner];
    return undefined;
  },
};
