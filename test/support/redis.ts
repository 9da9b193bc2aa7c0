/**
 * A Redis server of one's own: a free port of 127.0.0.1, data in a temporary folder, accounts in an aclfile. Nothing is
 * left when it is stopped, or when the process that started it ends.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pollUntil } from './poll.ts';

export type RedisOptions = {
  /** Default `always`: what is answered is on the disk. */
  appendfsync?: 'always' | 'everysec' | 'no';
  /** Bytes; default none. */
  maxmemory?: number;
  /** Lines of the aclfile at the first start; default: the default user may do everything. */
  acl?: string;
  /** Further lines of the configuration. */
  config?: string[];
};

export type TestRedis = {
  url: string;
  port: number;
  /** Of the server that runs now. */
  pid(): number;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Starts it again on the same data and port; ends it before where it runs. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
};

const FOLDER_PREFIX = 'windlass-redis-';
const START_TIMEOUT_MS = 10_000;

/** Starts a server and waits until it answers. Throws, with what it wrote, where it does not. */
export async function startRedis(options: RedisOptions = {}): Promise<TestRedis> {
  const folder = await makeFolder();
  const port = await freePort();
  await writeFile(join(folder, 'users.acl'), options.acl ?? 'user default on nopass ~* &* +@all\n');
  await writeFile(join(folder, 'redis.conf'), configuration(folder, port, options));
  let child = await launch(folder, port);
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const atExit = () => {
    child.kill('SIGKILL');
    removeFolder();
  };
  process.once('exit', atExit);
  const kill = () => end(child);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => child.pid ?? 0,
    kill,
    restart: async () => {
      await kill();
      child = await launch(folder, port);
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: async () => {
      await kill();
      removeFolder();
      process.removeListener('exit', atExit);
    },
  };
}

/** A new folder; what processes that were killed left behind is removed. */
async function makeFolder(): Promise<string> {
  for (const name of await readdir(tmpdir())) {
    const owner = name.startsWith(FOLDER_PREFIX) ? name.slice(FOLDER_PREFIX.length).split('-')[0] : undefined;
    if (owner && !existsSync(`/proc/${owner}`))
      await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
  return mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
}

function configuration(folder: string, port: number, options: RedisOptions): string {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `logfile ${join(folder, 'redis.log')}`,
    `aclfile ${join(folder, 'users.acl')}`,
    'appendonly yes',
    `appendfsync ${options.appendfsync ?? 'always'}`,
    'save ""',
    'maxmemory-policy noeviction',
    ...(options.maxmemory === undefined ? [] : [`maxmemory ${options.maxmemory}`]),
    ...(options.config ?? []),
    '',
  ].join('\n');
}

async function launch(folder: string, port: number): Promise<ChildProcess> {
  // Also when this process is killed: the kernel then ends the server.
  const child = spawn('setpriv', ['--pdeathsig', 'SIGKILL', 'redis-server', join(folder, 'redis.conf')], {
    stdio: 'ignore',
  });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error('redis-server cannot be started with setpriv; install redis-server and util-linux', {
      cause: error,
    });
  });
  try {
    await Promise.race([
      failed,
      pollUntil('redis-server answering', () => child.exitCode === null && answers(port), {
        timeoutMs: START_TIMEOUT_MS,
        everyMs: 20,
      }),
    ]);
  } catch (error) {
    await end(child);
    const log = await readFile(join(folder, 'redis.log'), 'utf8').catch(() => '');
    throw new Error(`redis-server did not start\n${log.slice(-2_000)}`, { cause: error });
  }
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Whether the server answers, if only that one must log in; while it loads its data it says so instead. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(500, () => settle(false));
    socket.once('data', (data) => settle(/^(\+PONG|-NOAUTH|-NOPERM)/.test(data.toString())));
    socket.once('error', () => settle(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
