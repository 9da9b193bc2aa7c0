/** In-memory states of runs for tests of scheduling passes, all at the same time, and nodes for them. */
import { revisionOf, type Revision } from '../../../api/revision.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { AttemptShare } from '../../../runner/attemptLimit.ts';
import { endNode } from '../../../runner/transitions.ts';
import type { ExecutionState } from '../../../runner/executionState.ts';
import { openState } from '../../../runner/restoreState.ts';
import { planOf, planUntil } from '../../../runner/plan.ts';
import { decidePass } from '../../../runner/pass.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';

export const NOW = 1_000;

export const webhook = { id: 'trigger', webhook: { path: 'orders' } };
export const agent = (id: string, extra: object = {}) => ({
  id,
  agent: { credential: 'llm', model: 'm', prompt: 'hi' },
  ...extra,
});
export const mail = (id: string, extra: object = {}) => ({
  id,
  skill: {
    name: 'send_email',
    credential: 'smtp',
    parameters: { to: 'a@example.com', subject: 's', body: 'b' },
  },
  ...extra,
});
export const reply = (id: string, body: unknown = 'ok') => ({ id, response: { body } });

export const revision = (nodes: object[], edges?: object[]): Revision =>
  revisionOf({ active: true, nodes, ...(edges && { edges }) } as WorkflowSpec);

export function open(
  plan: Revision,
  state: Partial<RunState> = {},
  variables: Record<string, unknown> = {},
  items: ReadonlyMap<string, NodeState> = new Map(),
  attempts?: AttemptShare,
): ExecutionState {
  const full: RunState = {
    run: 'orders-1',
    project: 'p',
    workflow: 'orders',
    workflowUid: 'w',
    group: 'w',
    revision: 'orders-r',
    trigger: 'webhook',
    test: false,
    phase: 'Running',
    epoch: 1,
    sequence: 1,
    acceptedAt: 500,
    cancelRequested: false,
    crashes: 0,
    input: '{"text_content":"","data_content":{"items":[{"name":"lamp"}],"n":3}}',
    nodes: [],
    ...state,
  };
  return openState(
    { token: 't', state: full, remainingMs: 60_000, claimedAt: NOW, alone: false },
    planUntil(planOf(plan), full.until),
    { namespace: 'shop', variables, ...(attempts && { attempts }) },
    NOW,
    items,
  );
}

/** The state of a run with loops. `items`: their stored items. */
export function openLoops(
  plan: Revision,
  { items = [], attempts, ...state }: Partial<RunState> & { items?: NodeState[]; attempts?: AttemptShare },
): ExecutionState {
  return open(plan, state, {}, new Map(items.map((item) => [item.id, item])), attempts);
}

/** A pass that a slow machine does not cut short. */
export const pass = (state: ExecutionState) => decidePass(state, NOW, Infinity);
export const text = (text_content: string) => ({ output: { text_content, data_content: null } });
export const phases = (nodes: NodeState[] | undefined) =>
  Object.fromEntries((nodes ?? []).map(({ id, phase }) => [id, phase]));
export const fail = (memory: ExecutionState, id: string) =>
  endNode(memory, id, { phase: 'Failed', reason: 'Refused', message: 'no' }, NOW);
