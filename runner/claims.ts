/**
 * The loop of a runner: claims as many runs as there is room for, in the order that the run store finds fair,
 * and executes them at the same time. No failure of a run ends the loop.
 */
import { sleep } from '../kube/clock.ts';
import { advance } from '../runs/advance.ts';
import { claimRuns } from '../runs/claim.ts';
import { handBack, handBackAll } from '../runs/handback.ts';
import { getRevision } from '../runs/project.ts';
import type { Claim, ClaimRef, ProjectUid, RunEnd } from '../runs/types.ts';
import { waitForWork } from '../runs/wake.ts';
import { StepError } from '../api/reasons.ts';
import { EndedRuns } from './endedRuns.ts';
import { RunExecution, type Conclusion, type ExecutionDeps } from './execute.ts';
import { HeldRuns, type Held } from './held.ts';
import { insist } from './insist.ts';
import { createPlanCache, planUntil, type Plan } from './plan.ts';

export type ClaimsDeps = ExecutionDeps & {
  project: ProjectUid;
  runner: string;
  concurrency: number;
  /** Between two looks for claims whose answer was lost; default 30,000 ms. */
  sweepEveryMs?: number;
};

const PAUSE_MS = 1_000;
const SWEEP_MS = 30_000;

export class Claims {
  readonly #deps: ClaimsDeps;
  readonly #sweepEveryMs: number;
  readonly #plans = createPlanCache();
  readonly #held = new HeldRuns();
  readonly #endedRuns = new EndedRuns();
  #ended = Promise.withResolvers<void>();
  #left = false;
  /** A run that runners died with has this process to itself. */
  #isAlone = false;
  /**
   * When to look for claims whose answer was lost: at once after an outage, and now and then for those that
   * came late.
   */
  #sweepAt = 0;
  /** Whether runs are ready and the store has no room for what they would write. */
  #isShort = false;

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
    this.#sweepEveryMs = deps.sweepEveryMs ?? SWEEP_MS;
  }

  /** Claims and executes until the signal is aborted. What was claimed by then goes on. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    // Also while there is no room: a claim that reached the store late would wait for as long as that lasts.
    const sweeps = setInterval(() => this.#wake(), this.#sweepEveryMs);
    try {
      while (!signal.aborted) await this.#claim(signal);
    } finally {
      clearInterval(sweeps);
    }
  }

  async #claim(signal: AbortSignal): Promise<void> {
    const { conn, project, runner, concurrency } = this.#deps;
    if (performance.now() >= this.#sweepAt) await this.#sweep();
    const room = this.#isAlone ? 0 : concurrency - this.#held.size;
    if (room <= 0) {
      if (!signal.aborted) await this.#ended.promise;
      return;
    }
    // Never all at once: the store takes the steps of some while others are decided here, and neither waits
    // for the other.
    const max = Math.min(room, Math.ceil(concurrency / 2));
    const sweepAt = this.#sweepAt;
    // Unless there is an answer: what was claimed without one is to be found soon.
    this.#sweepAt = 0;
    const claimed = await claimRuns(conn, { project, runner, max });
    if (claimed.outcome === 'unavailable') return sleep(PAUSE_MS, signal);
    this.#sweepAt = sweepAt;
    this.#noteRoom(claimed.short);
    for (const claim of claimed.claims) this.#take(claim);
    if (!claimed.more) await waitForWork(conn, project, signal);
  }

  /**
   * Gives back what the store holds as ours and we do not know of: the answer to a claim may be lost with its
   * connection, and since this runner lives on, nobody would take such a run over. In between claims, so that
   * none is on its way.
   */
  async #sweep(): Promise<void> {
    const { conn, project, runner, log } = this.#deps;
    const swept = await handBackAll(conn, { project, runner, except: this.#held });
    if (swept.outcome === 'unavailable') return;
    this.#sweepAt = performance.now() + this.#sweepEveryMs;
    if (swept.runs.length > 0) log.warn({ runs: swept.runs }, 'claims without an answer given back');
  }

  /** Told once when it begins and once when it is over. */
  #noteRoom(isShort: boolean): void {
    if (isShort === this.#isShort) return;
    this.#isShort = isShort;
    const { metrics, log } = this.#deps;
    metrics.claimsHeldBack.set(isShort ? 1 : 0);
    if (isShort) log.warn({}, 'run store full, claims held back');
    else log.info({}, 'claims no longer held back');
  }

  /** Stops a run that somebody cancelled, if it is executed here. */
  cancel(run: string): void {
    for (const held of this.#held) if (held.run === run) held.execution?.cancel();
  }

  /** Resolves when nothing is executed any more. */
  async idle(): Promise<void> {
    while (this.#held.size > 0) await this.#ended.promise;
  }

  /** Stops what is executed, and hands back what cannot end. */
  leave(): void {
    this.#left = true;
    for (const { execution } of this.#held) execution?.leave();
  }

  /**
   * Executes the run; one that is executed here already, of which the store lost the claim, goes on under the
   * new one.
   */
  #take(claim: Claim): void {
    for (const held of this.#held) {
      if (held.run !== claim.state.run || !held.execution?.adopt(claim)) continue;
      held.token = claim.token;
      return;
    }
    void this.#settle(claim);
  }

  async #settle(claim: Claim): Promise<void> {
    const { metrics, log } = this.#deps;
    const { run, workflow } = claim.state;
    const held: Held = { token: claim.token, run };
    this.#held.add(held);
    metrics.claims.set(this.#held.size);
    this.#isAlone ||= claim.alone;
    try {
      while (claim.alone && this.#held.size > 1) await this.#ended.promise;
      const conclusion = await this.#execute(claim, held).catch((error: unknown) =>
        this.#endDefect(claim, error),
      );
      metrics.runs.inc({ conclusion, test: String(claim.state.test) });
      log.debug({ run, workflow, conclusion }, 'run concluded');
    } catch (error) {
      log.error({ run, workflow, err: error }, 'run store refused the end of a run');
    }
    this.#held.remove(held);
    if (claim.alone) this.#isAlone = false;
    metrics.claims.set(this.#held.size);
    this.#wake();
  }

  /**
   * Whoever waits looks again. (A race with a promise that lasts would keep something of each of its rounds.)
   */
  #wake(): void {
    this.#ended.resolve();
    this.#ended = Promise.withResolvers();
  }

  async #execute(claim: Claim, held: Held): Promise<Conclusion> {
    const known = this.#endedRuns.find(claim.state);
    if (known) return this.#endAgain(claim, known);
    const { revision, until } = claim.state;
    const whole = this.#plans.get(revision) ?? (await this.#plan(revision));
    const plan = whole && 'graph' in whole ? planOrEnd(() => planUntil(whole, until)) : whole;
    if (!plan) return 'abandoned';
    // What waited for its plan, or for its turn, has not begun: another runner begins it.
    if (this.#left) return this.#giveBack(claim);
    if ('phase' in plan) return this.#end(claim, plan);
    const execution = new RunExecution(claim, plan, this.#deps);
    held.execution = execution;
    const conclusion = await execution.drive();
    if (execution.end) this.#endedRuns.add(claim.state, execution.end);
    return conclusion;
  }

  /**
   * An end never changes: a store that hands the run out once more was put back to a state from before it.
   */
  #endAgain(claim: Claim, end: RunEnd): Promise<Conclusion> {
    this.#deps.log.warn({ run: claim.state.run }, 'run store lost the end of a run, storing it again');
    return this.#end(claim, end);
  }

  /**
   * The plan of a revision, or how a run ends that has none; undefined when the process ends before it is
   * known.
   */
  async #plan(revision: string): Promise<Plan | RunEnd | undefined> {
    const { conn, project, abandon } = this.#deps;
    while (!abandon.aborted) {
      const found = await getRevision(conn, project, revision);
      if (!found) {
        const message = `the revision ${revision} does not exist any more`;
        return { phase: 'Failed', reason: 'RevisionMissing', message };
      }
      if (!('outcome' in found)) return planOrEnd(() => this.#plans.put(revision, found));
      await sleep(PAUSE_MS, abandon);
    }
    return undefined;
  }

  #endDefect(claim: Claim, error: unknown): Promise<Conclusion> {
    const { run, workflow } = claim.state;
    this.#deps.log.error({ run, workflow, err: error }, 'run failed by a defect');
    const message = 'a defect of Windlass; the log of the runner has the details';
    return this.#end(claim, { phase: 'Failed', reason: 'Internal', message });
  }

  async #giveBack(claim: Claim): Promise<Conclusion> {
    const stored = await insist(() => handBack(this.#deps.conn, refOf(claim)), this.#deps.abandon);
    if (stored?.outcome === 'fenced') return 'fenced';
    return stored ? 'handed-back' : 'abandoned';
  }

  async #end(claim: Claim, end: RunEnd): Promise<Conclusion> {
    const ref = refOf(claim);
    const stored = await insist(() => advance(this.#deps.conn, ref, { end }), this.#deps.abandon);
    if (stored?.outcome === 'fenced') return 'fenced';
    return stored ? end.phase : 'abandoned';
  }
}

function refOf({ state, token }: Claim): ClaimRef {
  return { project: state.project, run: state.run, token };
}

function planOrEnd(plan: () => Plan): Plan | RunEnd {
  try {
    return plan();
  } catch (error) {
    if (error instanceof StepError) return { phase: 'Failed', reason: error.reason, message: error.message };
    throw error;
  }
}
