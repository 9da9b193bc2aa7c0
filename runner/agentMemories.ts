/**
 * The memories of the agents of a run in flight. An agent starts when the run owns its memory; until then its
 * node waits, and the run may be parked. Synchronous: the execution asks the run store.
 */
import { boundedDuration, DURATION_BOUNDS } from '../api/duration.ts';
import type { AgentMemoryFields } from '../api/step.ts';
import type { AgentMemory, AgentMemoryEnd } from '../nodes/contract/node.ts';
import type { MemoryEnd, MemorySpace } from '../runs/types/advance.ts';

/** How long an agent waits for its memory. */
export const LONGEST_MEMORY_WAIT_MS = 600_000;
const DEFAULT_TTL = '30d';

type Use = {
  space: MemorySpace;
  ttlMs: number;
  /** The stored turns, once the run owns the memory. */
  turns?: readonly string[];
  /** `asking`: an answer of the run store is awaited. */
  state: 'new' | 'asking' | 'waiting' | 'owned';
  /** It was signaled while the answer was awaited. */
  isStale?: boolean;
  turn?: Parameters<AgentMemory['report']>[0];
};

export class AgentMemories {
  /** By the located key of the node. */
  readonly #uses = new Map<string, Use>();
  #ended: MemoryEnd[] = [];

  /** Whether an agent of the run uses a memory, or waits for it. */
  get isUsed(): boolean {
    return this.#uses.size > 0;
  }

  /** Whether the run owns the memory of the node. */
  isOwned(key: string): boolean {
    return this.#uses.get(key)?.state === 'owned';
  }

  /** The agent shall start: its memory is asked for. */
  request(key: string, node: string, memory: AgentMemoryFields, memoryKey: string): void {
    if (this.#uses.has(key)) return;
    const space = { name: memory.name ?? node, key: memoryKey };
    const ttlMs = boundedDuration(memory.ttl ?? DEFAULT_TTL, DURATION_BOUNDS.memory);
    this.#uses.set(key, { space, ttlMs, state: 'new' });
  }

  /** Whether the node waits for an answer. */
  isAsked(key: string): boolean {
    return this.#uses.get(key)?.state === 'asking';
  }

  /** The memories to ask for now. An answer must follow. */
  takeRequests(): { key: string; space: MemorySpace }[] {
    const requests = [...this.#uses].filter(([, { state }]) => state === 'new');
    for (const [, use] of requests) use.state = 'asking';
    return requests.map(([key, { space }]) => ({ key, space }));
  }

  /** The run owns the memory, or waits for it. Undefined for a node that has ended meanwhile. */
  noteAnswer(key: string, turns: readonly string[] | undefined): 'owned' | 'waiting' | undefined {
    const use = this.#uses.get(key);
    if (!use) return undefined;
    const { isStale = false } = use;
    use.isStale = false;
    if (turns) Object.assign(use, { turns, state: 'owned' });
    else use.state = isStale ? 'new' : 'waiting';
    return turns ? 'owned' : 'waiting';
  }

  /** The run was signaled: it may own memories for which it waits. */
  askAgain(): void {
    for (const use of this.#uses.values()) {
      if (use.state === 'waiting') use.state = 'new';
      if (use.state === 'asking') use.isStale = true;
    }
  }

  /** Whether an answer of the run store is awaited, or a question must be asked. */
  get isAsking(): boolean {
    return this.#uses.values().some(({ state }) => state === 'asking' || state === 'new');
  }

  get isWaiting(): boolean {
    return this.#uses.values().some(({ state }) => state === 'waiting');
  }

  /** What the agent gets. */
  of(key: string): AgentMemory {
    const use = this.#uses.get(key);
    if (!use?.turns) throw new Error(`the memory of ${key} is not owned`);
    return {
      turns: use.turns,
      report: (turn) => {
        use.turn = turn;
      },
    };
  }

  /**
   * The node has ended: its memory is released with the next step, which stores its turn. `hide`: replaces
   * what nobody may read in it.
   */
  end(key: string, end: AgentMemoryEnd, hide: (turn: string) => string = (turn) => turn): void {
    const use = this.#uses.get(key);
    this.#uses.delete(key);
    const turn = use?.turn?.(end);
    this.#ended.push({
      node: key,
      ...(use && { space: use.space }),
      ...(use && turn !== undefined && { remembered: { ...use.space, turn: hide(turn), ttlMs: use.ttlMs } }),
    });
  }

  /** The node ends before it has used its memory, for which this runner or another one has asked. */
  release(key: string): void {
    this.#uses.delete(key);
    this.#ended.push({ node: key });
  }

  /** The ends to store, removed from this list. */
  takeEnded(): MemoryEnd[] {
    return this.#ended.splice(0);
  }

  /** The step with these ends was refused. */
  endAgain(ends: readonly MemoryEnd[] = []): void {
    this.#ended.push(...ends);
  }
}
