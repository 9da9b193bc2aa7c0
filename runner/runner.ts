/**
 * A runner: claims and executes runs, resumes waiting runs, takes over runs of dead runners, records runs,
 * polls accounts, checks credentials, registers bots, and shuts down gracefully.
 */
import type { PriceTable } from '../api/price.ts';
import type { Log } from '../kube/log.ts';
import { sleep, waitAtMost } from '../kube/clock.ts';
import type { Heartbeats } from '../runs/heartbeat.ts';
import { createPaces, type Pace, type Paces } from '../runs/pace.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { cancelUnclaimed, watchCancels } from '../runs/cancel.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { createDueSweep } from '../runs/due.ts';
import { createEnder } from '../runs/ender.ts';
import { createMemorySweep } from '../runs/memoryRemoval.ts';
import { createFailureSweep } from '../runs/failures.ts';
import { handBackAll } from '../runs/handback.ts';
import { watchSignals } from '../runs/signals.ts';
import { createTakeover, type TakeoverOptions } from '../runs/takeover.ts';
import type { CodeSandbox } from '../nodes/contract/code.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import { answerChecks } from './requests.ts';
import type { ReadRecord } from './childResult.ts';
import { AttemptLimit } from './attemptLimit.ts';
import { Claims } from './claims.ts';
import type { CredentialSource } from './credentials.ts';
import type { OnCredentialUse } from './credentialUse.ts';
import { createIdleMemory } from './idleMemory.ts';
import { createLoadedSecrets } from './loadedSecrets.ts';
import type { RunnerMetrics } from './metrics.ts';
import { createRunnerPolls } from './poll/runnerPolls.ts';
import { answerRegistrations } from './registrations.ts';

export type RunnerOptions = {
  conn: RunStoreConnection;
  project: ProjectUid;
  namespace: string;
  /** The name of the runner; its heartbeat has the same name. */
  runner: string;
  concurrency: number;
  /** How many attempts are in flight at most, beside one of each run. Default 200. */
  attempts?: number;
  credentials: CredentialSource;
  /** Called when an attempt of a node uses a credential. */
  onCredentialUse?: OnCredentialUse;
  egress: Egress;
  /** Executes code. Left out: the installation does not. */
  sandbox?: CodeSandbox;
  /** Reads records of child runs. Left out: there are none. */
  readRecord?: ReadRecord;
  /** The prices of models. Left out: none is known. */
  prices?: PriceTable;
  /** Left out: the runner polls, and counts as dead for other runners. */
  heartbeats?: Heartbeats | undefined;
  /** Whether a bot of the project may be registered. Left out: no bot is. */
  hasBot?: () => boolean;
  /** The origin of the console in browsers, for links to failed runs. */
  consoleUrl?: string | undefined;
  /** Writes the records, if this runner does. */
  recorder?: { run(signal: AbortSignal, pace: Pace): Promise<void> };
  /** Collects all garbage, once the runner has been idle for a while. Left out: it keeps what it took. */
  collectGarbage?: (() => void) | undefined;
  /** When other runners count as dead. Default: that of `runs/takeover.ts`. */
  takeover?: Pick<TakeoverOptions, 'deadAfterMs' | 'everyMs'>;
  /** How often orphaned claims are released, in milliseconds. Default: that of `runner/claims.ts`. */
  releaseOrphansEveryMs?: number;
  metrics: RunnerMetrics;
  log: Log;
};

export type Runner = {
  /** Stops claiming, lets runs in flight continue for that long, hands back the rest, and ends. */
  stop(patienceMs: number): Promise<void>;
};

const DEFAULT_ATTEMPTS = 200;
/** How long stopped steps may take to end: a little more than their own grace period. */
const STOP_MS = 6_000;
/** How long records may catch up at the end. Other runners write the rest. */
const LAST_RECORDS_MS = 1_000;
/**
 * The least time for deleting the webhooks of bots: a deleted namespace loses its runners first, and no other
 * program can delete them. With a namespace that stays, there are no such requests.
 */
const LAST_REGISTRATIONS_MS = 5_000;
const BOT_CHECK_MS = 100;

