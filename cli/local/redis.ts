/**
 * A Redis of this process alone: it answers at a socket in a folder that only this user can open, writes
 * nothing to the disk, and ends with this process, however that ends.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CommandError, EXIT } from '../shared/exit.ts';

export type LocalRedis = {
  /** The path of its socket. */
  socket: string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
};

/** Either runs the scripts of the run store. */
const SERVERS = ['redis-server', 'valkey-server'] as const;
/** The scripts declare flags, which older servers do not know. */
const LEAST_MAJOR = 7;
const START_MS = 10_000;
const POLL_MS = 5;

/**
 * Starts the server and waits for its socket.
 * @throws CommandError if this machine has none, or an older one
 */
export async function startLocalRedis(): Promise<LocalRedis> {
  const server = await findServer();
  const folder = await mkdtemp(join(tmpdir(), 'windlass-'));
  const socket = join(folder, 'redis.sock');
  const child = launch(server, folder, socket);
  const stop = async (): Promise<void> => {
    const ended = once(child, 'exit');
    // The shell ends the server when its input ends.
    child.stdin?.end();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  if (await appears(socket, child)) return { socket, stop };
  await stop();
  throw new CommandError(EXIT.input, `${server} did not start: execute ${server} --version to see why`);
}

async function findServer(): Promise<string> {
  const found = await Promise.all(SERVERS.map(async (name) => ({ name, major: await majorOf(name) })));
  const usable = found.find(({ major }) => major >= LEAST_MAJOR);
  if (usable) return usable.name;
  throw new CommandError(
    EXIT.input,
    `run --local needs redis-server ${LEAST_MAJOR} or newer, or valkey-server, on this machine: install one of these packages`,
  );
}

/** The major version of a server in the path; 0 if there is none. */
async function majorOf(server: string): Promise<number> {
  try {
    const { stdout } = await promisify(execFile)(server, ['--version']);
    return Number(/\bv=(\d+)/.exec(stdout)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function launch(server: string, folder: string, socket: string): ChildProcess {
  const settings = {
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    dir: folder,
    save: '',
    appendonly: 'no',
    logfile: join(folder, 'redis.log'),
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const shell = '"$@" & read -r _; kill -9 $!';
  // Ctrl-C is for this process, which stops the server when the run has ended.
  return spawn('sh', ['-c', shell, 'windlass', server, ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
}

async function appears(socket: string, child: ChildProcess): Promise<boolean> {
  const until = performance.now() + START_MS;
  while (performance.now() < until && child.exitCode === null) {
    try {
      await access(socket);
      return true;
    } catch {
      await delay(POLL_MS);
    }
  }
  return false;
}
