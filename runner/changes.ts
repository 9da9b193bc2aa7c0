/** The changes of a run that the next step stores, and what becomes of those that the run store refused. */
import { progressOfTranscript } from '../api/transcript.ts';
import { stepUsage } from '../nodes/agent/usage.ts';
import type { Advance } from '../runs/types/advance.ts';
import type { NodeState } from '../runs/types/node.ts';
import {
  type ExecutionState,
  isInItem,
  keyOf,
  locate,
  locatedKey,
  type Progress,
  progressOf,
  type ScopeState,
  touch,
} from './executionState.ts';

/** The changes to store next, removed from the state. Those of items that are over are left out. */
export function takeChanges(state: ExecutionState): Advance {
  const checkpoints =
    state.itemCheckpoints.length === 0
      ? state.checkpoints
      : [...state.checkpoints, ...takenItems(state.itemCheckpoints)];
  const { starts, waits, reply, dropped, consumed } = state;
  const droppedCalls = state.calls.takeDropped();
  const memories = state.memories.takeEnded();
  // Each pass gets here, and spreads of parts take longer.
  const changes: Advance = {};
  if (checkpoints.length > 0) changes.checkpoints = checkpoints;
  if (starts.length > 0) changes.starts = starts;
  if (waits.length > 0) changes.waits = waits;
  if (dropped.length > 0) changes.dropped = dropped;
  if (droppedCalls.length > 0) changes.droppedCalls = droppedCalls;
  if (memories.length > 0) changes.memories = memories;
  if (consumed.length > 0) changes.consumed = consumed;
  if (reply) changes.reply = reply;
  state.checkpoints = [];
  state.itemCheckpoints = [];
  state.starts = [];
  state.waits = [];
  state.dropped = [];
  state.consumed = [];
  // `delete` would make each further access of the state slow.
  state.reply = undefined;
  return changes;
}

/** Only the last checkpoint of a key counts: the run store charges the bytes of each that it gets. */
function takenItems(all: ExecutionState['itemCheckpoints']): Iterable<NodeState> {
  const items = new Map<string, NodeState>();
  for (const { owner, node } of all) {
    if (owner.isOver) continue;
    owner.storedKeys.add(node.id);
    items.set(node.id, node);
  }
  return items.values();
}

/** A node of a scope. */
export type NodePlace = { scope: ScopeState; id: string };

/**
 * Returns nodes whose keys another run has seen to their attempt: it is executed again. Nothing has been
 * decided from their outputs. Returns the keys of the nodes.
 */
export function repeatSeen(
  state: ExecutionState,
  refused: Advance,
  repeated: readonly NodePlace[],
): string[] {
  const keys = repeated.map(({ scope, id }) => {
    scope.phases.set(id, 'Running');
    scope.outputs.delete(id);
    return locatedKey(state, scope, id);
  });
  state.checkpoints.push(...(refused.checkpoints ?? []).filter(({ id }) => !keys.includes(id)));
  state.waits.push(...(refused.waits ?? []));
  state.dropped.push(...(refused.dropped ?? []));
  state.calls.dropAgain(refused.droppedCalls);
  state.memories.endAgain(refused.memories);
  state.consumed.push(...(refused.consumed ?? []));
  return keys;
}

/** Adds a checkpoint of a node of the scope. `node.id` is the ID of the node. */
export function addCheckpoint(state: ExecutionState, scope: ScopeState, node: NodeState): void {
  if (scope === state.root) state.checkpoints.push(node);
  else
    state.itemCheckpoints.push({
      owner: scope,
      node: { ...node, id: keyOf(scope, node.id), ...(isInItem(scope) && { isSilent: true }) },
    });
}

/**
 * Fails the run because the run store refused a step as too large: the nodes with outputs fail. Without
 * outputs, the run store accepts the step.
 */
export function refuseOutputs(state: ExecutionState, refused: Advance, message: string): void {
  for (const { output, usage: _, log: _log, ...node } of refused.checkpoints ?? []) {
    const fails = output !== undefined && node.id !== state.plan.trigger.id;
    const { scope, id } = locate(state, node.id);
    if (fails && scope.phases.has(id)) scope.phases.set(id, 'Failed');
    const failure = { phase: 'Failed', reason: 'OutputTooLarge', message } as const;
    state.checkpoints.push({ ...node, ...(fails && failure) });
  }
  state.dropped.push(...(refused.dropped ?? []));
  state.calls.dropAgain(refused.droppedCalls);
  state.memories.endAgain(refused.memories);
  state.consumed.push(...(refused.consumed ?? []));
  // Their start marks were not stored, so they have not started.
  for (const { id: key, attempt } of refused.starts ?? []) {
    state.attempts.release();
    const { scope, id } = locate(state, key);
    scope.phases.delete(id);
    scope.progress.set(id, { ...progressOf(scope, id), tried: attempt - 1 });
    touch(scope);
  }
  state.halt ??= { phase: 'Failed', reason: 'OutputTooLarge', message };
}

/** How far an agent is, and what it used, for a checkpoint. */
export function agentCounts({ transcript, usage }: Progress): Pick<NodeState, 'agent' | 'usage'> {
  return {
    ...(transcript && progressOfTranscript(transcript)),
    ...(usage && { usage: stepUsage(usage) }),
  };
}

/** The start of a node, for a checkpoint. */
export function startOf(
  { tried, firstAt, run, sent }: Progress,
  id: string,
): Pick<NodeState, 'id' | 'attempts' | 'startedAt' | 'run' | 'sent'> {
  return {
    id,
    attempts: tried,
    ...(firstAt !== undefined && { startedAt: firstAt }),
    ...(run !== undefined && { run }),
    ...(sent && { sent }),
  };
}
