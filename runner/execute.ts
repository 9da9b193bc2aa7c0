/**
 * Executes one claimed run: scheduling passes in memory, each stored before its effects start. If the claim
 * was fenced, the run is dropped. While the run store is unavailable, calls are retried as long as this
 * process lives.
 */
import { setImmediate } from 'node:timers/promises';
import { StepError } from '../api/reasons.ts';
import type { WorkflowStep } from '../api/step.ts';
import type { Log } from '../kube/log.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import type { CodeSandbox } from '../nodes/contract/code.ts';
import type { Effect, StepResult } from '../nodes/contract/node.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { cancelRun } from '../runs/cancel.ts';
import { createEventWriter } from '../runs/events.ts';
import { handBack } from '../runs/handback.ts';
import { readSeen } from '../runs/seen.ts';
import type {
  Advance,
  ChildResult,
  Claim,
  NodeStart,
  NodeState,
  Remembered,
  Reply,
  RunEnd,
} from '../runs/types.ts';
import type { VariableValues } from '../runs/variables.ts';
import { attemptStep } from './attempt.ts';
import {
  callWorkflow,
  findResult,
  outputOfRun,
  resultOfChild,
  type Called,
  type ReadRecord,
} from './children.ts';
import type { AttemptLimit, AttemptShare } from './attemptLimit.ts';
import type { CredentialSource } from './credentials.ts';
import { reportingUses, type OnCredentialUse } from './credentialUse.ts';
import { afterFailure, asStepError } from './failure.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import {
  CHILD_CHECK_MS,
  LONGEST_WAIT_MS,
  awaitChild,
  awaitRetry,
  endNode,
  fireTimers,
  isInItem,
  locate,
  progressOf,
  release,
  refuseOutputs,
  repeatSeen,
  succeed,
  takeChanges,
  waitsOf,
  watchChild,
  type ExecutionState,
  type NodePlace,
  type ScopeState,
} from './executionState.ts';
import { reportLoops } from './loop.ts';
import type { RunnerMetrics } from './metrics.ts';
import type { CallbackSettings } from '../store/callbacks.ts';
import { closeDueSignals, readNewSignals } from './callback.ts';
import type { Plan } from './plan.ts';
import { decidePass } from './pass.ts';
import { openState } from './restoreState.ts';
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
  /** Reads records of child runs. Left out: there are none. */
  readRecord?: ReadRecord | undefined;
  metrics: RunnerMetrics;
  log: Log;
  /** Bounds the attempts in flight of all runs. */
  attemptLimit: AttemptLimit;
  /** Aborted when the process ends: another runner takes over what is not stored by then. */
  abandon: AbortSignal;
};

/** How the execution of a run ended in this runner. */
export type Conclusion = RunEnd['phase'] | 'parked' | 'fenced' | 'handed-back' | 'abandoned';

/** A run with a shorter wait is not parked. */
const SHORTEST_PARK_MS = 1_000;
/** How long a lost message can delay a signal of a run that is not parked. */
const SIGNAL_POLL_MS = 1_000;
const LONGEST_TIMER_MS = 2_147_483_647;
/** Until a child whose record could not be read is read again. */
const READ_CHILD_AGAIN_MS = 10_000;

/** What the run store holds for a claimed run. */
type Stored = {
  items?: ReadonlyMap<string, NodeState>;
  variables?: VariableValues;
  callbacks?: CallbackSettings | undefined;
};

/** A step to store, and the nodes that wait for what it remembers. */
type Step = Advance & { remembering?: readonly NodePlace[] };

/** An attempt in progress. */
type Attempt = { scope: ScopeState; id: string; controller: AbortController };

export class RunExecution {
  readonly #deps: ExecutionDeps;
  readonly #claim: Claim;
  readonly #writer: RunWriter;
  readonly #state: ExecutionState;
  #events: ReturnType<typeof createEventWriter>;
  readonly #share: AttemptShare;
  readonly #attempts = new Map<string, Attempt>();
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  /** What succeeded nodes remember, to be stored before anything is decided from their outputs. */
  #remembered: (NodePlace & { remembered: Remembered })[] = [];
  #wake = Promise.withResolvers<void>();
  #over = false;
  /** How many children are being read. */
  #childReads = 0;
  /** The reply of the run, for its parent. */
  #reply: Reply | undefined;
  #hasUnreadSignals = false;
  #hasDeadline = false;
  /** How the run ended, once that is stored. */
  end?: RunEnd;

