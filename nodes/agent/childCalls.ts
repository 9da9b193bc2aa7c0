/** Calls of tools that run a workflow: starts their child runs, and waits for these. */
import { StepError } from '../../api/reasons.ts';
import { abortion, type AgentCalls, type ChildCalls, type StepResult } from '../contract/node.ts';
import type { WorkflowTool } from './workflowTools.ts';

function childrenOf({ children }: AgentCalls): ChildCalls {
  if (!children) throw new StepError('InvalidParameters', 'workflows cannot be run here');
  return children;
}

/** Starts the child run of a call, or finds the one that it has started before. Returns its name. */
export function startChild(
  { workflow }: WorkflowTool,
  call: { input: unknown; effectKey: string },
  calls: AgentCalls,
): Promise<string> {
  return childrenOf(calls).start({ workflow, ...call });
}

/**
 * The result of a child run; undefined if all calls in progress wait for child runs before it has ended.
 * @throws StepError
 */
export async function resultOfChild(
  { workflow }: WorkflowTool,
  child: string,
  calls: AgentCalls,
  waits: ChildWaits,
): Promise<StepResult | undefined> {
  const children = childrenOf(calls);
  for (;;) {
    if (calls.signal.aborted) throw abortion(calls.signal);
    const result = children.resultOf(workflow, child);
    if (result) return result;
    if (!(await waits.waitFor(child, children.nextEnd()))) return undefined;
  }
}

/** The calls of one answer that wait for child runs, beside those that are executed. */
export class ChildWaits {
  /** The child runs that calls wait for when all others have ended. */
  readonly open = new Set<string>();
  readonly #over = Promise.withResolvers<false>();
  readonly #aborted: Promise<true>;
  #busy: number;
  #isOver = false;

  /** `workers`: how many calls of `work` follow. */
  constructor({ signal }: Pick<AgentCalls, 'signal'>, workers: number) {
    this.#busy = workers;
    const aborted = Promise.withResolvers<true>();
    signal.addEventListener('abort', () => aborted.resolve(true), { once: true });
    this.#aborted = aborted.promise;
  }

  /** All calls in progress wait for child runs: no call starts any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Counts the work as in progress while it does not wait for child runs. */
  async work(work: () => Promise<void>): Promise<void> {
    await work();
    this.#leave();
  }

  /** Waits for the end of a child run. False: all calls in progress wait for child runs. */
  async waitFor(child: string, end: Promise<void>): Promise<boolean> {
    this.open.add(child);
    this.#leave();
    const goesOn = await Promise.race([this.#over.promise, this.#aborted, end.then(() => true)]);
    this.#busy += 1;
    if (goesOn) this.open.delete(child);
    return goesOn;
  }

  #leave(): void {
    this.#busy -= 1;
    if (this.#busy > 0 || this.open.size === 0) return;
    this.#isOver = true;
    this.#over.resolve(false);
  }
}
