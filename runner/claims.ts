/**
 * The claim loop of a runner: claims as many runs as its concurrency allows, in the fair order of the run
 * store, and executes them concurrently. No failure of a run ends the loop.
 */
import { sleep } from '../kube/clock.ts';
import { advance } from '../runs/advance.ts';
import { claimRuns, watchReady } from '../runs/claim.ts';
import type { Ender, LastStep } from '../runs/ender.ts';
import { handBack, handBackAll } from '../runs/handback.ts';
import { getRevision } from '../runs/revisions.ts';
import type { Claim } from '../runs/types/claim.ts';
import type { RunEnd } from '../runs/types/result.ts';
import type { Pace } from '../runs/pace.ts';
import { StepError } from '../api/reasons.ts';
import { EndedRuns } from './endedRuns.ts';
import { RunExecution, type Conclusion, type ExecutionDeps } from './execute.ts';
import { RunsInFlight, type RunInFlight } from './inFlight.ts';
import { retryUntilStored } from './retryUntilStored.ts';
import { createPlanCache, planUntil, type Plan } from './plan.ts';
import { freeSlots } from './slots.ts';
import { claimRefOf, hasStored, readStored } from './storedData.ts';
import type { ProjectUid } from '../store/keys.ts';

export type ClaimsDeps = ExecutionDeps & {
  project: ProjectUid;
  runner: string;
  concurrency: number;
  /** The time between two releases of orphaned claims, in milliseconds. Default 30,000. */
  releaseOrphansEveryMs?: number;
  /** When to claim while no run is known to be ready. */
  pace: Pace;
  /** For how many more milliseconds to claim nothing. */
  pausedMs: () => number;
  /** Called when the first run in flight begins, and when the last one has ended. */
  onBusy: (isBusy: boolean) => void;
};

const PAUSE_MS = 1_000;
/** How long a lost message can delay a run where the runner is busy. */
const POLL_MS = 1_000;
/** How long free slots wait for further ones while runs are ready. */
const GATHER_MS = 5;
/** How long they do not wait after too few became free. */
const NO_GATHER_MS = 100;
const RELEASE_ORPHANS_MS = 30_000;
/** Characters of the output of an ended child run that is known after its end. */
const LARGEST_KNOWN_OUTPUT = 4_096;

export class Claims {
  readonly #deps: ClaimsDeps;
  readonly #releaseOrphansEveryMs: number;
  readonly #plans = createPlanCache();
  readonly #inFlight = new RunsInFlight();
  readonly #endedRuns = new EndedRuns();
  #ended = Promise.withResolvers<void>();
  #stopped = false;
  /** A run with which runners died is executed alone. */
  #isAlone = false;
  /** Runs whose end is being stored, together with others. */
  #ending = 0;
  /**
   * When to release orphaned claims next: at once after an outage, and periodically for claims that the run
   * store processed late.
   */
  #releaseOrphansAt = 0;
  /** From when on free slots may wait for further ones again. */
  #mayGatherAt = 0;
  /** Whether runs were ready that the last claim did not take. */
  #hasMore = false;
  /** Whether runs are ready but the run store is too full to execute them. */
  #isFull = false;

  constructor(deps: ClaimsDeps) {
    this.#deps = { ...deps, endTogether: (step) => this.#endTogether(deps.endTogether, step) };
    this.#releaseOrphansEveryMs = deps.releaseOrphansEveryMs ?? RELEASE_ORPHANS_MS;
  }