  /**
   * `items`: what the run store holds of the items of loops in progress. `variables`: those of the project
   * when the run was accepted.
   */
  constructor(
    claim: Claim,
    plan: Plan,
    deps: ExecutionDeps,
    { items, variables = {}, callbacks }: Stored = {},
  ) {
    this.#deps = deps;
    this.#claim = claim;
    this.#writer = new RunWriter(deps.conn, claim, deps.log, items?.values());
    this.#share = deps.attemptLimit.share(() => this.#wake.resolve());
    const context = { namespace: deps.namespace, variables, callbacks, attempts: this.#share };
    this.#state = openState(claim, plan, context, Date.now(), items);
    // A signal between the claim and this moment was announced to nobody.
    const isWaiting = claim.state.nodes.some(({ phase }) => phase === 'Waiting');
    this.#hasUnreadSignals = isWaiting || claim.state.signaled !== undefined;
    this.#events = createEventWriter(deps.conn, this.#writer.ref);
    this.#reply = claim.state.reply;
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
    // The run store may have lost signals.
    this.#hasUnreadSignals = true;
    this.#state.doubtfulChildren.push(...this.#state.children.keys());
    this.#wake.resolve();
    return true;
  }

  /** Has the execution read the signals of the run. */
  noteSignal(): void {
    this.#hasUnreadSignals = true;
    this.#wake.resolve();
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
    try {
      return await this.#passes();
    } finally {
      this.#over = true;
      this.#share.close();
      if (this.#attempts.size > 0) this.#stopAttempts(new StepError('Cancelled', 'the run has ended'));
      clearTimeout(this.#timer);
      clearTimeout(this.#deadline);
    }
  }

  async #passes(): Promise<Conclusion> {
    for (;;) {
      const lost = await this.#takeSignals();
      if (lost) return lost;
      this.#endChildren();
      const step = this.#nextStep() ?? (this.#writer.isBehind ? {} : undefined);
      if (step) {
        const conclusion = await this.#take(step);
        if (conclusion) return conclusion;
        this.#watchDeadline();
      } else if (this.#state.hasMore) {
        this.#watchDeadline();
        await setImmediate();
      } else if (this.#state.stopping && this.#attempts.size === 0) {
        return await this.#handBack();
      } else {
        this.#watchDeadline();
        this.#setTimer();
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }

  /** Reads signals that are unread, and ends the waits whose time has passed. */
  async #takeSignals(): Promise<Conclusion | undefined> {
    const { conn, abandon } = this.#deps;
    if (this.#hasUnreadSignals) {
      this.#hasUnreadSignals = false;
      if (!(await readNewSignals(conn, this.#writer.ref, this.#state, abandon))) return 'abandoned';
    }
    fireTimers(this.#state);
    return closeDueSignals(conn, this.#writer.ref, this.#state, abandon);
  }

  /** What is to be stored now, with the wait of a run in which nothing else is left to do. */
  #nextStep(): Step | undefined {
    const remembering = this.#remembered.splice(0);
    if (remembering.length > 0) {
      const remember = remembering.map(({ remembered }) => remembered);
      return { ...takeChanges(this.#state), remember, remembering };
    }
    const step = decidePass(this.#state, Date.now());
    // A loop that has opened again may wait for children whose end is known.
    if (this.#endChildren()) this.#state.hasMore = true;
    this.#stopExpired();
    for (const key of this.#state.doubtfulChildren.splice(0)) this.#readChild(key);
    for (const start of this.#state.computations.splice(0)) {
      this.#start(start);
      setTimeout(() => this.#wake.resolve(), LONGEST_WAIT_MS);
    }
    if (this.#attempts.size > 0 || this.#childReads > 0 || this.#state.stopping || this.#state.hasMore)
      return step;
    if (step?.starts || step?.end) return step;
    const parkMs = Math.min(...waitsOf(this.#state).map(({ leftMs }) => leftMs));
    return Number.isFinite(parkMs) && parkMs >= SHORTEST_PARK_MS ? this.#parkStep(step, parkMs) : step;
  }

  #parkStep(step: Step | undefined, parkMs: number): Step {
    reportLoops(this.#state, Date.now());
    const { checkpoints = [] } = takeChanges(this.#state);
    const all = [...(step?.checkpoints ?? []), ...checkpoints];
    return { ...step, ...(all.length > 0 && { checkpoints: all }), parkMs };
  }

  /** Stores one step, then starts the attempts that it marked. */
  async #take({ remembering = [], ...step }: Step): Promise<Conclusion | undefined> {
    // Written first on the same connection, so that the text of a node precedes its end in the event stream.
    if (step.checkpoints) void this.#events.flush();
    const waits = () =>
      waitsOf(this.#state, { isStored: true }).map(({ id, leftMs }) => ({ id, delayMs: leftMs }));
    this.#complete(step);
    const outcome = await retryUntilStored(() => this.#writer.store(step, waits()), this.#deps.abandon);
    if (!outcome) return 'abandoned';
    if (outcome.outcome === 'fenced') return 'fenced';
    if (outcome.outcome === 'seen') {
      for (const key of repeatSeen(this.#state, step, remembering)) {
        const { scope, id } = locate(this.#state, key);
        this.#share.resume();
        this.#start({ id: key, attempt: progressOf(scope, id).tried });
      }
      return undefined;
    }
    if (outcome.outcome === 'too-large') {
      const limit = `${Math.round(outcome.limitBytes / 1024)} KiB`;
      refuseOutputs(this.#state, step, `the output exceeds the limit of a ${outcome.what} (${limit})`);
      return undefined;
    }
    this.#cancelAbandoned();
    if (step.end) return (this.end = step.end).phase;
    if (outcome.signaled) this.#hasUnreadSignals = true;
    if (outcome.cancelRequested) this.cancel();
    else if (step.parkMs !== undefined && !outcome.signaled) return 'parked';
    for (const start of step.starts ?? []) this.#start(start);
    return undefined;
  }

  /** Adds to a step the signals that were read, and to the end of a child run its reply. */
  #complete(step: Advance): void {
    this.#reply ??= step.reply;
    if (step.end?.output) step.end = { ...step.end, output: outputOfRun(step.end.output, this.#reply) };
    step.signalsRead = this.#state.signals.version;
  }

  /** Cancels children whose node has ended before them. */
  #cancelAbandoned(): void {
    const { conn } = this.#deps;
    for (const child of this.#state.abandonedChildren.splice(0))
      void cancelRun(conn, this.#claim.state.project, child);
  }

  async #handBack(): Promise<Conclusion> {
    const outcome = await retryUntilStored(
      () => handBack(this.#deps.conn, this.#writer.ref),
      this.#deps.abandon,
    );
    if (!outcome) return 'abandoned';
    return outcome.outcome === 'fenced' ? 'fenced' : 'handed-back';
  }

  #start({ id: key, attempt }: Pick<NodeStart, 'id' | 'attempt'>): void {
    const controller = new AbortController();
    const { scope, id } = locate(this.#state, key);
    this.#attempts.set(key, { scope, id, controller });
    this.#watchDeadline();
    if (this.#state.halt) controller.abort(this.#haltError(this.#state.halt));
    else if (this.#state.stopping) controller.abort(new StepError('Cancelled', 'the runner was stopped'));
    if (scope.failure?.reason === 'Timeout')
      controller.abort(new StepError('Timeout', scope.failure.message));
    const startedAt = performance.now();
    const end = (conclude: () => void): void => {
      this.#attempts.delete(key);
      if (this.#over) return;
      this.#share.release();
      this.#observe(id, (performance.now() - startedAt) / 1_000);
      conclude();
      this.#wake.resolve();
    };
    const isCall = this.#state.plan.steps.get(id)?.step.kind === 'workflow';
    const work = isCall
      ? this.#call(key, attempt, controller.signal)
      : this.#attempt(key, attempt, controller.signal);
    work.then(
      (result) =>
        end(() => {
          if ('child' in result) awaitChild(this.#state, key, result.child, result.isKnown);
          else this.#succeed(key, result);
        }),
      (error: unknown) => end(() => this.#fail(key, attempt, error)),
    );
  }

  /** Starts the child run of a workflow node. */
  async #call(key: string, attempt: number, stop: AbortSignal): Promise<Called> {
    const { scope, id } = locate(this.#state, key);
    const step = this.#workflowStep(id);
    const { fields } = progressOf(scope, id);
    if (!fields) throw new Error(`node ${id} starts without fields`);
    stop.throwIfAborted();
    return callWorkflow(this.#deps, {
      parent: this.#claim.state,
      ref: this.#writer.ref,
      node: id,
      step,
      fields,
      effectKey: this.#effectKey(key, attempt),
      ownKey: `${this.#claim.state.project}/${this.#claim.state.run}/${key}/${attempt}`,
    });
  }

  #workflowStep(id: string): WorkflowStep {
    const step = this.#state.plan.steps.get(id)?.step;
    if (step?.kind !== 'workflow') throw new Error(`node ${id} runs no workflow`);
    return step.workflow;
  }

  #effectKey(key: string, attempt: number): string {
    const { project, run, origin } = this.#claim.state;
    return `${project}/${origin ?? run}/${key}/${attempt}`;
  }

  /** Ends the nodes whose child has ended, as the signals of the run say. Returns whether there were any. */
  #endChildren(): boolean {
    const { values } = this.#state.signals;
    const ended = [...this.#state.children].filter(([, child]) => values.has(child));
    for (const [key, child] of ended) this.#endChild(key, child, values.get(child) as ChildResult);
    return ended.length > 0;
  }

  #endChild(key: string, child: string, result: ChildResult): void {
    const { scope, id } = locate(this.#state, key);
    this.#state.children.delete(key);
    this.#state.consumed.push(child);
    try {
      this.#succeed(key, resultOfChild(this.#workflowStep(id), child, result));
    } catch (error) {
      this.#fail(key, progressOf(scope, id).tried, error);
    }
  }

  #readChild(key: string): void {
    const state = this.#state;
    const child = state.children.get(key);
    if (child === undefined) return;
    this.#childReads += 1;
    const conclude = (result: ChildResult | 'unfinished' | 'unknown'): void => {
      this.#childReads -= 1;
      if (!this.#over && state.children.get(key) === child) {
        if (typeof result !== 'string') this.#endChild(key, child, result);
        else watchChild(state, key, child, result === 'unknown' ? READ_CHILD_AGAIN_MS : CHILD_CHECK_MS);
      }
      this.#wake.resolve();
    };
    void findResult(this.#deps, this.#claim.state, child).then(conclude);
  }

  #succeed(key: string, result: StepResult): void {
    const { scope, id } = locate(this.#state, key);
    succeed(this.#state, key, result, Date.now());
    const { retryOf, test } = this.#claim.state;
    if (!result.remember || test) return;
    this.#remembered.push({ scope, id, remembered: { node: id, ...result.remember, retryOf } });
  }

  async #isSeen(node: string, keys: readonly string[]): Promise<readonly boolean[]> {
    const { project, workflowUid, run, retryOf } = this.#claim.state;
    const read = () => readSeen(this.#deps.conn, { project, workflowUid, run, retryOf, node }, keys);
    const found = await retryUntilStored(read, this.#deps.abandon);
    if (!found) throw new StepError('Cancelled', 'the runner was stopped');
    return found.seen;
  }

  async #attempt(key: string, attempt: number, stop: AbortSignal): Promise<StepResult> {
    const { state } = this.#claim;
    const { scope, id } = locate(this.#state, key);
    const planned = this.#state.plan.steps.get(id);
    const { fields } = progressOf(scope, id);
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
        effectKey: this.#effectKey(key, attempt),
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
        // The texts of several items would be mixed, and a URL of a callback could be cut into pieces.
        emitText: (text) => isInItem(scope) || this.#state.plan.hasCallbacks || this.#events.text(id, text),
        log: this.#deps.log,
      },
      stop,
    );
  }

  #fail(key: string, attempt: number, thrown: unknown): void {
    const state = this.#state;
    const { scope, id } = locate(state, key);
    const error = asStepError(thrown);
    if (error.reason === 'Internal') {
      this.#deps.log.error({ run: this.#claim.state.run, node: id, err: thrown }, 'step failed unexpectedly');
    }
    const { retry } = state.plan.steps.get(id)?.step ?? {
      retry: { limit: 0, initialMs: 0, factor: 1, maxMs: 0 },
    };
    const next = afterFailure(error, attempt, retry);
    if (state.stopping && !state.halt && error.reason === 'Cancelled') release(state, key);
    else if (next.kind === 'end' || state.halt || scope.failure) endNode(state, key, next.end, Date.now());
    else awaitRetry(state, key, next.end, next.delayMs);
  }

  /** A run that ends in its first pass does not need the timer. */
  #watchDeadline(): void {
    if (this.#hasDeadline) return;
    this.#hasDeadline = true;
    this.#deadline = setTimeout(() => this.#overdue(), timerMs(this.#writer.remainingMs()));
  }

  #overdue(): void {
    const message = `the run took longer than its timeout of ${this.#state.plan.timeoutMs / 1_000} s`;
    const reason = 'RunTimeout';
    this.#halt({ phase: 'Failed', reason, message }, new StepError(reason, message));
  }

  /** Wakes the execution when the next timer of the run is due. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    const leftMs = Math.min(...waitsOf(this.#state).map((wait) => wait.leftMs));
    const isAwaiting = this.#state.signals.awaiting.size > 0 || this.#state.children.size > 0;
    if (isAwaiting && leftMs > SIGNAL_POLL_MS)
      this.#timer = setTimeout(() => this.noteSignal(), SIGNAL_POLL_MS);
    else if (Number.isFinite(leftMs)) this.#timer = setTimeout(() => this.#wake.resolve(), timerMs(leftMs));
  }

  /** Stops the attempts in groups whose timeout has passed. */
  #stopExpired(): void {
    for (const expired of this.#state.expired) {
      const why = new StepError('Timeout', expired.failure?.message ?? 'the group took too long');
      for (const { scope, controller } of this.#attempts.values())
        if (isWithin(scope, expired)) controller.abort(why);
    }
    this.#state.expired = [];
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
    for (const { controller } of this.#attempts.values()) controller.abort(why);
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

function timerMs(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_TIMER_MS);
}

/** Whether the scope is the other one, or part of it. */
function isWithin(scope: ScopeState, other: ScopeState): boolean {
  for (let at: ScopeState | undefined = scope; at; at = at.parent) if (at === other) return true;
  return false;
}