/** The longest time between two pulses. */
const LONGEST_PULSE_MS = 10_000;
/**
 * After a failover: in this time each runner stores again what the promoted replica lacks of its runs, before
 * others may claim them.
 */
const FAILOVER_PAUSE_MS = 5_000;
/** The delay before a crashed loop restarts. */
const LOOP_PAUSE_MS = 1_000;

export function startRunner(options: RunnerOptions): Runner {
  const { conn, project, runner, heartbeats, recorder, log } = options;
  const claiming = new AbortController();
  const serving = new AbortController();
  const abandon = new AbortController();
  const attemptLimit = new AttemptLimit(options.attempts ?? DEFAULT_ATTEMPTS);
  const paces = createPaces();
  const pacesOf = pacesOfLoops(paces);
  const followed = followIdleness(options, paces);
  const failovers = followFailovers(options, () => claims.restate());
  const claims = new Claims({
    ...options,
    secrets: createLoadedSecrets(),
    attemptLimit,
    endTogether: createEnder(conn),
    abandon: abandon.signal,
    pace: pacesOf.claims,
    pausedMs: failovers.pausedMs,
    onBusy: followed.setBusy,
  });
  const cancel = (run: string): void => {
    if (!claims.cancel(run)) void cancelUnclaimed(conn, project, run);
  };
  const cancelling = new AbortController();
  const signals = followSignals(options, claims, pacesOf.due);
  const due = createDueSweep(conn, project, pacesOf.due);
  const failures = createFailureSweep({ ...options, pace: pacesOf.failures });
  const memories = createMemorySweep({ ...options, pace: pacesOf.memories });
  const takeover = createTakeover({
    conn,
    project,
    runner,
    log,
    ...options.takeover,
    pace: pacesOf.takeover,
    pausedMs: failovers.pausedMs,
  });
  const claimed = keepRunning('claims', (signal) => claims.run(signal), claiming.signal, log);
  // A claim that is in progress when the runner stops may still add runs.
  const idle = async (): Promise<void> => {
    await claimed;
    await claims.idle();
  };
  const cancels = (signal: AbortSignal) =>
    watchCancels(conn, project, cancel, { signal, pace: pacesOf.cancels });
  const loops = [
    claimed,
    keepRunning('cancels', cancels, cancelling.signal, log),
    keepRunning('due', (signal) => due.run(signal), serving.signal, log),
    keepRunning('failures', (signal) => failures.run(signal), serving.signal, log),
    keepRunning('memories', (signal) => memories.run(signal), serving.signal, log),
    keepRunning('takeover', (signal) => takeover.run(signal), serving.signal, log),
    ...useAccounts(options, pacesOf, { claiming: claiming.signal, serving: serving.signal }),
    ...(recorder
      ? [keepRunning('records', (signal) => recorder.run(signal, pacesOf.records), serving.signal, log)]
      : []),
  ];
  return {
    stop: async (patienceMs) => {
      const stoppingAt = performance.now();
      claiming.abort();
      await waitAtMost(patienceMs, idle());
      claims.stop();
      await waitAtMost(STOP_MS, idle());
      abandon.abort();
      await handBackAll(conn, { project, runner });
      cancelling.abort();
      signals.stop();
      failovers.stop();
      if (recorder) await sleep(LAST_RECORDS_MS);
      while (options.hasBot?.() && performance.now() < stoppingAt + LAST_REGISTRATIONS_MS)
        await sleep(BOT_CHECK_MS);
      serving.abort();
      await Promise.allSettled(loops);
      followed.end();
      await heartbeats?.stop();
    },
  };
}

/** A run in flight reads its signals. A parked one that comes to own a memory, or that got one, is due. */
function followSignals({ conn, project }: RunnerOptions, claims: Claims, due: Pace): { stop(): void } {
  return watchSignals(conn, project, (run) => {
    claims.noteSignal(run);
    due.raise();
  });
}