  /** Claims and executes until the signal is aborted. Runs in flight continue. */
  async run(signal: AbortSignal): Promise<void> {
    const { conn, project, pace } = this.#deps;
    const watching = watchReady(conn, project, pace.raise);
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    // Also while the concurrency is used up: an orphaned claim would wait all that time.
    const wakeUps = setInterval(() => this.#wake(), this.#releaseOrphansEveryMs);
    try {
      while (!signal.aborted) await this.#claim(signal);
    } finally {
      clearInterval(wakeUps);
      watching.end();
    }
  }

  async #claim(signal: AbortSignal): Promise<void> {
    const { conn, project, runner, pace, pausedMs } = this.#deps;
    if (pausedMs() > 0) return sleep(pausedMs(), signal);
    if (performance.now() >= this.#releaseOrphansAt) await this.#releaseOrphans();
    if (this.#freeSlots <= 0) {
      if (!signal.aborted) await this.#ended.promise;
      return;
    }
    if (this.#hasMore) await this.#gatherSlots();
    // A failover may have begun meanwhile.
    if (signal.aborted || this.#freeSlots <= 0 || pausedMs() > 0) return;
    const max = this.#freeSlots;
    const releaseOrphansAt = this.#releaseOrphansAt;
    // Reset below if there is an answer; otherwise the claims may be orphaned.
    this.#releaseOrphansAt = 0;
    const claimed = await claimRuns(conn, { project, runner, max });
    if (claimed.outcome === 'unavailable') return sleep(PAUSE_MS, signal);
    this.#releaseOrphansAt = releaseOrphansAt;
    this.#noteStoreFull(claimed.short);
    this.#hasMore = claimed.more;
    for (const claim of claimed.claims) this.#start(claim);
    const nextMs = Math.max(0, this.#releaseOrphansAt - performance.now());
    if (!claimed.more) await pace.wait({ busyMs: POLL_MS, nextMs }, signal);
  }

  /** How many more runs this runner executes now. */
  get #freeSlots(): number {
    if (this.#isAlone) return 0;
    return freeSlots({
      concurrency: this.#deps.concurrency,
      inFlight: this.#inFlight.size,
      ending: this.#ending,
    });
  }

  /** Ends a run as `ender` does, and frees its slot meanwhile. */
  async #endTogether(ender: Ender, step: LastStep): Promise<boolean> {
    this.#ending += 1;
    this.#wake();
    try {
      return await ender(step);
    } finally {
      this.#ending -= 1;
    }
  }

  /**
   * Waits until half of the concurrency is free, at most `GATHER_MS`: under a backlog, short runs would
   * otherwise be claimed one by one as they end, and a claim costs as much as half such a run. Where few runs
   * end in that time, the next claims do not wait.
   */
  async #gatherSlots(): Promise<void> {
    const { concurrency } = this.#deps;
    const before = this.#freeSlots;
    const isEnough = () => this.#freeSlots <= 0 || this.#freeSlots >= concurrency / 2;
    if (isEnough() || performance.now() < this.#mayGatherAt) return;
    const until = performance.now() + GATHER_MS;
    const timer = setInterval(() => this.#wake(), GATHER_MS);
    while (performance.now() < until && !isEnough()) await this.#ended.promise;
    clearInterval(timer);
    if (this.#freeSlots - before < concurrency / 10) this.#mayGatherAt = performance.now() + NO_GATHER_MS;
  }

  /**
   * Releases claims of this runner that it does not know: the answer to a claim may have been lost with its
   * connection, and no other runner takes over runs of a living runner. Called between claims, so that no
   * claim is in progress.
   */
  async #releaseOrphans(): Promise<void> {
    const { conn, project, runner, log } = this.#deps;
    const released = await handBackAll(conn, { project, runner, except: this.#inFlight });
    if (released.outcome === 'unavailable') return;
    this.#releaseOrphansAt = performance.now() + this.#releaseOrphansEveryMs;
    if (released.runs.length > 0) log.warn({ runs: released.runs }, 'released orphaned claims');
  }

  /** Logs each change. */
  #noteStoreFull(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    const { metrics, log } = this.#deps;
    metrics.claimsHeldBack.set(isFull ? 1 : 0);
    if (isFull) log.warn({}, 'run store full, claiming paused');
    else log.info({}, 'claiming resumed');
  }

  /** Cancels a run if it is in flight here. Returns whether it is. */
  cancel(run: string): boolean {
    const active = this.#inFlight.of(run);
    for (const { execution } of active) execution?.cancel();
    return active.length > 0;
  }

  /** Has a run in flight here read its signals. */
  noteSignal(run: string): void {
    for (const { execution } of this.#inFlight.of(run)) execution?.noteSignal();
  }

  /** Has the runs in flight stored again where the run store has lost the claims or steps of them. */
  restate(): void {
    for (const { execution } of this.#inFlight) execution?.restate();
  }

  /** Resolves when no run is in flight. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await this.#ended.promise;
  }

  /** Stops the runs in flight, and hands back those that cannot end. */
  stop(): void {
    this.#stopped = true;
    for (const { execution } of this.#inFlight) execution?.stop();
  }

  /**
   * Executes the run. A run that is in flight already, whose claim the run store lost, continues under the
   * new claim.
   */
  #start(claim: Claim): void {
    for (const active of this.#inFlight.of(claim.state.run)) {
      if (!active.execution?.adopt(claim)) continue;
      active.token = claim.token;
      return;
    }
    void this.#executeUntilEnd(claim);
  }

  /** Executes the run from its claim to its end, and counts it as in flight meanwhile. Never throws. */
  async #executeUntilEnd(claim: Claim): Promise<void> {
    const { metrics, log } = this.#deps;
    const { run, workflow } = claim.state;
    const active: RunInFlight = { token: claim.token, run };
    this.#inFlight.add(active);
    if (this.#inFlight.size === 1) this.#deps.onBusy(true);
    metrics.claims.set(this.#inFlight.size);
    this.#isAlone ||= claim.alone;
    try {
      while (claim.alone && this.#inFlight.size > 1) await this.#ended.promise;
      const conclusion = await this.#execute(claim, active).catch((error: unknown) =>
        this.#endDefect(claim, error),
      );
      metrics.runs.inc({ conclusion, test: String(claim.state.test) });
      log.debug({ run, workflow, conclusion }, 'run concluded');
    } catch (error) {
      log.error({ run, workflow, err: error }, 'storing the run end failed');
    }
    this.#inFlight.remove(active);
    if (this.#inFlight.size === 0) this.#deps.onBusy(false);
    if (claim.alone) this.#isAlone = false;
    metrics.claims.set(this.#inFlight.size);
    this.#wake();
  }

  /**
   * Wakes all waiters. A new promise each time, because races with a lasting promise would leak memory.
   */
  #wake(): void {
    this.#ended.resolve();
    this.#ended = Promise.withResolvers();
  }

  async #execute(claim: Claim, active: RunInFlight): Promise<Conclusion> {
    const known = this.#endedRuns.find(claim.state);
    if (known) return this.#endAgain(claim, known);
    const { revision, until } = claim.state;
    const whole = this.#plans.get(revision) ?? (await this.#loadPlan(revision));
    const plan = whole && 'graph' in whole ? planOrEnd(() => planUntil(whole, until)) : whole;
    if (!plan) return 'abandoned';
    // The run has not started here: another runner can execute it.
    if (this.#stopped) return this.#handBack(claim);
    if ('phase' in plan) return this.#end(claim, plan);
    // Most runs have none, and start without the delay of a promise.
    const stored = hasStored(claim, plan) ? await readStored(this.#deps, claim, plan) : {};
    if (!stored) return 'abandoned';
    const execution = new RunExecution(claim, plan, this.#deps, stored);
    active.execution = execution;
    const conclusion = await execution.execute();
    if (execution.end) this.#endedRuns.add(claim.state, withoutLargeOutput(execution.end));
    return conclusion;
  }

  /**
   * Stores the end again: a run store that hands out an ended run was rewound.
   */
  #endAgain(claim: Claim, end: RunEnd): Promise<Conclusion> {
    this.#deps.log.warn({ run: claim.state.run }, 'run end lost, storing again');
    return this.#end(claim, end);
  }

  /**
   * The plan of a revision, or the end of the run if it has none; undefined if the process ends before it is
   * known.
   */
  async #loadPlan(revision: string): Promise<Plan | RunEnd | undefined> {
    const { conn, project, abandon } = this.#deps;
    while (!abandon.aborted) {
      const found = await getRevision(conn, project, revision);
      if (!found) {
        const message = `the revision ${revision} no longer exists`;
        return { phase: 'Failed', reason: 'RevisionMissing', message };
      }
      if (!('outcome' in found)) return planOrEnd(() => this.#plans.put(revision, found));
      await sleep(PAUSE_MS, abandon);
    }
    return undefined;
  }

  #endDefect(claim: Claim, error: unknown): Promise<Conclusion> {
    const { run, workflow } = claim.state;
    this.#deps.log.error({ run, workflow, err: error }, 'run failed unexpectedly');
    const message = 'internal error: see the log of the runner';
    return this.#end(claim, { phase: 'Failed', reason: 'Internal', message });
  }

  async #handBack(claim: Claim): Promise<Conclusion> {
    const stored = await retryUntilStored(
      () => handBack(this.#deps.conn, claimRefOf(claim)),
      this.#deps.abandon,
    );
    if (stored?.outcome === 'fenced') return 'fenced';
    return stored ? 'handed-back' : 'abandoned';
  }

  async #end(claim: Claim, end: RunEnd): Promise<Conclusion> {
    const ref = claimRefOf(claim);
    const stored = await retryUntilStored(() => advance(this.#deps.conn, ref, { end }), this.#deps.abandon);
    if (stored?.outcome === 'fenced') return 'fenced';
    return stored ? end.phase : 'abandoned';
  }
}

/** Thousands of ends are in memory. */
function withoutLargeOutput({ output, ...end }: RunEnd): RunEnd {
  const isSmall = output !== undefined && JSON.stringify(output).length <= LARGEST_KNOWN_OUTPUT;
  return isSmall ? { ...end, output } : end;
}

function planOrEnd(plan: () => Plan): Plan | RunEnd {
  try {
    return plan();
  } catch (error) {
    if (error instanceof StepError) return { phase: 'Failed', reason: error.reason, message: error.message };
    throw error;
  }
}
