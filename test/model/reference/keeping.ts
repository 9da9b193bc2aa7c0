/**
 * What the operator does to a project: limits and quotas, and what is put back into a store that lost its
 * data.
 */
import type { Call } from '../scripts.ts';
import type { Run, State } from '../state.ts';
import { newRun, waitFor } from './accepting.ts';
import { admit, overLimitOf, makeReady, NO_STORE, runOf, workflowOf, type Transition } from './moves.ts';

const limit: Transition = (state, { args, rest }) => {
  const { group = '', limit: slots = '', seeding, on_failure: onFailure } = args;
  if ((!seeding || state.seeding !== seeding) && state.id === undefined) return NO_STORE;
  const fields = pairsOf(rest);
  const workflow = workflowOf(state, group);
  workflow.suspended = fields['suspended'] === '1';
  workflow.policy = fields['policy'] ?? '';
  workflow.timeout = Number(fields['timeout']);
  for (const phase of ['Succeeded', 'Failed', 'Cancelled'] as const)
    workflow.keep[phase] = Number(fields[`keep:${phase}`]);
  delete workflow.onFailure;
  if (onFailure) workflow.onFailure = onFailure;
  delete workflow.limit;
  if (slots !== '') workflow.limit = Number(slots);
  // No run of a suspended workflow becomes ready, whatever its own limit is.
  if (workflow.suspended) workflow.limit = 0;
  letIn(state, group);
  return 0;
};

/** Runs over the limit become ready as far as the limit admits. */
function letIn(state: State, group: string): void {
  const workflow = workflowOf(state, group);
  for (const name of overLimitOf(state, group)) {
    if (workflow.active >= (workflow.limit ?? Infinity)) break;
    const run = runOf(state, name);
    run.overLimit = false;
    makeReady(state, run);
  }
}

function pairsOf(flat: string[]): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) pairs[flat[at] ?? ''] = flat[at + 1] ?? '';
  return pairs;
}

/** Whether a seeding may not go on: another one began since, or the project is open. */
const isSuperseded = (state: State, token: string | undefined) =>
  state.seeding === undefined || state.seeding !== token || state.id !== undefined;

const restore: Transition = (state, call) => {
  const { run_id = '' } = call.args;
  const refused = refusal(state, call.args) ?? otherRun(state, call);
  if (refused) return refused;
  const run = restored(call);
  state.runs[run_id] = run;
  const workflow = workflowOf(state, run.wf);
  run.live = workflow.policy === 'Replace';
  waitFor(state, run, call.args['parent_run'] ?? '', run_id);
  // A run that only waited continues to wait until the same time.
  const idleUntil = Number(call.args['idle_until']);
  if (idleUntil > call.now) Object.assign(run, { phase: 'Waiting', due: idleUntil });
  else admit(state, run);
  const { deadline } = call.args;
  // No time passes of a run that is not ready.
  if (deadline && run.ready === undefined) run.timeout = Math.max(0, Number(deadline) - call.now);
  else if (deadline) run.deadline = Number(deadline);
  takeKey(state, call);
  workflow.accepted += 1;
  if (call.args['recorded_by']) run.isRecorded = true;
  return 'restored';
};

/** The dedupe key does not expire any more. */
function takeKey(state: State, { args: { run_id = '', body_hash = '' }, keys: { dedupe: dk } }: Call): void {
  const key = dk ? state.keys[dk] : undefined;
  if (dk && (key?.run !== run_id || key.expires))
    state.keys[dk] = { run: run_id, body: body_hash, expires: false };
}

/** Why a run is not put back: never one that this store had, or that is older than it and ended here. */
function refusal(
  state: State,
  { token, run_id = '', epoch, recorded_by: by }: Call['args'],
): string | undefined {
  if (state.id === undefined && token === '') return NO_STORE;
  if (state.id === undefined ? state.seeding !== token : token !== '') return 'superseded';
  const isOurs = by === state.id && !state.runs[run_id];
  if (state.id !== undefined && (isOurs || Number(epoch) >= (state.opened ?? 0))) return 'dropped';
  if (state.runs[run_id]) return 'exists';
  return state.summaries[run_id] ? 'dropped' : undefined;
}

/** Its event is another run, of which nothing is recorded yet. */
function otherRun(state: State, { args: { run_id }, keys: { dedupe: dk } }: Call): string | undefined {
  const key = dk ? state.keys[dk] : undefined;
  return key && key.run !== run_id && key.phase === undefined ? 'dropped' : undefined;
}

function restored({ args, rest, now }: Call): Run {
  const run = newRun(args, args['accepted'] ?? '');
  run.epoch = Math.max(Number(args['epoch']), now);
  run.sequence = Number(args['sequence']);
  run.timeout = Number(args['timeout']);
  run.recorded = args['object'] ?? '';
  run.restored = Number(args['epoch']);
  run.doubt = !(Number(args['idle_until']) > now) || args['in_doubt'] === '1';
  if (args['started']) run.started = Number(args['started']);
  if (args['reply']) run.reply = args['reply'];
  for (const [field, value] of Object.entries(pairsOf(rest))) {
    if (field.startsWith('n:')) run.nodes[field.slice(2)] = value;
    else run.waits[field.slice(2)] = Number(value);
  }
  return run;
}

const seedKeys: Transition = (state, { args: { token }, rest, allKeys }) => {
  if (isSuperseded(state, token)) return 'superseded';
  for (const [index, key] of allKeys.slice(2).entries()) {
    const [run = '', body = ''] = rest.slice(index * 2, index * 2 + 2);
    state.keys[key] ??= { run, body, expires: true, phase: '' };
  }
  return 'done';
};

const beginSeeding: Transition = (state, { args: { token = '', own } }) => {
  if (state.id !== undefined) return ['open', state.id];
  const before = state.seeding;
  if (before !== undefined && before === own) return ['own'];
  state.seeding = token;
  return [before === undefined ? 'first' : 'again'];
};

const openSeeded: Transition = (state, { args: { token, id = '', quota, rate }, now }) => {
  if (isSuperseded(state, token)) return 'superseded';
  delete state.seeding;
  state.rate ??= Number(rate);
  Object.assign(state, { quota: Number(quota), opened: now, id });
  return 'done';
};

const TUNED = ['quota', 'claimQuota', 'keyQuota', 'unfinished', 'rate'] as const;

const tune: Transition = (state, { rest }) => {
  if (state.id === undefined) return NO_STORE;
  const fields = pairsOf(rest);
  for (const name of TUNED) if (fields[name] !== undefined) state[name] = Number(fields[name]);
  return undefined;
};

export const KEEPING: Record<string, Transition> = {
  limit,
  tune,
  restore,
  seedKeys,
  beginSeeding,
  openSeeded,
  putRevision: () => undefined,
};