/** Pauses claims and takeovers after a failover, in which each runner stores its runs again. */
function followFailovers(
  { conn, project, log }: RunnerOptions,
  restate: () => void,
): { pausedMs: () => number; stop: () => void } {
  let pausedUntil = 0;
  const listener = conn.onFailover(project, () => {
    pausedUntil = performance.now() + FAILOVER_PAUSE_MS;
    log.info({}, 'run store failed over, claiming paused');
    restate();
  });
  return { pausedMs: () => Math.max(0, pausedUntil - performance.now()), stop: () => listener.end() };
}

/** The paces of the loops by their names, with what a pulse must say to wake each. */
function pacesOfLoops(paces: Paces) {
  return {
    claims: paces.of(({ hasReady }) => hasReady),
    // A run that is taken from another runner, or parked by it, may be due before the next pulse.
    due: paces.of(({ parkedMs = Infinity }) => parkedMs < LONGEST_PULSE_MS),
    cancels: paces.of(({ hasCancels }) => hasCancels),
    failures: paces.of(({ hasFailures }) => hasFailures),
    polls: paces.of(({ hasPolls }) => hasPolls),
    memories: paces.of(({ memoriesMs }) => memoriesMs === 0),
    takeover: paces.of(({ hasClaims }) => hasClaims),
    checks: paces.of(({ checksMs }) => checksMs === 0),
    registrations: paces.of(({ registrationsMs }) => registrationsMs === 0),
    records: paces.of(({ unrecordedMs = Infinity }) => unrecordedMs < LONGEST_PULSE_MS),
  };
}

/** Has the runner do little while nothing is in flight, and return its memory after a while. */
function followIdleness(
  options: RunnerOptions,
  paces: Paces,
): { setBusy: (isBusy: boolean) => void; end: () => void } {
  const pulses = followPulses(options, paces);
  const { collectGarbage, log } = options;
  const memory = collectGarbage && createIdleMemory({ collect: collectGarbage });
  if (!memory) log.info({}, 'memory is kept while idle, because Node has no --expose-gc');
  return {
    setBusy: (isBusy) => {
      pulses.setBusy(isBusy);
      memory?.setBusy(isBusy);
    },
    end: () => {
      pulses.end();
      memory?.stop();
    },
  };
}

/**
 * Has the loops wait for pulses while nothing is in flight, and the heartbeats show another runner at once
 * that this one is alive.
 */
function followPulses(
  { conn, project, heartbeats }: RunnerOptions,
  paces: Paces,
): { setBusy: (isBusy: boolean) => void; end: () => void } {
  if (!heartbeats) return { setBusy: () => undefined, end: () => undefined };
  const setBusy = (isBusy: boolean): void => {
    heartbeats.setBusy(isBusy);
    paces.setBusy(isBusy);
  };
  heartbeats.follow(paces.note);
  setBusy(false);
  const subscription = conn.subscriber().subscribe(keysOf(project).heartbeats, heartbeats.send);
  return { setBusy, end: () => void subscription.then((it) => it.end()) };
}

/**
 * Runs a loop until the signal is aborted. A loop that throws is logged and restarted, because runs depend on
 * it.
 */
async function keepRunning(
  loop: string,
  run: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await run(signal);
    } catch (error) {
      log.error({ loop, err: error }, 'loop crashed, restarting');
      await sleep(LOOP_PAUSE_MS, signal);
    }
  }
}

/** Loops that use the accounts of the project besides runs: `claiming` ends before `serving`. */
function useAccounts(
  options: RunnerOptions,
  paces: ReturnType<typeof pacesOfLoops>,
  { claiming, serving }: Record<'claiming' | 'serving', AbortSignal>,
): Promise<void>[] {
  const { log } = options;
  const polls = createRunnerPolls({ ...options, pace: paces.polls });
  const checks = (signal: AbortSignal) => answerChecks({ ...options, pace: paces.checks }, signal);
  const registrations = (signal: AbortSignal) =>
    answerRegistrations({ ...options, pace: paces.registrations }, signal);
  return [
    keepRunning('checks', checks, claiming, log),
    keepRunning('polls', (signal) => polls.run(signal), claiming, log),
    // Also during shutdown: the runners of a deleted project end before its bots are unregistered.
    keepRunning('registrations', registrations, serving, log),
  ];
}
