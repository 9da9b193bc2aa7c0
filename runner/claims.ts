/**
 * The loop of a runner: claims as many runs as there is room for, in the order that the run store finds fair, and executes
 * them at the same time. No failure of a run ends the loop.
 */
import { sleep } from '../kube/clock.ts';
import { advance } from '../runs/advance.ts';
import { claimRuns } from '../runs/claim.ts';
import { handBack, handBackAll } from '../runs/handback.ts';
import { getRevision } from '../runs/project.ts';
import type { Claim, ClaimRef, ProjectUid, RunEnd } from '../runs/types.ts';
import { waitForWork } from '../runs/wake.ts';
import { StepError } from '../api/reasons.ts';
import { RunExecution, type Conclusion, type ExecutionDeps } from './execute.ts';
import { HeldRuns, type Held } from './held.ts';
import { insist } from './insist.ts';
import { createPlanCache, planUntil, type Plan } from './plan.ts';

export type ClaimsDeps = ExecutionDeps & { project: ProjectUid; runner: string; concurrency: number };

const PAUSE_MS = 1_000;
const SWEEP_MS = 30_000;

export class Claims {
  readonly #deps: ClaimsDeps;
  readonly #plans = createPlanCache();
  readonly #held = new HeldRuns();
  #ended = Promise.withResolvers<void>();
  #left = false;
  /** When to look for claims whose answer was lost: at once after an outage, and now and then for those that came late. */
  #sweepAt = 0;
  /** Whether runs are ready and the store has no room for what they would write. */
  #isShort = false;

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
  }

  /** Claims and executes until the signal is aborted. What was claimed by then goes on. */
  async run(signal: AbortSignal): Promise<void> {
    const { conn, project, runner, concurrency } = this.#deps;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    while (!signal.aborted) {
      const room = concurrency - this.#held.size;
      if (room <= 0) {
        await this.#ended.promise;
        continue;
      }
      if (performance.now() >= this.#sweepAt) await this.#sweep();
      // Never all at once: the store takes the steps of some while others are decided here, and neither waits for the other.
      const max = Math.min(room, Math.ceil(concurrency / 2));
      const claimed = await claimRuns(conn, { project, runner, max });
      if (claimed.outcome === 'unavailable') {
        this.#sweepAt = 0;
        await sleep(PAUSE_MS, signal);
      } else {
        this.#noteRoom(claimed.short);
        await this.#executeAll(claimed.claims);
        if (!claimed.more) await waitForWork(conn, project, signal);
      }
    }
  }

  /**
   * Gives back what the store holds as ours and we do not know of: the answer to a claim may be lost with its connection,
   * and since this runner lives on, nobody would take such a run over. In between claims, so that none is on its way.
   */
  async #sweep(): Promise<void> {
    const { conn, project, runner, log } = this.#deps;
    const swept = await handBackAll(conn, { project, runner, except: this.#held });
    if (swept.outcome === 'unavailable') return;
    this.#sweepAt = performance.now() + SWEEP_MS;
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

  /** All at once, but for runs that runners died with: each of those has the process to itself. */
  async #executeAll(claims: readonly Claim[]): Promise<void> {
    for (const claim of claims) if (!claim.alone) void this.#settle(claim);
    for (const claim of claims.filter(({ alone }) => alone)) {
      await this.idle();
      await this.#settle(claim);
    }
  }

  async #settle(claim: Claim): Promise<void> {
    const { metrics, log } = this.#deps;
    const { run, workflow } = claim.state;
    const held: Held = { token: claim.token, run };
    this.#held.add(held);
    metrics.claims.set(this.#held.size);
    try {
      const conclusion = await this.#execute(claim, held).catch((error: unknown) =>
        this.#endDefect(claim, error),
      );
      metrics.runs.inc({ conclusion });
      log.debug({ run, workflow, conclusion }, 'run concluded');
    } catch (error) {
      log.error({ run, workflow, err: error }, 'run store refused the end of a run');
    }
    this.#held.remove(held);
    metrics.claims.set(this.#held.size);
    this.#wake();
  }

  /** Whoever waits looks again. (A race with a promise that lasts would keep something of each of its rounds.) */
  #wake(): void {
    this.#ended.resolve();
    this.#ended = Promise.withResolvers();
  }

  async #execute(claim: Claim, held: Held): Promise<Conclusion> {
    const { revision, until } = claim.state;
    const whole = this.#plans.get(revision) ?? (await this.#plan(revision));
    const plan = whole && 'graph' in whole ? planOrEnd(() => planUntil(whole, until)) : whole;
    if (!plan) return 'abandoned';
    // What waited for its plan, or for its turn, has not begun: another runner begins it.
    if (this.#left) return this.#giveBack(claim);
    if ('phase' in plan) return this.#end(claim, plan);
    held.execution = new RunExecution(claim, plan, this.#deps);
    return held.execution.drive();
  }

  /** The plan of a revision, or how a run ends that has none; undefined when the process ends before it is known. */
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
