/**
 * A runner as a process of its own, with real heartbeats, so that tests can kill it as nothing in it expects.
 * A step that uses the credential `deadly` ends the process, one that uses `hungry` takes all the memory that
 * there is.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startHeartbeats } from '../../../runs/heartbeat.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { startTestRunner, type CredentialTable } from './runnerProject.ts';

type Settings = {
  url: string;
  project: string;
  runner: string;
  credentials: CredentialTable;
  concurrency?: number;
};

/**
 * What the process can be told to do: to keep its event loop from turning, or to use more memory than it has.
 */
export type Order = { busyMs: number } | 'exhaust-memory';

/** A beat every 100 ms; others are dead after 1 s without one. */
export const QUICK = { everyMs: 100, deadAfterMs: 1_000 };

/** Starts it, and resolves when it claims. `onStart` is called before. */
export async function spawnRunner(
  settings: Settings,
  nodeArgs: string[] = [],
  onStart?: (pid: number) => Promise<void>,
): Promise<ChildProcess> {
  const program = [fileURLToPath(import.meta.url), JSON.stringify(settings)];
  // The kernel ends it when this process ends, however it ends.
  const child = spawn('setpriv', ['--pdeathsig', 'SIGKILL', process.execPath, ...nodeArgs, ...program], {
    stdio: ['ignore', 'pipe', nodeArgs.length > 0 ? 'ignore' : 'inherit', 'ipc'],
  });
  await onStart?.(child.pid ?? 0);
  const ended = once(child, 'exit').then(() => {
    throw new Error('the runner ended before it claimed');
  });
  await Promise.race([once(createInterface(child.stdout!), 'line'), ended]);
  ended.catch(() => undefined);
  return child;
}

/** SIGKILL, and waits for the end. */
export async function killRunner(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function main(settings: Settings): Promise<void> {
  const { url, project, runner, credentials, concurrency = 50 } = settings;
  const conn = connectRunStore({ url, name: runner });
  await conn.ready();
  const heartbeats = startHeartbeats({ url, project, runner, everyMs: QUICK.everyMs });
  const deadly = {
    get spec(): never {
      return process.exit(1);
    },
  };
  const hungry = {
    get spec(): never {
      return takeAllMemory();
    },
  };
  startTestRunner(conn, project, {
    runner,
    credentials: { hungry, ...credentials, deadly },
    heartbeats,
    takeover: QUICK,
    concurrency,
  });
  process.on('message', (order: Order) =>
    order === 'exhaust-memory' ? exhaustMemory() : block(order.busyMs),
  );
  console.log('claims');
}

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function exhaustMemory(): void {
  const kept: string[][] = [];
  for (;;) kept.push(Array.from({ length: 100_000 }, () => Math.random().toString(36)));
}

/** Outside of the heap, which V8 would end the process for by itself. */
function takeAllMemory(): never {
  const kept: Buffer[] = [];
  for (;;) kept.push(Buffer.alloc(2 ** 20, 1));
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '') as Settings);
