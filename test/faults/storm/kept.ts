/**
 * A program that is started again whenever it has ended, as a kubelet would, and that can be killed and
 * stopped meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../../support/process/program.ts';

export type Kept = {
  name: string;
  /** SIGKILL. It is started again a moment later. */
  kill(): void;
  /**
   * SIGSTOP until the function that it returns is called; also where it was killed and started again
   * meanwhile.
   */
  freeze(): () => void;
  /** How often it has ended although nobody killed it. */
  crashes(): number;
  /** What all its processes have logged, a line each. */
  log(): string[];
  /** Ends it for good. */
  stop(): Promise<void>;
  /** SIGTERM, for good, as to a pod that is taken away. Resolves when it has ended. */
  end(): Promise<void>;
};

const RESTART_MS = 1_000;

/** Starts it at once. */
export function keepRunning(name: string, start: (log: string[]) => Program): Kept {
  const log: string[] = [];
  const stopping = new AbortController();
  let program = start(log);
  let [killed, crashes] = [false, 0];
  const keeping = (async () => {
    for (;;) {
      await program.ended;
      if (stopping.signal.aborted) return;
      if (!killed) crashes += 1;
      killed = false;
      await delay(RESTART_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      program = start(log);
    }
  })();
  return {
    name,
    kill: () => {
      killed = true;
      program.signal('SIGKILL');
    },
    freeze: () => {
      const frozen = program;
      frozen.signal('SIGSTOP');
      return () => frozen.signal('SIGCONT');
    },
    crashes: () => crashes,
    log: () => log,
    stop: async () => {
      stopping.abort();
      program.signal('SIGKILL');
      await keeping;
    },
    end: async () => {
      stopping.abort();
      program.signal('SIGTERM');
      await keeping;
    },
  };
}
