/**
 * Executes one claimed run: scheduling passes in memory, each stored before its effects start. If the claim
 * was fenced, the run is dropped. While the run store is unavailable, calls are retried as long as this
 * process lives.
 */
import { setImmediate } from 'node:timers/promises';
import { StepError } from '../api/reasons.ts';
import type { Log } from '../kube/log.ts';
import type { CodeSandbox } from '../nodes/contract/code.ts';
import type { Effect, StepResult } from '../nodes/contract/node.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import type { StepFields } from '../nodes/step.ts';
import { createEventWriter } from '../runs/events.ts';
import { handBack } from '../runs/handback.ts';
import { readSeen } from '../runs/seen.ts';
import type { Advance, Claim, NodeStart, NodeState, Remembered, Reply, RunEnd } from '../runs/types.ts';
import type { VariableValues } from '../runs/variables.ts';
import type { CallbackSettings } from '../store/callbacks.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { AgentCalls } from './agentCalls.ts';
import { attemptStep, RUNNER_STOPPED, type StoredCalls } from './attempt.ts';
import type { AttemptLimit, AttemptShare } from './attemptLimit.ts';
import { AttemptsInFlight } from './attemptsInFlight.ts';
import { AwaitedChildren, workflowStepOf } from './awaitedChildren.ts';
import { type NodePlace, refuseOutputs, repeatSeen, takeChanges } from './changes.ts';
import { type Called, callWorkflow, outputOfRun, type ReadRecord } from './children.ts';
import { type OnCredentialUse, reportingUses } from './credentialUse.ts';
import type { CredentialSource } from './credentials.ts';
import { type ExecutionState, isInItem, itemOf, locate, progressOf } from './executionState.ts';
import { afterFailure, asStepError } from './failure.ts';
import { reportLoops } from './loopProgress.ts';
import type { RunnerMetrics } from './metrics.ts';
import { decidePass } from './pass.ts';
import type { Plan } from './plan.ts';
import { isInDoubt } from './restoreLost.ts';
import { openState } from './restoreState.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import { mockedNode, mocksOf, mockShown, withModel } from './testing.ts';
import { closeDueSignals, readNewSignals } from './signals.ts';
import { endNode, LONGEST_WAIT_MS, release, succeed } from './transitions.ts';
import { awaitChild, awaitRetry, fireTimers, waitsOf } from './waits.ts';
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

/** The data of a claimed run that its claim does not have. */
type Stored = {
  items?: ReadonlyMap<string, NodeState>;
  calls?: ReadonlyMap<string, string>;
  variables?: VariableValues;
  callbacks?: CallbackSettings | undefined;
};

/** A step to store, and the nodes that wait for what it remembers. */
type Step = Advance & { remembering?: readonly NodePlace[] };

export class RunExecution {
  readonly #deps: ExecutionDeps;
  readonly #claim: Claim;
  readonly #writer: RunWriter;
  readonly #state: ExecutionState;
  #events: ReturnType<typeof createEventWriter>;
  readonly #share: AttemptShare;
  readonly #attempts = new AttemptsInFlight();
  readonly #children: AwaitedChildren;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  /** The seen keys of succeeded nodes, to be stored before anything is decided from their outputs. */
  #remembered: (NodePlace & { remembered: Remembered })[] = [];
  #wake = Promise.withResolvers<void>();
  #over = false;
  /** The reply of the run, for its parent. */
  #reply: Reply | undefined;
  #hasUnreadSignals = false;
  #hasDeadline = false;
  /** How the run ended, once that is stored. */
  end?: RunEnd;

