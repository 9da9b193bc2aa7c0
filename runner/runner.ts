/**
 * A runner: claims and executes runs, resumes waiting runs, takes over runs of dead runners, records runs,
 * checks credentials, registers bots, and shuts down gracefully.
 */
import type { PriceTable } from '../api/price.ts';
import type { Log } from '../kube/log.ts';
import { sleep } from '../kube/clock.ts';
import type { Heartbeats } from '../runs/heartbeat.ts';
import { cancelUnclaimed, watchCancels } from '../runs/cancel.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { createDueSweep } from '../runs/due.ts';
import { createMemorySweep } from '../runs/memories.ts';
import { createFailureSweep } from '../runs/failures.ts';
import { handBackAll } from '../runs/handback.ts';
import { watchSignals } from '../runs/signals.ts';
import { createTakeover, type TakeoverOptions } from '../runs/takeover.ts';
import type { CodeSandbox } from '../nodes/contract/code.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import { answerChecks } from './requests.ts';
import type { ReadRecord } from './children.ts';
import { AttemptLimit } from './attemptLimit.ts';
import { Claims } from './claims.ts';
import type { CredentialSource } from './credentials.ts';
import type { OnCredentialUse } from './credentialUse.ts';
import type { RunnerMetrics } from './metrics.ts';
import { answerRegistrations } from './registrations.ts';
import type { ProjectUid } from '../store/keys.ts';

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
  heartbeats: Heartbeats;
  /** Whether a bot of the project may be registered. Left out: no bot is. */
  hasBot?: () => boolean;
  /** The origin of the console in browsers, for links to failed runs. */
  consoleUrl?: string | undefined;
  /** Writes the records, if this runner does. */
  recorder?: { run(signal: AbortSignal): Promise<void> };
  /** When other runners count as dead. Default: that of `runs/takeover.ts`. */
  takeover?: Pick<TakeoverOptions, 'deadAfterMs' | 'everyMs'>;
  /** How often orphaned claims are released, in milliseconds. Default: that of `runner/claims.ts`. */
  sweepEveryMs?: number;
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

/** The delay before a crashed loop restarts. */
const LOOP_PAUSE_MS = 1_000;

export function startRunner(options: RunnerOptions): Runner {
  const { conn, project, runner, heartbeats, recorder, log } = options;
  const claiming = new AbortController();
  const serving = new AbortController();
  const abandon = new AbortController();
  const attemptLimit = new AttemptLimit(options.attempts ?? DEFAULT_ATTEMPTS);
  const claims = new Claims({ ...options, attemptLimit, abandon: abandon.signal });
  const cancels = watchCancels(conn, project, (run) => {
    if (!claims.cancel(run)) void cancelUnclaimed(conn, project, run);
  });
  const signals = watchSignals(conn, project, (run) => claims.noteSignal(run));
  const due = createDueSweep(conn, project);
  const failures = createFailureSweep(options);
  const memories = createMemorySweep(options);
  const takeover = createTakeover({ conn, project, runner, log, ...options.takeover });
  const claimed = keepRunning('claims', (signal) => claims.run(signal), claiming.signal, log);
  // A claim that is in progress when the runner stops may still add runs.
  const idle = async (): Promise<void> => {
    await claimed;
    await claims.idle();
  };
  const loops = [
    claimed,
    keepRunning('due', (signal) => due.run(signal), serving.signal, log),
    keepRunning('failures', (signal) => failures.run(signal), serving.signal, log),
    keepRunning('memories', (signal) => memories.run(signal), serving.signal, log),
    keepRunning('takeover', (signal) => takeover.run(signal), serving.signal, log),
    keepRunning('checks', (signal) => answerChecks(options, signal), claiming.signal, log),
    // Also during shutdown: the runners of a deleted project end before its bots are unregistered.
    keepRunning('registrations', (signal) => answerRegistrations(options, signal), serving.signal, log),
    ...(recorder ? [keepRunning('records', (signal) => recorder.run(signal), serving.signal, log)] : []),
  ];
  return {
    stop: async (patienceMs) => {
      const stoppingAt = performance.now();
      claiming.abort();
      await Promise.race([idle(), sleep(patienceMs)]);
      claims.stop();
      await Promise.race([idle(), sleep(STOP_MS)]);
      abandon.abort();
      await handBackAll(conn, { project, runner });
      cancels.stop();
      signals.stop();
      if (recorder) await sleep(LAST_RECORDS_MS);
      while (options.hasBot?.() && performance.now() < stoppingAt + LAST_REGISTRATIONS_MS)
        await sleep(BOT_CHECK_MS);
      serving.abort();
      await Promise.allSettled(loops);
      await heartbeats.stop();
    },
  };
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
