/**
 * Starts the attempts of a run's nodes, and notes in its state how each ends. An end after the run has ended
 * here is ignored.
 */
import { limitOfBudget } from '../api/budget.ts';
import { mayHoldCallbackURL, withoutCallbackURLs } from '../api/callback.ts';
import type { PriceTable } from '../api/price.ts';
import { StepError } from '../api/reasons.ts';
import type { AgentStep } from '../api/step.ts';
import type { Log } from '../kube/log.ts';
import { roundsOf } from '../nodes/agent/rounds.ts';
import { sumOfUsage } from '../nodes/agent/usage.ts';
import type { StepBudget } from '../nodes/contract/budget.ts';
import type { CodeSandbox } from '../nodes/contract/code.ts';
import { AwaitsChildren, type Effect, type StepResult } from '../nodes/contract/node.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import type { StepFields } from '../nodes/step.ts';
import type { EventWriter } from '../runs/events.ts';
import { readSeen } from '../runs/seen.ts';
import type { Remembered } from '../runs/types/advance.ts';
import type { NodeStart, NodeState } from '../runs/types/node.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { childCallsOf } from './agentChildren.ts';
import { attemptStep, type StoredCalls } from './attempt.ts';
import type { AttemptShare } from './attemptLimit.ts';
import { AttemptsInFlight } from './attemptsInFlight.ts';
import { type AwaitedChildren, workflowStepOf } from './awaitedChildren.ts';
import type { NodePlace } from './changes.ts';
import type { RunBudget } from './budget.ts';
import { type Called, callWorkflow } from './callWorkflow.ts';
import type { ReadRecord } from './childResult.ts';
import { type OnCredentialUse, reportingUses } from './credentialUse.ts';
import type { CredentialSource } from './credentials.ts';
import { type ExecutionState, isInItem, itemOf, locate, progressOf } from './executionState.ts';
import { afterFailure, asStepError } from './failure.ts';
import { type LoadedSecrets, notingSecrets } from './loadedSecrets.ts';
import type { RunnerMetrics } from './metrics.ts';
import { isInDoubt } from './restoreLost.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import { noteSent } from './sent.ts';
import { mockedNode, mocksOf, mockShown, withModel } from './testRun.ts';
import { endNode, noteChildInDoubt, release, succeed } from './transitions.ts';
import { awaitChild, awaitChildren, awaitRetry } from './waits.ts';
import type { RunWriter } from './writer.ts';

export type AttemptDeps = {
  /** The namespace of the project. */
  namespace: string;
  conn: RunStoreConnection;
  credentials: CredentialSource;
  /** Called when an attempt uses a credential. */
  onCredentialUse?: OnCredentialUse | undefined;
  /** The secrets that steps have used. */
  secrets: LoadedSecrets;
  egress: Egress;
  /** Executes code. Left out: the installation does not. */
  sandbox?: CodeSandbox | undefined;
  /** Reads records of child runs. Left out: there are none. */
  readRecord?: ReadRecord | undefined;
  /** The prices of models. Left out: none is known. */
  prices?: PriceTable | undefined;
  metrics: RunnerMetrics;
  log: Log;
  /** Aborted when the process ends: another runner takes over what is not stored by then. */
  abandon: AbortSignal;
};

/** The run whose nodes are attempted. */
type AttemptedRun = {
  readonly state: ExecutionState;
  readonly writer: RunWriter;
  readonly share: AttemptShare;
  /** The child runs that its nodes wait for. */
  awaited(): AwaitedChildren;
  /** What its agents may use. */
  readonly budget: RunBudget;
  /** Takes the run back from a run store that has lost the claim. Returns whether it is executed here. */
  regain(): Promise<boolean>;
  /** The writer of its live events. */
  events(): EventWriter;
  /** Called when an attempt has ended or has calls to store. */
  wake(): void;
};

/** A node with the key that it remembers. */
type Remembering = NodePlace & { remembered: Remembered };

export class NodeAttempts {
  readonly #deps: AttemptDeps;
  readonly #run: AttemptedRun;
  readonly #state: ExecutionState;
  /** See `#mayHaveURLs`. */
  #hasURLs: boolean | undefined;
  readonly #inFlight = new AttemptsInFlight();
  /** The seen keys of succeeded nodes, to be stored before anything is decided from their outputs. */
  readonly #remembered: Remembering[] = [];
  #isClosed = false;

