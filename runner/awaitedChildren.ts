/** The child runs that a run in flight waits for: their ends, and those that the run store may have lost. */
import type { WorkflowStep } from '../api/step.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import { cancelRun } from '../runs/cancel.ts';
import type { ChildResult } from '../runs/types/result.ts';
import { type ChildStore, findResult, resultOfChild } from './childResult.ts';
import { type ExecutionState, locate, progressOf } from './executionState.ts';
import { CHILD_CHECK_MS, continueAgent, untrackChild, watchChildren } from './waits.ts';

/** Until a child whose record could not be read is read again. */
const READ_AGAIN_MS = 10_000;

/** Ends the node of a child. `wake`: called after a child was read, also when no node has ended. */
type NodeEnds = {
  succeed(key: string, result: StepResult): void;
  fail(key: string, attempt: number, error: unknown): void;
  wake(): void;
};

export class AwaitedChildren {
  readonly #store: ChildStore;
  readonly #state: ExecutionState;
  readonly #ends: NodeEnds;
  /** Agents that are executed while they wait for child runs, by key. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  #reads = 0;
  #isClosed = false;

  constructor(store: ChildStore, state: ExecutionState, ends: NodeEnds) {
    this.#store = store;
    this.#state = state;
    this.#ends = ends;
  }

  get isReading(): boolean {
    return this.#reads > 0;
  }

  /**
   * Ends nodes whose child has ended, as the signals of the run show, and continues agents. Returns whether
   * there were any.
   */
  endSignaled(): boolean {
    const { children, signals } = this.#state;
    if (children.size === 0) return false;
    const ended = [...children].flatMap(([key, all]) =>
      all.filter((child) => signals.values.has(child)).map((child) => ({ key, child })),
    );
    for (const { key, child } of ended) this.#end(key, child, signals.values.get(child) as ChildResult);
    return ended.length > 0;
  }

  /** Resolves when a child run of the agent with this key has ended after this call. */
  nextEnd(key: string): Promise<void> {
    const waiting = this.#waiting.get(key) ?? Promise.withResolvers<void>();
    this.#waiting.set(key, waiting);
    return waiting.promise;
  }

  /** Reads the children whose end may be lost. */
  readDoubtful(): void {
    for (const key of this.#state.doubtfulChildren.splice(0)) this.#read(key);
  }

  /** Cancels children whose node has ended before them. */
  cancelAbandoned(): void {
    const { claim, abandonedChildren } = this.#state;
    for (const child of abandonedChildren.splice(0))
      void cancelRun(this.#store.conn, claim.state.project, child);
  }

  /** Children that are still being read end no node any more. */
  close(): void {
    this.#isClosed = true;
  }

  #read(key: string): void {
    for (const child of this.#state.children.get(key) ?? []) this.#readChild(key, child);
  }

  #readChild(key: string, child: string): void {
    const state = this.#state;
    this.#reads += 1;
    const conclude = (result: ChildResult | 'unfinished' | 'unknown'): void => {
      this.#reads -= 1;
      if (!this.#isClosed && state.children.get(key)?.includes(child)) {
        if (typeof result !== 'string') state.signals.values.set(child, result);
        else watchChildren(state, key, result === 'unknown' ? READ_AGAIN_MS : CHILD_CHECK_MS);
      }
      this.#ends.wake();
    };
    void findResult(this.#store, state.claim.state, child).then(conclude);
  }

  #end(key: string, child: string, result: ChildResult): void {
    const state = this.#state;
    const { scope, id } = locate(state, key);
    untrackChild(state, key, child);
    if (state.plan.steps.get(id)?.step.kind === 'agent') {
      if (progressOf(scope, id).awaitsChildren) continueAgent(state, key);
      this.#waiting.get(key)?.resolve();
      this.#waiting.delete(key);
      return;
    }
    state.consumed.push(child);
    try {
      this.#ends.succeed(key, resultOfChild(workflowStepOf(state, id), child, result));
    } catch (error) {
      this.#ends.fail(key, progressOf(scope, id).tried, error);
    }
  }
}

/** The step of a workflow node. Throws for another node. */
export function workflowStepOf({ plan }: ExecutionState, id: string): WorkflowStep {
  const step = plan.steps.get(id)?.step;
  if (step?.kind !== 'workflow') throw new Error(`node ${id} runs no workflow`);
  return step.workflow;
}
