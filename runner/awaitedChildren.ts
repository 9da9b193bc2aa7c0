/** The child runs that a run in flight waits for: their ends, and those that the run store may have lost. */
import type { WorkflowStep } from '../api/step.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import { cancelRun } from '../runs/cancel.ts';
import type { ChildResult } from '../runs/types.ts';
import { type ChildStore, findResult, resultOfChild } from './children.ts';
import { type ExecutionState, locate, progressOf } from './executionState.ts';
import { CHILD_CHECK_MS, watchChild } from './waits.ts';

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

  /** Ends nodes whose child has ended, as the signals of the run show. Returns whether there were any. */
  endSignaled(): boolean {
    if (this.#state.children.size === 0) return false;
    const { values } = this.#state.signals;
    const ended = [...this.#state.children].filter(([, child]) => values.has(child));
    for (const [key, child] of ended) this.#end(key, child, values.get(child) as ChildResult);
    return ended.length > 0;
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
    const state = this.#state;
    const child = state.children.get(key);
    if (child === undefined) return;
    this.#reads += 1;
    const conclude = (result: ChildResult | 'unfinished' | 'unknown'): void => {
      this.#reads -= 1;
      if (!this.#isClosed && state.children.get(key) === child) {
        if (typeof result !== 'string') this.#end(key, child, result);
        else watchChild(state, key, child, result === 'unknown' ? READ_AGAIN_MS : CHILD_CHECK_MS);
      }
      this.#ends.wake();
    };
    void findResult(this.#store, state.claim.state, child).then(conclude);
  }

  #end(key: string, child: string, result: ChildResult): void {
    const { scope, id } = locate(this.#state, key);
    this.#state.children.delete(key);
    this.#state.consumed.push(child);
    try {
      this.#ends.succeed(key, resultOfChild(workflowStepOf(this.#state, id), child, result));
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