  constructor(deps: AttemptDeps, run: AttemptedRun) {
    this.#deps = deps;
    this.#run = run;
    this.#state = run.state;
  }

  /** Texts of the run may have URLs of callbacks: of its own, or from its input. Only agents ask. */
  get #mayHaveURLs(): boolean {
    const { plan, claim } = this.#state;
    return (this.#hasURLs ??= plan.hasCallbacks || mayHoldCallbackURL(claim.state.input));
  }

  /** The number of attempts in flight. */
  get size(): number {
    return this.#inFlight.size;
  }

  /** Starts an attempt of a node whose start mark is stored, or that needs none. */
  start({ id: key, attempt }: Pick<NodeStart, 'id' | 'attempt'>): void {
    const { scope, id } = locate(this.#state, key);
    const stop = this.#inFlight.add(this.#state, key, scope);
    const startedAt = performance.now();
    const end = (conclude: () => void): void => {
      this.#inFlight.remove(key);
      if (this.#isClosed) return;
      this.#run.share.release();
      this.#observe(id, (performance.now() - startedAt) / 1_000);
      // The record shows one item of a loop, which is known when the loop is reported.
      if (!isInItem(scope)) noteSent(this.#state, scope, id);
      conclude();
      this.#run.wake();
    };
    const isCall = this.#state.plan.steps.get(id)?.step.kind === 'workflow';
    const work = isCall ? this.#call(key, attempt, stop) : this.#attempt(key, attempt, stop);
    work.then(
      (result) =>
        end(() => {
          if ('child' in result) awaitChild(this.#state, key, result.child, result.isKnown);
          else this.succeed(key, result);
        }),
      (error: unknown) =>
        end(() => {
          if (error instanceof AwaitsChildren) awaitChildren(this.#state, key, error.children);
          else this.fail(key, attempt, error);
        }),
    );
  }

  /** Starts the attempt of a node once more whose key another run has seen. */
  repeat(key: string): void {
    const { scope, id } = locate(this.#state, key);
    this.#run.share.resume();
    this.start({ id: key, attempt: progressOf(scope, id).tried });
  }

  stopAll(why: StepError): void {
    this.#inFlight.stopAll(why);
  }

  /** Stops the attempts in groups whose timeout has passed since the last call. */
  stopExpired(): void {
    this.#inFlight.stopExpired(this.#state);
  }

  /** The nodes whose keys the next step has to store. */
  takeRemembered(): Remembering[] {
    return this.#remembered.splice(0);
  }

  /** The run has ended here: stops the attempts, whose ends no longer count. */
  close(): void {
    this.#isClosed = true;
    if (this.size > 0) this.stopAll(new StepError('Cancelled', 'the run has ended'));
  }

  /** Ends a node with its result. */
  succeed(key: string, result: StepResult): void {
    const { scope, id } = locate(this.#state, key);
    succeed(this.#state, key, result, Date.now());
    const { retryOf, test } = this.#state.claim.state;
    if (!result.remember || test) return;
    this.#remembered.push({ scope, id, remembered: { node: id, ...result.remember, retryOf } });
  }

  /** Ends a node with an error, or waits for its next attempt. */
  fail(key: string, attempt: number, thrown: unknown): void {
    const state = this.#state;
    const { scope, id } = locate(state, key);
    const error = asStepError(thrown);
    if (error.reason === 'Internal') {
      this.#deps.log.error({ run: state.claim.state.run, node: id, err: thrown }, 'step failed unexpectedly');
    }
    if (error.reason === 'ChildFailed' && !error.retryable) noteChildInDoubt(state, key);
    const { retry } = state.plan.steps.get(id)?.step ?? {
      retry: { limit: 0, initialMs: 0, factor: 1, maxMs: 0 },
    };
    const next = afterFailure(error, attempt, retry);
    if (state.stopping && !state.halt && error.reason === 'Cancelled') release(state, key);
    else if (next.kind === 'end' || state.halt || scope.failure) endNode(state, key, next.end, Date.now());
    else awaitRetry(state, key, next.end, next.delayMs);
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
      parent: this.#state.claim.state,
      ref: () => this.#run.writer.ref,
      regain: () => this.#run.regain(),
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
    const { claim, plan } = this.#state;
    const { step } = plan.steps.get(id) ?? {};
    if (!step) return undefined;
    this.#noteMock(key, mockShown(mocksOf(claim.state, id), step, fields));
    return mockedNode(claim.state, step, fields);
  }

  #noteMock(key: string, mocked: NodeState['mocked']): void {
    const { scope, id } = locate(this.#state, key);
    if (mocked) scope.progress.set(id, { ...progressOf(scope, id), mocked });
  }

  #effectKey(key: string, attempt: number): string {
    const { project, run, origin } = this.#state.claim.state;
    return `${project}/${origin ?? run}/${key}/${attempt}`;
  }

  async #attempt(key: string, attempt: number, stop: AbortSignal): Promise<StepResult> {
    const { state } = this.#state.claim;
    const { scope, id } = locate(this.#state, key);
    const planned = this.#state.plan.steps.get(id);
    const { fields } = progressOf(scope, id);
    if (!planned || !fields) throw new Error(`node ${id} starts without fields`);
    stop.throwIfAborted();
    const { run, workflow } = state;
    const mocks = mocksOf(state, id);
    this.#noteMock(key, mockShown(mocks, planned.step, fields));
    const attempted = { run, workflow, node: id, attempt, fields };
    const { credentials, secrets, onCredentialUse, namespace, sandbox } = this.#deps;
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
        credentials: notingSecrets(reportingUses(credentials, attempted, onCredentialUse), secrets),
        egress: this.#deps.egress,
        isSeen: (keys) => this.#isSeen(id, keys),
        ...(planned.step.kind === 'agent' && { budget: this.#budgetOf(key, planned.step.agent) }),
        ...(planned.hasTools && { calls: this.#callsOf(key, attempt) }),
        ...(planned.memory && { memory: this.#state.memories.of(key) }),
        ...(sandbox && { sandbox }),
        // The texts of several items would be mixed, and a URL of a callback could be cut into pieces.
        emitText: (text, call) => {
          if (!isInItem(scope) && !this.#mayHaveURLs) this.#run.events().text(id, text, call);
        },
        beginText: (position) => this.#run.events().beginText(id, position),
        log: this.#deps.log,
      },
      stop,
    );
  }

  #budgetOf(key: string, { budget }: AgentStep): StepBudget {
    const { scope, id } = locate(this.#state, key);
    this.#noteUsedBefore(key);
    return this.#run.budget.ofStep(key, budget && limitOfBudget(budget), (used) => {
      const progress = scope.progress.get(id);
      const usage = sumOfUsage([progress?.usage ?? null, used]);
      if (progress && usage) scope.progress.set(id, { ...progress, usage });
    });
  }

  /** Notes what the stored answers of an agent used that another runner began. */
  #noteUsedBefore(key: string): void {
    const { scope, id } = locate(this.#state, key);
    const progress = progressOf(scope, id);
    if (progress.usage || !this.#state.plan.steps.get(id)?.hasTools) return;
    const rounds = roundsOf(this.#state.calls.of(key));
    const usage = sumOfUsage(rounds.map(({ answer }) => answer.usage));
    if (usage) scope.progress.set(id, { ...progress, usage });
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
        this.#run.wake();
        return stored;
      },
      children: childCallsOf(
        {
          deps: this.#deps,
          state: this.#state,
          awaited: this.#run.awaited(),
          ref: () => this.#run.writer.ref,
          regain: () => this.#run.regain(),
        },
        key,
      ),
      report: (entries) => {
        const { scope, id } = locate(this.#state, key);
        const transcript = this.#mayHaveURLs ? withoutCallbackURLs(entries) : entries;
        scope.progress.set(id, { ...progressOf(scope, id), transcript });
        if (!isInItem(scope)) this.#run.events().transcript(id, transcript);
      },
    };
  }

  async #isSeen(node: string, keys: readonly string[]): Promise<readonly boolean[]> {
    const { project, workflowUid, run, retryOf } = this.#state.claim.state;
    const read = () => readSeen(this.#deps.conn, { project, workflowUid, run, retryOf, node }, keys);
    const found = await retryUntilStored(read, this.#deps.abandon);
    if (!found) throw new StepError('Cancelled', 'the runner was stopped');
    return found.seen;
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
