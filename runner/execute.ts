/**
 * Executes one claimed run: scheduling passes in memory, each stored before its effects start. If the claim
 * was fenced, the run is dropped. While the run store is unavailable, calls are retried as long as this
 * process lives.
 */
import { setImmediate } from 'node:timers/promises';
import { StepError } from '../api/reasons.ts';
import type { Ender } from '../runs/ender.ts';
import { createEventWriter, type EventWriter } from '../runs/events.ts';
import { handBack } from '../runs/handback.ts';
import type { Advance, TooLarge } from '../runs/types/advance.ts';
import type { Claim } from '../runs/types/claim.ts';
import type { NodeState } from '../runs/types/node.ts';
import type { Reply, RunEnd } from '../runs/types/result.ts';
import type { VariableValues } from '../runs/variables.ts';
import type { CallbackSettings } from '../store/callbacks.ts';
import { AgentCalls } from './agentCalls.ts';
import { RUNNER_STOPPED } from './attempt.ts';
import type { AttemptLimit, AttemptShare } from './attemptLimit.ts';
import { askMemories } from './awaitMemory.ts';
import { type NodePlace, refuseOutputs, repeatSeen, takeChanges } from './changes.ts';
import { explainCancel } from './cancelled.ts';
import type { ExecutionState } from './executionState.ts';
import { reportLoops } from './loopProgress.ts';
import type { AttemptDeps } from './nodeAttempts.ts';
import { decidePass } from './pass.ts';
import type { Plan } from './plan.ts';
import { openState } from './restoreState.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import { outputOfRun } from './runOutput.ts';
import { closeDueSignals, readNewSignals } from './signals.ts';
import { closeTimedNodes, createTimedNodes, type TimedNodes } from './timedNodes.ts';
import { agentMarks, LONGEST_WAIT_MS } from './transitions.ts';
import { fireTimers, waitsOf } from './waits.ts';
import { RunWriter } from './writer.ts';

export type ExecutionDeps = AttemptDeps & {
  /** Bounds the attempts in flight of all runs. */
  attemptLimit: AttemptLimit;
  /** Ends runs together. */
  endTogether: Ender;
};

/** How the execution of a run ended in this runner. */
export type Conclusion = RunEnd['phase'] | 'parked' | 'fenced' | 'handed-back' | 'abandoned';

/** A run with a shorter wait is not parked. */
const SHORTEST_PARK_MS = 1_000;
/** How long a lost message can delay a signal of a run that is not parked. */
const SIGNAL_POLL_MS = 1_000;
const LONGEST_TIMER_MS = 2_147_483_647;

