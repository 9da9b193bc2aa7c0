/** What recorders and the operator do to a project: records, limits, and what is put back into a store that lost its data. */
import type { TerminalPhase } from '../../../api/phase.ts';
import type { Run, State } from '../state.ts';
import { admit, heldOf, LEASE_MS, makeReady, NO_STORE, runOf, workflowOf, type Transition } from './moves.ts';
import { isUsedUp, newRun } from './running.ts';

const COALESCE_MS = 1_000;
const SETTLED_MS = 1_000;
const EVICTED = 20;
const QUARANTINE_MS = { first: 5_000, longest: 600_000 };

const lease: Transition = (state, { args: { count }, now }) => {
  if (state.id === undefined) return NO_STORE;
  // By name where the time is the same: the members are names here, and not entries.
  const due = Object.entries(state.runs).flatMap(([name, { out = Infinity }]) => (out <= now ? [{ name, out }] : []));
  due.sort((a, b) => a.out - b.out || (a.name < b.name ? -1 : 1));
  const names = due.slice(0, Number(count)).map(({ name }) => name);
  for (const name of names) runOf(state, name).out = now + LEASE_MS;
  return names;
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

const recorded: Transition = (state, { args: { run_id = '', sequence, why, line = '' }, keys, now }) => {
  if (state.id === undefined) return NO_STORE;
  const run = state.runs[run_id];
  if (run) {
    if (!run.dropped && why === 'surplus' && !isSurplus(state, run, now)) return 'kept';
    if (!run.dropped && String(run.sequence) !== sequence) {
      run.out = run.ended === undefined ? now + COALESCE_MS : now;
      return 'behind';
    }
    delete run.out;
    if (!run.dropped && run.ended === undefined) return 'recorded';
  }
  if (!run || run.dropped) return 'gone';
  run.dropped = true;
  run.listed = false;
  workflowOf(state, run.wf).waiting[run.phase as TerminalPhase] -= 1;
  keepSummary(state, run_id, line);
  keepKey(state, keys, run);
  return 'recorded';
};

/** Its workflow has more ended runs that wait than its history keeps, and it has no object and cannot get one. */
function isSurplus(state: State, run: Run, now: number): boolean {
  const { waiting, keep } = workflowOf(state, run.wf);
  const phase = run.phase as TerminalPhase;
  if (run.ended === undefined || run.recorded !== undefined || run.creating !== undefined) return false;
  return now - run.ended >= SETTLED_MS && waiting[phase] > keep[phase];
}

/** Where summaries may take no more, the oldest of the workflow go, but for one. */
function keepSummary(state: State, name: string, line: string): void {
  const { wf, accepted } = runOf(state, name);
  state.summaries[name] = { wf, accepted, line };
  if (!isUsedUp(state.keyQuota)) return;
  const own = Object.entries(state.summaries).filter(([, summary]) => summary.wf === wf);
  const oldest = own.map(([run, summary]) => `${summary.accepted} ${run}`).toSorted();
  for (const entry of oldest.slice(0, Math.min(EVICTED, own.length - 1)))
    delete state.summaries[entry.slice(entry.indexOf(' ') + 1)];
}

/** The key goes with time, and says how the run ended, or the reply is kept beside it. */
function keepKey(state: State, { dk, reply }: Record<string, string>, run: Run): void {
  const key = dk ? state.keys[dk] : undefined;
  if (!key || key.phase !== undefined) return;
  key.expires = true;
  key.phase = run.reply === undefined ? run.phase : '';
  if (run.reply !== undefined && reply && !isUsedUp(state.keyQuota)) state.replies[reply] = run.reply;
}

const quarantine: Transition = (state, { args: { run_id = '' }, now }) => {
  const run = state.runs[run_id];
  if (!run) return 0;
  run.refused += 1;
  if (run.out !== undefined)
    run.out = now + Math.min(QUARANTINE_MS.longest, QUARANTINE_MS.first * 2 ** (run.refused - 1));
  return run.refused;
};

const postpone: Transition = (state, { args: { delay }, rest, now }) => {
  for (const name of rest) {
    const run = state.runs[name];
    if (run?.out !== undefined) run.out = now + Number(delay);
  }
};

const limit: Transition = (state, { args, rest }) => {
  const { uid = '', limit: slots = '', seeding } = args;
  if ((!seeding || state.seeding !== seeding) && state.id === undefined) return NO_STORE;
  const fields: Record<string, string> = {};
  for (let at = 0; at < rest.length; at += 2) fields[rest[at] ?? ''] = rest[at + 1] ?? '';
  const workflow = workflowOf(state, uid);
  workflow.suspended = fields['suspended'] === '1';
  workflow.policy = fields['policy'] ?? '';
  workflow.timeout = Number(fields['timeout']);
  for (const phase of ['Succeeded', 'Failed', 'Cancelled'] as const)
    workflow.keep[phase] = Number(fields[`keep:${phase}`]);
  // No run of a suspended workflow becomes ready, whatever its own limit is.
  if (workflow.suspended) workflow.limit = 0;
  else if (slots === '') delete workflow.limit;
  else workflow.limit = Number(slots);
  for (const name of heldOf(state, uid)) {
    if (workflow.active >= (workflow.limit ?? Infinity)) break;
    const run = runOf(state, name);
    run.held = false;
    makeReady(state, run);
  }
  return 0;
};

/** Whether a seeding may not go on: another one began since, or the project is open. */
const isSuperseded = (state: State, token: string | undefined) =>
  state.seeding === undefined || state.seeding !== token || state.id !== undefined;

const restore: Transition = (state, { args, rest, keys, now }) => {
  const { token = '', run_id = '', epoch = '', recorded_by: by } = args;
  if (state.id !== undefined) {
    if (token !== '') return 'superseded';
    const isOurs = by === state.id && !state.runs[run_id];
    if (isOurs || Number(epoch) >= (state.opened ?? 0)) return 'dropped';
  } else if (token === '') return NO_STORE;
  else if (state.seeding !== token) return 'superseded';
  if (state.runs[run_id]) return 'exists';
  if (state.summaries[run_id]) return 'dropped';
  const run = restored(args, rest, now);
  state.runs[run_id] = run;
  const workflow = workflowOf(state, run.wf);
  run.live = workflow.policy === 'Replace';
  admit(state, run);
  if (args['deadline'] && run.held) run.timeout = Math.max(0, Number(args['deadline']) - now);
  else if (args['deadline']) run.deadline = Number(args['deadline']);
  if (keys['dk']) state.keys[keys['dk']] ??= { run: run_id, body: args['body_hash'] ?? '', expires: false };
  workflow.accepted += 1;
  return 'restored';
};

function restored(args: Record<string, string>, rest: string[], now: number): Run {
  const { uid = '', accepted = '', head = '', input = '', object = '', reply } = args;
  const run = newRun({ wf: uid, accepted, head, input });
  run.epoch = Math.max(Number(args['epoch']), now);
  run.sequence = Number(args['sequence']);
  run.timeout = Number(args['timeout']);
  run.recorded = object;
  if (args['started']) run.started = Number(args['started']);
  if (reply) run.reply = reply;
  for (let at = 0; at < rest.length; at += 2) {
    const [field = '', value = ''] = rest.slice(at, at + 2);
    if (field.startsWith('n:')) run.nodes[field.slice(2)] = value;
    else run.waits[field.slice(2)] = Number(value);
  }
  return run;
}

const seedKeys: Transition = (state, { args: { token }, rest, allKeys }) => {
  if (isSuperseded(state, token)) return 'superseded';
  for (const [index, key] of allKeys.slice(2).entries()) {
    const [run = '', body = '', kept = ''] = rest.slice(index * 3, index * 3 + 3);
    state.keys[key] ??= { run, body, expires: kept !== '', ...(kept !== '' && { phase: '' }) };
  }
  return 'done';
};

const TUNED = ['quota', 'claimQuota', 'keyQuota', 'rate'] as const;

export const KEEPING: Record<string, Transition> = {
  lease,
  spend,
  recorded,
  quarantine,
  postpone,
  limit,
  restore,
  seedKeys,
  beginCreate: (state, { args: { run_id, attempt = '' }, keys }) => {
    const run = state.runs[run_id ?? nameOf(keys)];
    if (!run || run.dropped) return 0;
    run.creating = run.creating === undefined ? attempt : 'ambiguous';
    return 1;
  },
  undoCreate: (state, { args: { run_id, attempt }, keys }) => {
    const run = state.runs[run_id ?? nameOf(keys)];
    if (run?.creating !== attempt) return 0;
    delete run?.creating;
    return 1;
  },
  noteObject: (state, { args: { uid = '' }, keys }) => {
    const run = state.runs[nameOf(keys)];
    if (!run) return 0;
    run.recorded = uid;
    return undefined;
  },
  putRevision: () => undefined,
  tune: (state, { rest }) => {
    if (state.id === undefined) return NO_STORE;
    for (let at = 0; at < rest.length; at += 2) {
      const field = TUNED.find((name) => name === rest[at]);
      if (field) state[field] = Number(rest[at + 1]);
    }
    return undefined;
  },
  beginSeeding: (state, { args: { token = '' } }) => {
    if (state.id !== undefined) return ['open', state.id];
    const before = state.seeding;
    state.seeding = token;
    return [before === undefined ? 'first' : 'again'];
  },
  openSeeded: (state, { args: { token, id = '', quota, rate }, now }) => {
    if (isSuperseded(state, token)) return 'superseded';
    delete state.seeding;
    state.rate ??= Number(rate);
    Object.assign(state, { quota: Number(quota), opened: now, id });
    return 'done';
  },
};

/** Of a script that is told its run only by the key. */
function nameOf({ run = '' }: Record<string, string>): string {
  return run.slice(run.lastIndexOf(':') + 1);
}

