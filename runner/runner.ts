/**
 * A runner: claims and executes runs, wakes those that wait, takes over from runners that died, records what
 * happened, tries credentials, registers bots, and leaves in order.
 */
import type { Log } from '../kube/log.ts';
import { sleep } from '../kube/clock.ts';
import type { Beats } from '../runs/beat.ts';
import { watchCancels } from '../runs/cancel.ts';
import type { RunStoreConnection } from '../runs/connection.ts';
import { createDueSweep } from '../runs/due.ts';
import { handBackAll } from '../runs/handback.ts';
import { createTakeover, type TakeoverOptions } from '../runs/takeover.ts';
import type { ProjectUid } from '../runs/types.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import { createChecker } from './checks.ts';
import { Claims } from './claims.ts';
import type { CredentialSource } from './credentials.ts';
import type { OnCredentialUse } from './credentialUse.ts';
import type { RunnerMetrics } from './metrics.ts';
import { createRegistrar } from './registrations.ts';

export type RunnerOptions = {
  conn: RunStoreConnection;
  project: ProjectUid;
  /** Who it is among those that claim; the beats have the same name. */
  runner: string;
  concurrency: number;
  credentials: CredentialSource;
  /** Told when an attempt of a node takes a credential. */
  onCredentialUse?: OnCredentialUse;
  egress: Egress;
  beats: Beats;
  /** Whether a bot of the project may be registered. Left out: none is. */
  hasBot?: () => boolean;
  /** Writes the records, if this runner shall. */
  recorder?: { run(signal: AbortSignal): Promise<void> };
  /** How soon other runners are taken for dead; default: as `runs/takeover.ts` says. */
  takeover?: Pick<TakeoverOptions, 'deadAfterMs' | 'everyMs'>;
  /** How often claims whose answer was lost are looked for; default: as `runner/claims.ts` says. */
  sweepEveryMs?: number;
  metrics: RunnerMetrics;
  log: Log;
};

export type Runner = {
  /** Claims nothing more, lets what is executed go on for that long, hands back the rest, and ends. */
  stop(patienceMs: number): Promise<void>;
};

/** How long steps that were stopped may take to say how they ended: a little more than their own grace. */
const LEAVE_MS = 6_000;
/** How long the records may catch up at the end. Other runners go on with what is left. */
const LAST_RECORDS_MS = 1_000;
/**
 * How long it stays for the webhooks of bots at the least: a namespace that is deleted loses its runners
 * first, and nobody else can delete them. With a namespace that stays nobody asks for that.
 */
const LAST_REGISTRATIONS_MS = 5_000;
const LOOK_MS = 100;

/** After a defect in a loop. */
const LOOP_PAUSE_MS = 1_000;

/** Starts it. */
export function startRunner(options: RunnerOptions): Runner {
  const { conn, project, runner, beats, recorder, log } = options;
  const claiming = new AbortController();
  const serving = new AbortController();
  const abandon = new AbortController();
  const claims = new Claims({ ...options, abandon: abandon.signal });
  const cancels = watchCancels(conn, project, (run) => claims.cancel(run));
  const checker = createChecker(options);
  const registrar = createRegistrar(options);
  const due = createDueSweep(conn, project);
  const takeover = createTakeover({ conn, project, runner, log, ...options.takeover });
  const claimed = keepRunning('claims', (signal) => claims.run(signal), claiming.signal, log);
  // What a claim brings that is on its way when the runner stops is held, too.
  const idle = async (): Promise<void> => {
    await claimed;
    await claims.idle();
  };
  const loops = [
    claimed,
    keepRunning('due', (signal) => due.run(signal), serving.signal, log),
    keepRunning('takeover', (signal) => takeover.run(signal), serving.signal, log),
    keepRunning('checks', (signal) => checker.run(signal), claiming.signal, log),
    // Also while it leaves: with a project that is deleted its runners are.
    keepRunning('registrations', (signal) => registrar.run(signal), serving.signal, log),
    ...(recorder ? [keepRunning('records', (signal) => recorder.run(signal), serving.signal, log)] : []),
  ];
  return {
    stop: async (patienceMs) => {
      const leavingAt = performance.now();
      claiming.abort();
      await Promise.race([idle(), sleep(patienceMs)]);
      claims.leave();
      await Promise.race([idle(), sleep(LEAVE_MS)]);
      abandon.abort();
      await handBackAll(conn, { project, runner });
      cancels.stop();
      if (recorder) await sleep(LAST_RECORDS_MS);
      while (options.hasBot?.() && performance.now() < leavingAt + LAST_REGISTRATIONS_MS)
        await sleep(LOOK_MS);
      serving.abort();
      await Promise.allSettled(loops);
      await beats.stop();
    },
  };
}

/**
 * Runs a loop until the signal is aborted. A defect in it is logged, and the loop begins anew: runs depend on
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
      log.error({ loop, err: error }, 'loop broke off and begins anew');
      await sleep(LOOP_PAUSE_MS, signal);
    }
  }
}