/** The data of a claimed run that its claim does not have. */
export type Stored = {
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
  /** Most runs have none. */
  #events: EventWriter | undefined;
  readonly #share: AttemptShare;
  /** Made for the first node that takes time: runs without one are cheaper. */
  #timed: TimedNodes | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #wake = Promise.withResolvers<void>();
  #over = false;
  /** The reply of the run, for its parent. */
  #reply: Reply | undefined;
  #hasUnreadSignals = false;
  #hasDeadline = false;
  #mustRestate = false;
  /** Resolves with the next step: whether the run is executed here. */
  #regained: PromiseWithResolvers<boolean> | undefined;
  /** Of the current claim. */
  #epoch: number;
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
    this.#epoch = claim.state.epoch;
    const { conn, log, endTogether } = deps;
    this.#writer = new RunWriter(conn, claim, log, { items, calls, isPlain: plan.isPlain, endTogether });
    this.#share = deps.attemptLimit.share(() => this.#wake.resolve());
    const context = {
      namespace: deps.namespace,
      variables,
      callbacks,
      attempts: this.#share,
      calls: new AgentCalls(calls),
      secrets: deps.secrets,
    };
    this.#state = openState(claim, plan, context, Date.now(), items);
    // A signal between the claim and this moment was announced to nobody.
    const isWaiting = claim.state.nodes.some(({ phase }) => phase === 'Waiting');
    this.#hasUnreadSignals = (isWaiting && plan.hasSignals) || claim.state.signaled !== undefined;
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
    this.#events = undefined;
    this.#epoch = claim.state.epoch;
    if (claim.state.cancelRequested) this.cancel();
    this.restate();
    return true;
  }

  /**
   * Stores the run again where the run store has lost the claim or steps of it: a replica was promoted. It
   * may also have lost signals, child runs and rights to memories.
   */
  restate(): void {
    this.#mustRestate = true;
    this.#state.doubtfulChildren.push(...this.#state.children.keys());
    this.noteSignal();
  }

  /** Makes the execution read the signals of the run. */
  noteSignal(): void {
    this.#hasUnreadSignals = true;
    this.#state.memories.askAgain();
    this.#wake.resolve();
  }

  /** Stops the attempts and hands back the run, because the runner shuts down. */
  stop(): void {
    this.#state.stopping = true;
    this.#timed?.attempts.stopAll(RUNNER_STOPPED);
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
      this.#regained?.resolve(false);
      this.#state.calls.close();
      this.#share.close();
      if (this.#timed) closeTimedNodes(this.#timed);
      clearTimeout(this.#timer);
      clearTimeout(this.#deadline);
    }
  }

  async #passes(): Promise<Conclusion> {
    for (;;) {
      // Most runs have none, and would wait for the promise in vain. A claim that was lost comes first.
      if (!this.#mustRestate && (this.#hasUnreadSignals || this.#state.timers.size > 0)) {
        const lost = await this.#takeSignals();
        if (lost) return lost;
      }
      this.#endSignaled();
      this.#askMemories();
      const step = this.#nextStep() ?? (this.#mustRestate || this.#writer.isBehind ? {} : undefined);
      if (step) {
        this.#mustRestate = false;
        const conclusion = await this.#take(step);
        if (conclusion) return conclusion;
        this.#watchDeadline();
      } else if (this.#state.hasMore) {
        this.#watchDeadline();
        await setImmediate();
      } else if (this.#state.stopping && this.#inFlight === 0) {
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
    const remembering = this.#timed?.attempts.takeRemembered();
    if (remembering && remembering.length > 0) {
      const remember = remembering.map(({ remembered }) => remembered);
      return { ...takeChanges(this.#state), remember, remembering };
    }
    const calls = this.#state.calls.take();
    if (calls) return { ...calls, agents: agentMarks(this.#state, calls) };
    const step = decidePass(this.#state, Date.now());
    this.#followPass();
    this.#startComputations();
    this.#askMemories();
    if (this.#inFlight > 0 || this.#isReading || this.#state.stopping || this.#state.hasMore) return step;
    if (step?.starts || step?.end) return step;
    const parkMs = Math.min(...waitsOf(this.#state).map(({ leftMs }) => leftMs));
    return Number.isFinite(parkMs) && parkMs >= SHORTEST_PARK_MS ? this.#parkStep(step, parkMs) : step;
  }

  /** Does what a pass asked for that its step does not store. */
  #followPass(): void {
    const { expired, doubtfulChildren } = this.#state;
    // A loop that has opened again may wait for children whose end is known.
    if (this.#endSignaled()) this.#state.hasMore = true;
    if (expired.length > 0) this.#timedNodes.attempts.stopExpired();
    if (doubtfulChildren.length > 0) this.#timedNodes.children.readDoubtful();
  }

  get #timedNodes(): TimedNodes {
    return (this.#timed ??= createTimedNodes(this.#deps, {
      state: this.#state,
      writer: this.#writer,
      share: this.#share,
      events: () => this.#liveEvents(),
      regain: () => this.#regain(),
      wake: () => this.#wake.resolve(),
    }));
  }

  /** The number of attempts in flight. */
  get #inFlight(): number {
    return this.#timed?.attempts.size ?? 0;
  }

  /** Ends nodes whose child has ended. Returns whether there were any. */
  #endSignaled(): boolean {
    return this.#state.children.size > 0 && this.#timedNodes.children.endSignaled();
  }

  /** Whether an answer of the run store or of the API server is awaited. */
  get #isReading(): boolean {
    return this.#timed?.children.isReading === true || this.#state.memories.isAsking;
  }

  #askMemories(): void {
    if (!this.#state.memories.isUsed) return;
    const wake = () => this.#wake.resolve();
    askMemories(this.#state, () => this.#writer.ref, { ...this.#deps, wake });
  }

  /** Stores a step with the whole state of the run, whose claim the run store may have lost. */
  #regain(): Promise<boolean> {
    if (this.#over) return Promise.resolve(false);
    this.#regained ??= Promise.withResolvers();
    this.#writer.noteFenced();
    this.#wake.resolve();
    return this.#regained.promise;
  }

  #liveEvents(): EventWriter {
    return (this.#events ??= createEventWriter(this.#deps.conn, this.#writer.ref, this.#epoch));
  }

  /** Starts the attempts that need no mark. */
  #startComputations(): void {
    const computations = this.#state.computations.splice(0);
    if (computations.length > 0) this.#watchDeadline();
    for (const start of computations) {
      this.#timedNodes.attempts.start(start);
      setTimeout(() => this.#wake.resolve(), LONGEST_WAIT_MS);
    }
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
    if (step.checkpoints) void this.#events?.flush();
    this.#complete(step);
    step.reservedBytes = this.#state.calls.reservedBytes;
    const outcome = await retryUntilStored(() => this.#store(step), this.#deps.abandon);
    if (!outcome) return 'abandoned';
    if (outcome.outcome === 'fenced') return 'fenced';
    if (outcome.outcome === 'seen') {
      this.#repeat(step, remembering);
      return undefined;
    }
    if (outcome.outcome === 'too-large') {
      this.#refuse(step, outcome);
      return undefined;
    }
    this.#noteStored();
    if (step.end) return (this.end = step.end).phase;
    if (outcome.signaled) this.noteSignal();
    if (outcome.cancelRequested) this.cancel();
    else if (step.parkMs !== undefined && !outcome.signaled) return 'parked';
    for (const start of step.starts ?? []) this.#timedNodes.attempts.start(start);
    return undefined;
  }

  #refuse(step: Advance, { what, limitBytes }: TooLarge): void {
    const limit = `${Math.round(limitBytes / 1024)} KiB`;
    if (step.calls) this.#state.calls.noteRefused(limit);
    else refuseOutputs(this.#state, step, `the output exceeds the limit of a ${what} (${limit})`);
  }

  #noteStored(): void {
    this.#state.calls.noteStored();
    this.#regained?.resolve(true);
    this.#regained = undefined;
    if (this.#state.abandonedChildren.length > 0) this.#timedNodes.children.cancelAbandoned();
  }

  async #store(step: Advance): ReturnType<RunWriter['store']> {
    const budget = this.#timed?.budget;
    if (step.end && budget && !budget.isSettled) await budget.settled();
    if (step.end?.phase === 'Cancelled')
      step.end = await explainCancel(this.#deps.conn, this.#claim.state, step.end);
    const waits = waitsOf(this.#state, { isStored: true });
    return this.#writer.store(
      step,
      waits.map(({ id, leftMs }) => ({ id, delayMs: leftMs })),
    );
  }

  /** Executes nodes again whose keys another run has seen. */
  #repeat(step: Advance, remembering: readonly NodePlace[]): void {
    for (const key of repeatSeen(this.#state, step, remembering)) this.#timedNodes.attempts.repeat(key);
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
    const { signals, children, memories } = this.#state;
    const isAwaiting = signals.awaiting.size > 0 || children.size > 0 || memories.isWaiting;
    if (isAwaiting && leftMs > SIGNAL_POLL_MS)
      this.#timer = setTimeout(() => this.noteSignal(), SIGNAL_POLL_MS);
    else if (Number.isFinite(leftMs)) this.#timer = setTimeout(() => this.#wake.resolve(), timerMs(leftMs));
  }

  #halt(end: RunEnd, why: StepError): void {
    this.#state.halt ??= end;
    this.#timed?.attempts.stopAll(why);
    this.#wake.resolve();
  }
}

function timerMs(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_TIMER_MS);
}
