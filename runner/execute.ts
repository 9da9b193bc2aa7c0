/**
 * Executes one claimed run: scheduling passes in memory, each stored before its effects start. If the claim
 * was fenced, the run is dropped. While the run store is unavailable, calls are retried as long as this
 * process lives.
 */
import type { CodeSandbox } from '../nodes/contract/code.ts';
import { readSeen } from '../runs/seen.ts';
import { StepError } from '../api/reasons.ts';
import type { Log } from '../kube/log.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import type { Effect, StepResult } from '../nodes/contract/node.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { createEventWriter } from '../runs/events.ts';
import { handBack } from '../runs/handback.ts';
import type { Advance, Claim, NodeStart, RunEnd, Remembered } from '../runs/types.ts';
import type { VariableValues } from '../runs/variables.ts';
import { attemptStep } from './attempt.ts';
import type { CredentialSource } from './credentials.ts';
import { reportingUses, type OnCredentialUse } from './credentialUse.ts';
import { afterFailure, asStepError } from './failure.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import {
  LONGEST_WAIT_MS,
  awaitRetry,
  endNode,
  endWait,
  openState,
  progressOf,
  release,
  refuseOutputs,
  repeatSeen,
  succeed,
  takeChanges,
  waitsOf,
  type ExecutionState,
} from './executionState.ts';
import type { RunnerMetrics } from './metrics.ts';
import type { Plan } from './plan.ts';
import { decidePass } from './pass.ts';
import { RunWriter } from './writer.ts';

export type ExecutionDeps = {
  /** The namespace of the project. */
  namespace: string;
  conn: RunStoreConnection;
  credentials: CredentialSource;
  /** Called when an attempt uses a credential. */
  onCredentialUse?: OnCredentialUse | undefined;
  egress: Egress;
  /** Executes code. Left out: the installation does not. */
  sandbox?: CodeSandbox | undefined;
  metrics: RunnerMetrics;
  log: Log;
  /** Aborted when the process ends: another runner takes over what is not stored by then. */
  abandon: AbortSignal;
};

/** How the execution of a run ended in this runner. */
export type Conclusion = RunEnd['phase'] | 'parked' | 'fenced' | 'handed-back' | 'abandoned';

/** A run with a shorter wait is not parked. */
const SHORTEST_PARK_MS = 1_000;
const LONGEST_TIMER_MS = 2_147_483_647;

export class RunExecution {
  readonly #deps: ExecutionDeps;
  readonly #claim: Claim;
  readonly #writer: RunWriter;
  readonly #state: ExecutionState;
  #events: ReturnType<typeof createEventWriter>;
  readonly #attempts = new Map<string, AbortController>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** What succeeded nodes remember, to be stored before anything is decided from their outputs. */
  #remembered: Remembered[] = [];
  #wake = Promise.withResolvers<void>();
  #over = false;
  #hasDeadline = false;
  /** How the run ended, once that is stored. */
  end?: RunEnd;

  /** `variables`: those of the project when the run was accepted. */
  constructor(claim: Claim, plan: Plan, deps: ExecutionDeps, variables: VariableValues = {}) {
    this.#deps = deps;
    this.#claim = claim;
    this.#writer = new RunWriter(deps.conn, claim, deps.log);
    this.#state = openState(claim, plan, { namespace: deps.namespace, variables }, Date.now());
    this.#events = createEventWriter(deps.conn, this.#writer.ref);
  }

  /** Cancels the run: stops its attempts, then ends it. */
  cancel(): void {
    const message = 'the run was cancelled';
    this.#halt({ phase: 'Cancelled', reason: 'Cancelled', message }, new StepError('Cancelled', message));
  }

