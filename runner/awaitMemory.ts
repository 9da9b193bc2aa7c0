/** The wait of an agent for its memory, which another run or node uses. */
import type { AgentMemoryFields } from '../api/step.ts';
import { memoryKeyOf } from '../nodes/agent/memoryTurns.ts';
import type { StepFields } from '../nodes/step.ts';
import { askMemory, MOST_TURNS } from '../runs/memory.ts';
import { LONGEST_LINE } from '../runs/memoryLocks.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import type { MemorySpace } from '../runs/types/advance.ts';
import type { ClaimRef } from '../runs/types/claim.ts';
import { LONGEST_MEMORY_WAIT_MS } from './agentMemories.ts';
import { addCheckpoint, startOf } from './changes.ts';
import {
  type ExecutionState,
  locate,
  locatedKey,
  progressOf,
  type ScopeState,
  touch,
} from './executionState.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import { endNode } from './transitions.ts';
import { addTimer } from './waits.ts';

/**
 * Asks for the memory of the agent, unless the run owns it. Returns whether the agent must wait.
 * @throws StepError if the key is not usable
 */
export function requestMemory(
  state: ExecutionState,
  scope: ScopeState,
  id: string,
  { memory, fields }: { memory: AgentMemoryFields; fields: StepFields },
): boolean {
  const key = locatedKey(state, scope, id);
  if (state.memories.isOwned(key)) return false;
  const { key: whose } = fields['memory'] as { key: unknown };
  state.memories.request(key, id, memory, memoryKeyOf(whose));
  scope.phases.set(id, 'Waiting');
  scope.progress.set(id, { ...(scope.progress.get(id) ?? { tried: 0, next: 1 }) });
  return true;
}

type Asker = { conn: RunStoreConnection; abandon: AbortSignal; wake: () => void };

/** Asks the run store for the requested memories. The answers wake the execution. */
export function askMemories(state: ExecutionState, refOf: () => ClaimRef, asker: Asker): void {
  for (const { key, space } of state.memories.takeRequests())
    void askFor(state, { key, space }, refOf, asker);
}

async function askFor(
  state: ExecutionState,
  { key, space }: { key: string; space: MemorySpace },
  refOf: () => ClaimRef,
  { conn, abandon, wake }: Asker,
): Promise<void> {
  const ask = async (): ReturnType<typeof askMemory> =>
    // A node that has ended has released its memory.
    state.memories.isAsked(key)
      ? askMemory(conn, refOf(), { node: key, space, most: MOST_TURNS })
      : { outcome: 'fenced' };
  const answer = await retryUntilStored(ask, abandon);
  // A fenced execution learns it from the step that begins the wait, and asks again if it has the run back.
  if (!answer) return;
  if (answer.outcome === 'full') endAsFull(state, key);
  else noteAnswer(state, key, answer.outcome === 'granted' ? answer.turns : undefined);
  wake();
}

function noteAnswer(state: ExecutionState, key: string, turns: readonly string[] | undefined): void {
  const answer = state.memories.noteAnswer(key, turns);
  if (answer === undefined) return;
  const { scope, id } = locate(state, key);
  if (answer === 'owned') {
    state.timers.delete(key);
    scope.phases.set(id, 'Pending');
    touch(scope);
  } else if (!state.timers.has(key)) beginMemoryWait(state, scope, id);
}

/** Begins the wait, or continues that of another runner. */
function beginMemoryWait(state: ExecutionState, scope: ScopeState, id: string): void {
  const key = locatedKey(state, scope, id);
  const { memoryWaitMs: delayMs = LONGEST_MEMORY_WAIT_MS, ...progress } = progressOf(scope, id);
  scope.progress.set(id, progress);
  state.waits.push({ id: key, delayMs });
  const minutes = LONGEST_MEMORY_WAIT_MS / 60_000;
  const why = `other runs used the memory of this key for ${minutes} minutes`;
  addTimer(state, key, { delayMs, isStored: true }, () => endAsBusy(state, key, why));
  touch(scope);
  addCheckpoint(state, scope, {
    ...startOf(progress, id),
    // An attempt that continues after the wait is not a further one for the next runner.
    attempts: progress.next - 1,
    phase: 'Waiting',
    waitingFor: { memory: true },
  });
}

/** The node may have ended meanwhile. */
function endAsFull(state: ExecutionState, key: string): void {
  if (state.memories.isAsked(key))
    endAsBusy(state, key, `${LONGEST_LINE} runs wait for the memory of this key`);
}

function endAsBusy(state: ExecutionState, key: string, why: string): void {
  const message = `${why}. Retry the run, or give independent conversations keys of their own`;
  endNode(state, key, { phase: 'Failed', reason: 'MemoryBusy', message }, Date.now());
}
