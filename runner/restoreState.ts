/** Restores the state of a claimed run from the run store. */
import type { NodeOutput } from '../api/expression/scope.ts';
import type { Claim } from '../runs/types/claim.ts';
import type { NodeState } from '../runs/types/node.ts';
import { newState, type ExecutionState, type LoopItems, type RunContext } from './executionState.ts';
import { parseExact } from '../api/exact/exactNumber.ts';
import type { Plan } from './plan.ts';
import { restoreNode } from './restoreNode.ts';

/**
 * The state of a run that was just claimed, for the first time or again. `items`: the stored items of
 * loops in progress, by key. A loop in progress opens again when its node is ready, which
 * restores its items.
 */
export function openState(
  claim: Claim,
  plan: Plan,
  context: RunContext,
  now: number,
  items: ReadonlyMap<string, NodeState> = new Map(),
): ExecutionState {
  const state = newState(claim, plan, context, groupItems(items));
  for (const node of claim.state.nodes) {
    // Nodes of bodies are stored only for the record.
    if (!plan.graph.nodes.some(({ id }) => id === node.id)) continue;
    restoreNode(state, state.root, node, now);
  }
  restoreTrigger(state);
  return state;
}

/** A key ends in `.<item>`, or in `.<item>.<repeat>.<attempt>/<ID>`. */
const ITEM_KEY = /^(.*)\.(\d+)$/;
const NODE_KEY = /^((.*)\.(\d+)\.\d+\.\d+)\/([^/.]+)$/;

function groupItems(items: ReadonlyMap<string, NodeState>): Map<string, LoopItems> {
  const loops = new Map<string, LoopItems>();
  const of = (key: string) => {
    const known = loops.get(key) ?? { states: new Map(), nodes: new Map() };
    loops.set(key, known);
    return known;
  };
  for (const [key, node] of items) {
    const [, path, loop = '', index = '', id = ''] = NODE_KEY.exec(key) ?? [];
    if (path === undefined) {
      const [, itemLoop, itemIndex] = ITEM_KEY.exec(key) ?? [];
      if (itemLoop !== undefined) of(itemLoop).states.set(Number(itemIndex), node);
      continue;
    }
    const { nodes } = of(loop);
    const executions = nodes.get(Number(index)) ?? new Map<string, NodeState[]>();
    nodes.set(Number(index), executions);
    executions.set(path, [...(executions.get(path) ?? []), { ...node, id }]);
  }
  return loops;
}

function restoreTrigger(state: ExecutionState): void {
  const { plan, claim } = state;
  const { id, testData } = plan.trigger;
  const isTest = claim.state.input === '';
  const output = isTest ? testData : (parseExact(claim.state.input) as NodeOutput);
  state.root.outputs.set(id, output);
  if (state.root.phases.has(id)) return;
  const at = claim.state.acceptedAt;
  state.root.phases.set(id, 'Succeeded');
  state.checkpoints.push({
    id,
    phase: 'Succeeded',
    attempts: 1,
    startedAt: at,
    endedAt: at,
    ...(isTest ? { output: testData } : { outputIsInput: true }),
  });
}
