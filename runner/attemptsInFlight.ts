/** The attempts in flight of one run, and how each is stopped. */
import { StepError } from '../api/reasons.ts';
import type { RunEnd } from '../runs/types/result.ts';
import { RUNNER_STOPPED } from './attempt.ts';
import type { ExecutionState, ScopeState } from './executionState.ts';

type Attempt = { scope: ScopeState; controller: AbortController };

export class AttemptsInFlight {
  readonly #attempts = new Map<string, Attempt>();

  get size(): number {
    return this.#attempts.size;
  }

  /** Adds an attempt. The returned signal stops it, and is already aborted if the run has to stop. */
  add(state: ExecutionState, key: string, scope: ScopeState): AbortSignal {
    const controller = new AbortController();
    this.#attempts.set(key, { scope, controller });
    const why = reasonToStop(state, scope);
    if (why) controller.abort(why);
    return controller.signal;
  }

  remove(key: string): void {
    this.#attempts.delete(key);
  }

  stopAll(why: StepError): void {
    for (const { controller } of this.#attempts.values()) controller.abort(why);
  }

  /** Stops the attempts in groups whose timeout has passed since the last call. */
  stopExpired(state: ExecutionState): void {
    for (const expired of state.expired) {
      const why = new StepError('Timeout', expired.failure?.message ?? 'the group took too long');
      for (const { scope, controller } of this.#attempts.values())
        if (isWithin(scope, expired)) controller.abort(why);
    }
    state.expired = [];
  }
}

function reasonToStop({ halt, stopping }: ExecutionState, { failure }: ScopeState): StepError | undefined {
  if (halt) return haltError(halt);
  if (stopping) return RUNNER_STOPPED;
  return failure?.reason === 'Timeout' ? new StepError('Timeout', failure.message) : undefined;
}

function haltError({ phase, reason, message = '' }: RunEnd): StepError {
  if (reason === 'RunTimeout') return new StepError('RunTimeout', message);
  return new StepError('Cancelled', phase === 'Cancelled' ? message : 'the run has failed');
}

/** Whether the scope is the other one, or part of it. */
function isWithin(scope: ScopeState, other: ScopeState): boolean {
  for (let at: ScopeState | undefined = scope; at; at = at.parent) if (at === other) return true;
  return false;
}