  /**
   * `items`: the stored items of loops in progress. `calls`: the stored calls of agents in progress.
   * `variables`: those of the project when the run was accepted.
   */
  constructor(
    claim: Claim,
    plan: Plan,
    deps: ExecutionDeps,
    { items, calls, variables = {}, callbacks }: Stored = {},
  ) {
    this.#deps = deps;
    this.#claim = claim;
    this.#writer = new RunWriter(deps.conn, claim, deps.log, { items, calls });
    this.#share = deps.attemptLimit.share(() => this.#wake.resolve());
    const context = {
      namespace: deps.namespace,
      variables,
      callbacks,
      attempts: this.#share,
      calls: new AgentCalls(calls),
    };
    this.#state = openState(claim, plan, context, Date.now(), items);
    this.#children = new AwaitedChildren(deps, this.#state, {
      succeed: (key, result) => this.#succeed(key, result),
      fail: (key, attempt, error) => this.#fail(key, attempt, error),
      wake: () => this.#wake.resolve(),
    });
    // A signal between the claim and this moment was announced to nobody.
    const isWaiting = claim.state.nodes.some(({ phase }) => phase === 'Waiting');
    this.#hasUnreadSignals = (isWaiting && plan.hasSignals) || claim.state.signaled !== undefined;
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

  /** Makes the execution read the signals of the run. */
  noteSignal(): void {
    this.#hasUnreadSignals = true;
    this.#wake.resolve();
  }

  /** Stops the attempts and hands back the run, because the runner shuts down. */
  stop(): void {
    this.#state.stopping = true;
    this.#attempts.stopAll(RUNNER_STOPPED);
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
      this.#children.close();
      this.#state.calls.close();
      this.#share.close();
      if (this.#attempts.size > 0) this.#attempts.stopAll(new StepError('Cancelled', 'the run has ended'));
      clearTimeout(this.#timer);
      clearTimeout(this.#deadline);
    }
  }

  async #passes(): Promise<Conclusion> {
    for (;;) {
      // Most runs have none, and would wait for the promise in vain.
      if (this.#hasUnreadSignals || this.#state.timers.size > 0) {
        const lost = await this.#takeSignals();
        if (lost) return lost;
      }
      this.#children.endSignaled();
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

  /** The step to store now. It parks the run if nothing is left to do but to wait. */
  #nextStep(): Step | undefined {
    const remembering = this.#remembered.splice(0);
    if (remembering.length > 0) {
      const remember = remembering.map(({ remembered }) => remembered);
      return { ...takeChanges(this.#state), remember, remembering };
    }
    const calls = this.#state.calls.take();
    if (calls) return calls;
    const step = decidePass(this.#state, Date.now());
    // A loop that has opened again may wait for children whose end is known.
    if (this.#children.endSignaled()) this.#state.hasMore = true;
    this.#attempts.stopExpired(this.#state);
    this.#children.readDoubtful();
    for (const start of this.#state.computations.splice(0)) {
      this.#start(start);
      setTimeout(() => this.#wake.resolve(), LONGEST_WAIT_MS);
    }
    if (this.#attempts.size > 0 || this.#children.isReading || this.#state.stopping || this.#state.hasMore)
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
    step.reservedBytes = this.#state.calls.reservedBytes;
    const outcome = await retryUntilStored(() => this.#writer.store(step, waits()), this.#deps.abandon);
    if (!outcome) return 'abandoned';
    if (outcome.outcome === 'fenced') return 'fenced';
    if (outcome.outcome === 'seen') {
      this.#repeat(step, remembering);
      return undefined;
    }
    if (outcome.outcome === 'too-large') {
      const limit = `${Math.round(outcome.limitBytes / 1024)} KiB`;
      if (step.calls) this.#state.calls.noteRefused(limit);
      else refuseOutputs(this.#state, step, `the output exceeds the limit of a ${outcome.what} (${limit})`);
      return undefined;
    }
    this.#state.calls.noteStored();
    this.#children.cancelAbandoned();
    if (step.end) return (this.end = step.end).phase;
    if (outcome.signaled) this.#hasUnreadSignals = true;
    if (outcome.cancelRequested) this.cancel();
    else if (step.parkMs !== undefined && !outcome.signaled) return 'parked';
    for (const start of step.starts ?? []) this.#start(start);
    return undefined;
  }

  /** Executes nodes again whose keys another run has seen. */
  #repeat(step: Advance, remembering: readonly NodePlace[]): void {
    for (const key of repeatSeen(this.#state, step, remembering)) {
      const { scope, id } = locate(this.#state, key);
      this.#share.resume();
      this.#start({ id: key, attempt: progressOf(scope, id).tried });
    }
  }

  /** Adds to a step the signals that were read, and to the end of a child run its reply. */
  #complete(step: Advance): void {
    this.#reply ??= step.reply;
    if (step.end?.output) step.end = { ...step.end, output: outputOfRun(step.end.output, this.#reply) };
    step.signalsRead = this.#state.signals.version;
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
    const { scope, id } = locate(this.#state, key);
    const stop = this.#attempts.add(this.#state, key, scope);
    this.#watchDeadline();
    const startedAt = performance.now();
    const end = (conclude: () => void): void => {
      this.#attempts.remove(key);
      if (this.#over) return;
      this.#share.release();
      this.#observe(id, (performance.now() - startedAt) / 1_000);
      conclude();
      this.#wake.resolve();
    };
    const isCall = this.#state.plan.steps.get(id)?.step.kind === 'workflow';
    const work = isCall ? this.#call(key, attempt, stop) : this.#attempt(key, attempt, stop);
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
    const step = workflowStepOf(this.#state, id);
    const { fields } = progressOf(scope, id);
    if (!fields) throw new Error(`node ${id} starts without fields`);
    stop.throwIfAborted();
    const mocked = this.#mocked(key, fields);
    if (mocked) return mocked;
    return callWorkflow(this.#deps, {
      parent: this.#claim.state,
      ref: this.#writer.ref,
      node: id,
      step,
      fields,
      item: itemOf(scope),
      effectKey: this.#effectKey(key, attempt),
      isInDoubt: isInDoubt(this.#state, scope, id),
    });
  }

  /** The result of a workflow node, if a mock stands for it. @throws StepError that of the mock */
  #mocked(key: string, fields: StepFields): StepResult | undefined {
    const { id } = locate(this.#state, key);
    const { step } = this.#state.plan.steps.get(id) ?? {};
    if (!step) return undefined;
    this.#noteMock(key, mockShown(mocksOf(this.#claim.state, id), step, fields));
    return mockedNode(this.#claim.state, step, fields);
  }

  #noteMock(key: string, mocked: NodeState['mocked']): void {
    const { scope, id } = locate(this.#state, key);
    if (mocked) scope.progress.set(id, { ...progressOf(scope, id), mocked });
  }

  #effectKey(key: string, attempt: number): string {
    const { project, run, origin } = this.#claim.state;
    return `${project}/${origin ?? run}/${key}/${attempt}`;
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
    const mocks = mocksOf(state, id);
    this.#noteMock(key, mockShown(mocks, planned.step, fields));
    const attempted = { run, workflow, node: id, attempt, fields };
    const { credentials, onCredentialUse, namespace, sandbox } = this.#deps;
    return attemptStep(
      {
        ...withModel(state, planned.step, fields),
        ...(mocks && { mocks }),
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
        ...(planned.hasTools && { calls: this.#callsOf(key, attempt) }),
        ...(sandbox && { sandbox }),
        // The texts of several items would be mixed, and a URL of a callback could be cut into pieces.
        emitText: (text) => isInItem(scope) || this.#state.plan.hasCallbacks || this.#events.text(id, text),
        log: this.#deps.log,
      },
      stop,
    );
  }

  /** The calls of an agent with tools. They are stored also while the run ends. */
  #callsOf(key: string, attempt: number): StoredCalls {
    const { calls } = this.#state;
    return {
      stored: calls.of(key),
      attempt,
      effectKeyOf: (of) => this.#effectKey(key, of),
      store: (entries, reservedBytes) => {
        const stored = calls.store(key, entries, reservedBytes);
        this.#wake.resolve();
        return stored;
      },
      report: (transcript) => {
        const { scope, id } = locate(this.#state, key);
        scope.progress.set(id, { ...progressOf(scope, id), transcript });
      },
    };
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
    // A timer takes less than 25 days.
    const wait = (): void => {
      this.#deadline = setTimeout(
        () => (this.#writer.remainingMs() > 0 ? wait() : this.#overdue()),
        timerMs(this.#writer.remainingMs()),
      );
    };
    wait();
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

  #halt(end: RunEnd, why: StepError): void {
    this.#state.halt ??= end;
    this.#attempts.stopAll(why);
    this.#wake.resolve();
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
