/**
 * The calls of the agents of a run in flight: what is stored of them, and what the next step stores. An agent
 * continues when its calls are stored.
 */
import { StepError } from '../api/reasons.ts';
import { tooLarge } from '../nodes/agent/transcriptLimits.ts';
import type { Advance, AgentCall } from '../runs/types/advance.ts';

/** An answer, and not a result or a start mark. */
const ANSWER = /^m\d+$/;

type Write = { key: string; entries: ReadonlyMap<string, string>; stored: PromiseWithResolvers<void> };

export class AgentCalls {
  /** By the located key of the node, then by the key of the call. */
  readonly #stored = new Map<string, Map<string, string>>();
  /** By the located key of the node: bytes that the results of its tools in progress may take. */
  readonly #reserved = new Map<string, number>();
  #writes: Write[] = [];
  #taken: Write[] = [];
  #dropped: string[] = [];

  /** `stored`: the calls that the run store had at the claim, by key. */
  constructor(stored: ReadonlyMap<string, string> = new Map()) {
    for (const [field, value] of stored) {
      const at = field.lastIndexOf('/');
      this.#of(field.slice(0, at)).set(field.slice(at + 1), value);
    }
  }

  /** The stored calls of the node. */
  of(key: string): ReadonlyMap<string, string> {
    return this.#of(key);
  }

  /** Stores calls with the next step. @throws StepError */
  store(key: string, entries: ReadonlyMap<string, string>, reservedBytes: number): Promise<void> {
    const stored = Promise.withResolvers<void>();
    this.#reserved.set(key, reservedBytes);
    this.#writes.push({ key, entries, stored });
    return stored.promise;
  }

  /** The calls to store now. `stored` or `refused` must follow. */
  take(): Advance | undefined {
    if (this.#writes.length === 0) return undefined;
    this.#taken = this.#writes;
    this.#writes = [];
    const calls = this.#taken.flatMap(({ key, entries }) =>
      [...entries].map(
        ([name, value]): AgentCall => ({ key: `${key}/${name}`, value, isAnswer: ANSWER.test(name) }),
      ),
    );
    return { calls };
  }

  /** Bytes that the results of all tools in progress may take. */
  get reservedBytes(): number {
    if (this.#reserved.size === 0) return 0;
    return this.#reserved.values().reduce((sum, bytes) => sum + bytes, 0);
  }

  /** The taken calls are stored: their agents continue. */
  noteStored(): void {
    for (const { key, entries, stored } of this.#taken.splice(0)) {
      for (const [name, value] of entries) this.#of(key).set(name, value);
      stored.resolve();
    }
  }

  /**
   * The run has no room for the taken calls. Agents with an answer among them fail; results are stored again
   * without these.
   */
  noteRefused(limit: string): void {
    for (const write of this.#taken.splice(0)) {
      if (![...write.entries.keys()].some((name) => ANSWER.test(name))) this.#writes.push(write);
      else {
        this.#reserved.delete(write.key);
        write.stored.reject(tooLarge(limit));
      }
    }
  }

  /** The agent has ended: its calls are removed with the next step. */
  drop(key: string): void {
    for (const name of this.#stored.get(key)?.keys() ?? []) this.#dropped.push(`${key}/${name}`);
    this.#stored.delete(key);
    this.#reserved.delete(key);
  }

  /** The keys of calls to remove, removed from this list. */
  takeDropped(): string[] {
    return this.#dropped.splice(0);
  }

  /** The step with these keys was refused. */
  dropAgain(keys: readonly string[] = []): void {
    this.#dropped.push(...keys);
  }

  /** The run is no longer executed: nothing is stored any more. */
  close(): void {
    // Each run gets here, and an error takes longer to create than the rest of its end.
    for (const { stored } of [...this.#taken.splice(0), ...this.#writes.splice(0)])
      stored.reject(new StepError('Cancelled', 'the run is no longer executed here'));
  }

  #of(key: string): Map<string, string> {
    const known = this.#stored.get(key) ?? new Map<string, string>();
    this.#stored.set(key, known);
    return known;
  }
}