  /** Continues under a new claim of the same run, if the run store lost the claim of this execution. */
  adopt(claim: Claim): boolean {
    if (this.#over || !this.#writer.adopt(claim)) return false;
    this.#events = createEventWriter(this.#deps.conn, this.#writer.ref);
    if (claim.state.cancelRequested) this.cancel();
    this.#wake.resolve();
    return true;
  }

  /** Stops the attempts and hands back the run, because the runner shuts down. */
  stop(): void {
    this.#state.stopping = true;
    this.#stopAttempts(new StepError('Cancelled', 'the runner was stopped'));
    this.#wake.resolve();
  }

  /** Executes until the run has ended or is no longer claimed by this runner. Throws only for defects. */
  async execute(): Promise<Conclusion> {
    if (this.#claim.state.cancelRequested) this.cancel();
    if (this.#claim.remainingMs <= 0) this.#overdue();
    for (const { id, leftMs } of waitsOf(this.#state)) this.#later(leftMs, () => this.#retry(id));
    try {
      return await this.#passes();
    } finally {
      this.#over = true;
      if (this.#attempts.size > 0) this.#stopAttempts(new StepError('Cancelled', 'the run has ended'));
      for (const timer of this.#timers) clearTimeout(timer);
    }
  }

  async #passes(): Promise<Conclusion> {
    for (;;) {
      const step = this.#nextStep() ?? (this.#writer.isBehind ? {} : undefined);
      if (step) {
        const conclusion = await this.#take(step);
        if (conclusion) return conclusion;
      } else if (this.#state.stopping && this.#attempts.size === 0) {
        return await this.#handBack();
      } else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }

  /** What is to be stored now, with the wait of a run in which nothing else is left to do. */
  #nextStep(): Advance | undefined {
    const remember = this.#remembered.splice(0);
    if (remember.length > 0) return { ...takeChanges(this.#state), remember };
    const step = decidePass(this.#state, Date.now());
    for (const start of this.#state.computations.splice(0)) {
      this.#start(start);
      this.#later(LONGEST_WAIT_MS, () => this.#wake.resolve());
    }
    if (this.#attempts.size > 0 || this.#state.stopping || step?.starts || step?.end) return step;
    const parkMs = Math.min(...waitsOf(this.#state).map(({ leftMs }) => leftMs));
    return Number.isFinite(parkMs) && parkMs >= SHORTEST_PARK_MS ? { ...step, parkMs } : step;
  }

  /** Stores one step, then starts the attempts that it marked. */
  async #take(step: Advance): Promise<Conclusion | undefined> {
    // Written first on the same connection, so that the text of a node precedes its end in the event stream.
    if (step.checkpoints) void this.#events.flush();
    const waits = () => waitsOf(this.#state).map(({ id, leftMs }) => ({ id, delayMs: leftMs }));
    const outcome = await retryUntilStored(() => this.#writer.store(step, waits()), this.#deps.abandon);
    if (!outcome) return 'abandoned';
    if (outcome.outcome === 'fenced') return 'fenced';
    if (outcome.outcome === 'seen') {
      for (const id of repeatSeen(this.#state, step))
        this.#start({ id, attempt: progressOf(this.#state, id).tried });
      return undefined;
    }
    if (outcome.outcome === 'too-large') {
      const limit = `${Math.round(outcome.limitBytes / 1024)} KiB`;
      refuseOutputs(this.#state, step, `the output exceeds the limit of a ${outcome.what} (${limit})`);
      return undefined;
    }
    if (step.end) return (this.end = step.end).phase;
    if (outcome.cancelRequested) this.cancel();
    else if (step.parkMs !== undefined) return 'parked';
    for (const start of step.starts ?? []) this.#start(start);
    return undefined;
  }

  async #handBack(): Promise<Conclusion> {
    const outcome = await retryUntilStored(
      () => handBack(this.#deps.conn, this.#writer.ref),
      this.#deps.abandon,
    );
    if (!outcome) return 'abandoned';
    return outcome.outcome === 'fenced' ? 'fenced' : 'handed-back';
  }

  #start({ id, attempt }: Pick<NodeStart, 'id' | 'attempt'>): void {
    const controller = new AbortController();
    this.#attempts.set(id, controller);
    this.#watchDeadline();
    if (this.#state.halt) controller.abort(this.#haltError(this.#state.halt));
    else if (this.#state.stopping) controller.abort(new StepError('Cancelled', 'the runner was stopped'));
    const startedAt = performance.now();
    const end = (conclude: () => void): void => {
      this.#attempts.delete(id);
      if (this.#over) return;
      this.#observe(id, (performance.now() - startedAt) / 1_000);
      conclude();
      this.#wake.resolve();
    };
    this.#attempt(id, attempt, controller.signal).then(
      (result) => end(() => this.#succeed(id, result)),
      (error: unknown) => end(() => this.#fail(id, attempt, error)),
    );
  }

  #succeed(id: string, result: StepResult): void {
    succeed(this.#state, id, result, Date.now());
    const { retryOf, test } = this.#claim.state;
    if (result.remember && !test) this.#remembered.push({ node: id, ...result.remember, retryOf });
  }

  async #isSeen(node: string, keys: readonly string[]): Promise<readonly boolean[]> {
    const { project, workflowUid, run, retryOf } = this.#claim.state;
    const read = () => readSeen(this.#deps.conn, { project, workflowUid, run, retryOf, node }, keys);
    const found = await retryUntilStored(read, this.#deps.abandon);
    if (!found) throw new StepError('Cancelled', 'the runner was stopped');
    return found.seen;
  }

  async #attempt(id: string, attempt: number, stop: AbortSignal): Promise<StepResult> {
    const { state } = this.#claim;
    const planned = this.#state.plan.steps.get(id);
    const { fields } = progressOf(this.#state, id);
    if (!planned || !fields) throw new Error(`node ${id} starts without fields`);
    stop.throwIfAborted();
    const { run, workflow } = state;
    const attempted = { run, workflow, node: id, attempt, fields };
    const { credentials, onCredentialUse, namespace, sandbox } = this.#deps;
    return attemptStep(
      {
        step: planned.step,
        fields,
        effect: planned.effect as Effect,
        effectKey: `${state.project}/${state.run}/${id}/${attempt}`,
        run: {
          name: state.run,
          workflow: state.workflow,
          node: id,
          test: state.test,
          acceptedAt: state.acceptedAt,
          project: namespace,
        },
        credentials: reportingUses(credentials, attempted, onCredentialUse),
        egress: this.#deps.egress,
        isSeen: (keys) => this.#isSeen(id, keys),
        ...(sandbox && { sandbox }),
        emitText: (text) => this.#events.text(id, text),
        log: this.#deps.log,
      },
      stop,
    );
  }

  #fail(id: string, attempt: number, thrown: unknown): void {
    const state = this.#state;
    const error = asStepError(thrown);
    if (error.reason === 'Internal') {
      this.#deps.log.error({ run: this.#claim.state.run, node: id, err: thrown }, 'step failed unexpectedly');
    }
    const { retry } = state.plan.steps.get(id)?.step ?? {
      retry: { limit: 0, initialMs: 0, factor: 1, maxMs: 0 },
    };
    const next = afterFailure(error, attempt, retry);
    if (state.stopping && !state.halt && error.reason === 'Cancelled') release(state, id);
    else if (next.kind === 'end' || state.halt) endNode(state, id, next.end, Date.now());
    else {
      awaitRetry(state, id, next.end, next.delayMs);
      this.#later(next.delayMs, () => this.#retry(id));
    }
  }

  #retry(id: string): void {
    endWait(this.#state, id);
    this.#wake.resolve();
  }

  /** Runs without effects do not need the timer. */
  #watchDeadline(): void {
    if (this.#hasDeadline) return;
    this.#hasDeadline = true;
    this.#later(this.#writer.remainingMs(), () => this.#overdue());
  }

  #overdue(): void {
    const message = `the run took longer than its timeout of ${this.#state.plan.timeoutMs / 1_000} s`;
    const reason = 'RunTimeout';
    this.#halt({ phase: 'Failed', reason, message }, new StepError(reason, message));
  }

  #later(ms: number, then: () => void): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        then();
      },
      Math.min(Math.max(ms, 0), LONGEST_TIMER_MS),
    );
    this.#timers.add(timer);
  }

  #halt(end: RunEnd, why: StepError): void {
    this.#state.halt ??= end;
    this.#stopAttempts(why);
    this.#wake.resolve();
  }

  #haltError({ phase, reason, message = '' }: RunEnd): StepError {
    if (reason === 'RunTimeout') return new StepError('RunTimeout', message);
    return new StepError('Cancelled', phase === 'Cancelled' ? message : 'the run has failed');
  }

  #stopAttempts(why: StepError): void {
    for (const controller of this.#attempts.values()) controller.abort(why);
  }

  #observe(id: string, seconds: number): void {
    const { step } = this.#state.plan.steps.get(id) ?? {};
    if (!step) return;
    this.#deps.metrics.nodeSeconds.observe(
      { kind: step.kind === 'skill' ? step.skill.name : step.kind },
      seconds,
    );
  }
}
