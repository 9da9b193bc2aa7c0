/** How runs come into the store, and how those that nobody holds end. */
import { FAILURES } from '../../../api/reasons.ts';
import { eventsOf, type Call } from '../scripts.ts';
import { inOrder, type EventKey, type Run, type State } from '../state.ts';
import { admit, endRun, isUsedUp, NO_STORE, runOf, workflowOf, type Transition } from './moves.ts';

const submit: Transition = (state, call) => {
  if (state.id === undefined) return NO_STORE;
  // No two events are accepted at the same time.
  let { us } = call;
  return eventsOf(call).map((event) => {
    const answer = accept(state, { ...event, us });
    if (answer[0] === 'accepted') us += 1;
    return answer;
  });
};

function accept(state: State, call: Call): string[] {
  const { group = '', run_id = '', body_hash = '' } = call.args;
  const refusedChild = refuseChild(state, call.args);
  if (refusedChild) return [refusedChild];
  const known = keyOf(state, call);
  if (known) return repeated(known, body_hash);
  const refused = refusal(state, call);
  if (refused) return refused;
  const workflow = workflowOf(state, group);
  const isReplacing = workflow.policy === 'Replace';
  const replaced = isReplacing ? replace(state, call.args, workflow.limit ?? Infinity) : [];
  const run = newRun(call.args, String(call.us));
  state.runs[run_id] = run;
  run.live = isReplacing;
  run.doubt = call.args['in_doubt'] === '1';
  keepOfFailed(run, call);
  if (call.args['parent_run']) addChild(state, run, call.args);
  if (workflow.timeout !== undefined) run.timeout = workflow.timeout;
  admit(state, run);
  if (call.keys['dedupe']) state.keys[call.keys['dedupe']] = { run: run_id, body: body_hash, expires: false };
  workflow.accepted += 1;
  workflow.last = call.us;
  return ['accepted', ...replaced];
}

/** Nodes and items of the failed run that the new one resumes, in pairs; first the nodes. */
function keepOfFailed(run: Run, { args, rest }: Call): void {
  const itemsAt = 2 * Number(args['nodes_count']);
  for (let at = 0; at < rest.length; at += 2) {
    const [field = '', value = ''] = rest.slice(at);
    if (at < itemsAt) run.nodes[field.slice('n:'.length)] = value;
    else run.items[field] = value;
  }
}

/** A child is accepted from the runner alone that holds its parent, and not if that shall be cancelled. */
function refuseChild(
  state: State,
  { parent_run: parent, parent_token }: Call['args'],
): 'fenced' | 'stopped' | undefined {
  if (!parent) return undefined;
  const { token, cancel = false } = state.runs[parent] ?? {};
  if (token !== parent_token) return 'fenced';
  return cancel ? 'stopped' : undefined;
}

function addChild(state: State, run: Run, args: Call['args']): void {
  const { parent_run = '', parent_waits, run_id = '' } = args;
  if (parent_waits === '1') waitFor(state, run, parent_run, run_id);
}

/** The parent, if there is one, waits for the end of the run. */
export function waitFor(state: State, run: Run, parent: string, name: string): void {
  if (parent === '') return;
  run.parent = parent;
  (state.children[parent] ??= {})[name] = true;
}

function keyOf(state: State, { keys: { dedupe: dk } }: Call): EventKey | undefined {
  return dk ? state.keys[dk] : undefined;
}

function repeated({ run, body, phase = '' }: EventKey, sent: string): string[] {
  // Of a key that was put back from a record the body may not be known.
  return body !== '' && body !== sent ? ['conflict', run] : ['duplicate', run, '', phase];
}

/** Why an event that is new is not accepted. */
function refusal(state: State, { args: { group = '', run_id = '' }, keys }: Call): string[] | undefined {
  if (state.runs[run_id]) return ['taken'];
  if (isUsedUp(state.quota)) return ['full'];
  if (keys['dedupe'] && isUsedUp(state.keyQuota)) return ['full', 'keys'];
  const { suspended, policy, active, limit = Infinity } = workflowOf(state, group);
  if (suspended) return ['suspended'];
  return policy === 'Reject' && active >= limit ? ['rejected', String(limit)] : undefined;
}

/** A run that nobody has claimed yet, and that is in no queue yet. */
export function newRun({ group = '', head = '', input = '' }: Call['args'], accepted: string): Run {
  return {
    wf: group,
    accepted,
    head,
    input,
    phase: 'Pending',
    epoch: 0,
    sequence: 0,
    nodes: {},
    items: {},
    signals: {},
    signaled: '',
    waits: {},
    crashes: 0,
    wasClaimed: false,
    progress: false,
    refused: 0,
    dropped: false,
    doubt: false,
    overLimit: false,
    cancel: false,
    live: false,
    listed: true,
    unreported: false,
  };
}

/** The oldest runs that a newer one replaces are asked to end. */
function replace(state: State, { group, run_id = '' }: Call['args'], limit: number): string[] {
  const others = inOrder(state, (run) => (run.live && run.wf === group && !run.cancel ? 0 : undefined));
  const replaced = others.slice(0, Math.max(0, others.length - limit + 1));
  for (const name of replaced) Object.assign(runOf(state, name), { cancel: true, replacedBy: run_id });
  return replaced;
}

const cancel: Transition = (state, call) => {
  const { run_id = '' } = call.args;
  if (state.id === undefined) return NO_STORE;
  const run = state.runs[run_id];
  if (!run) return 'absent';
  if (run.ended !== undefined) return run.phase;
  if (run.token !== undefined) {
    run.cancel = true;
    return 'requested';
  }
  const message = FAILURES.Cancelled.meaning;
  endRun(state, run, { phase: 'Cancelled', reason: 'Cancelled', message }, call);
  return 'cancelled';
};

export const ACCEPTING: Record<string, Transition> = { submit, cancel };
