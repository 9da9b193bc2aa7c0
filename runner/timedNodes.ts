/**
 * What executes the nodes of a run that take time: their attempts, the child runs that they wait for, and the
 * budgets of their agents. Many runs have no such node.
 */
import type { EventWriter } from '../runs/events.ts';
import type { AttemptShare } from './attemptLimit.ts';
import { AwaitedChildren } from './awaitedChildren.ts';
import { RunBudget } from './budget.ts';
import type { ExecutionState } from './executionState.ts';
import { type AttemptDeps, NodeAttempts } from './nodeAttempts.ts';
import type { RunWriter } from './writer.ts';

export type TimedNodes = {
  readonly attempts: NodeAttempts;
  readonly children: AwaitedChildren;
  readonly budget: RunBudget;
};

type TimedRun = {
  readonly state: ExecutionState;
  readonly writer: RunWriter;
  readonly share: AttemptShare;
  /** The writer of its live events. */
  readonly events: () => EventWriter;
  /** Takes the run back from a run store that has lost the claim. Returns whether it is executed here. */
  readonly regain: () => Promise<boolean>;
  /** Called when a node has ended or has something to store. */
  readonly wake: () => void;
};

export function createTimedNodes(
  deps: AttemptDeps,
  { state, writer, share, events, regain, wake }: TimedRun,
): TimedNodes {
  const { epoch } = state.claim.state;
  const budget = new RunBudget(deps, { ref: () => writer.ref, epoch, regain });
  const awaited = (): AwaitedChildren => children;
  const attempts = new NodeAttempts(deps, { state, writer, share, awaited, regain, events, budget, wake });
  const children = new AwaitedChildren(deps, state, {
    succeed: (key, result) => attempts.succeed(key, result),
    fail: (key, attempt, error) => attempts.fail(key, attempt, error),
    wake,
  });
  return { attempts, children, budget };
}

/** The run has ended here: attempts are stopped, and ends of nodes no longer count. */
export function closeTimedNodes({ attempts, children }: TimedNodes): void {
  children.close();
  attempts.close();
}
