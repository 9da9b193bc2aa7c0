/**
 * A Redis server of one's own: a free port of 127.0.0.1 or of a host, data in a temporary folder, accounts in
 * an aclfile. Nothing is left when it is stopped, or when the process that started it ends.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '../network/hosts.ts';
import { runCommand } from '../process/command.ts';
import { makeFolder } from '../process/folder.ts';
import { freePort } from '../process/freePort.ts';
import { pollUntil } from '../time/poll.ts';

/** Both speak the same protocol. */
export type ServerProgram = 'redis-server' | 'valkey-server';

export type RedisOptions = {
  /** Default: `redis-server`. */
  program?: ServerProgram;
  /** Default `always`: what is answered is on the disk. */
  appendfsync?: 'always' | 'everysec' | 'no';
  /** Bytes; default none. */
  maxmemory?: number;
  /** Lines of the aclfile at the first start; default: the default user may do everything. */
  acl?: string;
  /** Further lines of the configuration. */
  config?: string[];
  /**
   * Answers by TLS alone: the folder with tls.crt and tls.key, and the path of a socket at which it answers
   * without.
   */
  tls?: { certificate: string; socket: string };
  /** Puts log and accounts onto a volume of their own of that size. Needs root. */
  volumeMiB?: number;
  /** Further environment variables of the server. */
  env?: Record<string, string>;
  /** Where it runs, instead of on 127.0.0.1. */
  host?: Host;
};

export type TestRedis = {
  url: string;
  address: string;
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
  /** The folder of its data, as this process sees it. */
  folder: string;
  /**
   * Starts it again on the same port without any data, and with the accounts of its first start. A server
   * of a Redis Cluster is a new one that belongs to none.
   */
  replace(): Promise<void>;
  /**
   * Starts it again whenever it has ended, as the kubelet would, until the function that it returns is
   * called.
   */
  supervise(): () => Promise<void>;
  /** Makes its volume larger or smaller. */
  resizeVolume(mebibytes: number): Promise<void>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
};

const LOOPBACK: Host = { address: '127.0.0.1', enter: [] };
const START_TIMEOUT_MS = 10_000;
/** Between two checks whether it has ended. */
const SUPERVISED_MS = 100;

/** Starts a server and waits until it answers. Throws, with what it wrote, where it does not. */
export async function startRedis(options: RedisOptions = {}): Promise<TestRedis> {
  const { path: folder, remove } = await makeFolder('redis');
  const port = await freePort();
  const volume = options.volumeMiB === undefined ? undefined : await mountVolume(folder, options.volumeMiB);
  const seen = volume ? `/proc/${volume.pid}/root${folder}` : folder;
  const accounts = options.acl ?? 'user default on nopass ~* &* +@all\n';
  await writeFile(join(seen, 'users.acl'), accounts);
  await writeFile(join(seen, 'redis.conf'), configuration(folder, port, options));
  const at = options.tls?.socket ?? port;
  const { env = {}, program, host = LOOPBACK } = options;
  const start = () =>
    launch({ folder, seen, at, env, host, ...(program && { program }), ...(volume && { volume }) });
  let child = await start();
  const kill = () => end(child);
  return {
    url: `${options.tls ? 'rediss' : 'redis'}://${host.address}:${port}`,
    address: host.address,
    port,
    folder: seen,
    pid: () => child.pid ?? 0,
    kill,
    restart: async () => {
      await kill();
      child = await start();
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    replace: async () => {
      await kill();
      await rm(join(seen, 'appendonlydir'), { recursive: true });
      await rm(join(seen, 'nodes.conf'), { force: true });
      await writeFile(join(seen, 'users.acl'), accounts);
      child = await start();
    },
    supervise: () => {
      const stopping = new AbortController();
      const supervised = (async () => {
        while (!stopping.signal.aborted) {
          if (hasEnded(child)) child = await start();
          await delay(SUPERVISED_MS);
        }
      })();
      return () => {
        stopping.abort();
        return supervised;
      };
    },
    resizeVolume: async (mebibytes) => {
      if (!volume) throw new Error('it has no volume of its own');
      const mount = ['mount', '-o', `remount,size=${mebibytes}m`, folder];
      await runCommand('nsenter', [...inVolume(volume), ...mount]);
    },
    stop: async () => {
      await kill();
      if (volume) await end(volume);
      remove();
    },
  };
}

/** A file system of that size over the folder, in a mount namespace that lasts as long as the process. */
async function mountVolume(folder: string, mebibytes: number): Promise<ChildProcess> {
  const script = `mount -t tmpfs -o size=${mebibytes}m tmpfs ${folder} && echo mounted && exec sleep infinity`;
  const args = [
    '--mount',
    '--propagation',
    'private',
    'setpriv',
    '--pdeathsig',
    'SIGKILL',
    'sh',
    '-c',
    script,
  ];
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'exit').then(() => {
    throw new Error('no volume can be mounted; run this test as root');
  });
  await Promise.race([once(child.stdout, 'data'), failed]);
  failed.catch(() => undefined);
  return child;
}

function inVolume(volume: ChildProcess): string[] {
  return [`--mount=/proc/${volume.pid}/ns/mnt`];
}

function configuration(folder: string, port: number, options: RedisOptions): string {
  return [
    ...listening(port, options.tls),
    `bind ${(options.host ?? LOOPBACK).address}`,
    `dir ${folder}`,
    `logfile ${join(folder, 'redis.log')}`,
    `aclfile ${join(folder, 'users.acl')}`,
    'appendonly yes',
    `appendfsync ${options.appendfsync ?? 'always'}`,
    'save ""',
    'maxmemory-policy noeviction',
    'hash-max-listpack-entries 64',
    'hash-max-listpack-value 1024',
    ...(options.maxmemory === undefined ? [] : [`maxmemory ${options.maxmemory}`]),
    ...(options.config ?? []),
    '',
  ].join('\n');
}

/** As the chart has it. */
function listening(port: number, tls: RedisOptions['tls']): string[] {
  if (tls === undefined) return [`port ${port}`];
  return [
    'port 0',
    `tls-port ${port}`,
    `tls-cert-file ${join(tls.certificate, 'tls.crt')}`,
    `tls-key-file ${join(tls.certificate, 'tls.key')}`,
    'tls-auth-clients no',
    `unixsocket ${tls.socket}`,
  ];
}

/** `at`: where it answers without TLS, a port or the path of a socket. */
type Place = {
  folder: string;
  seen: string;
  at: number | string;
  env: Record<string, string>;
  host?: Host;
  volume?: ChildProcess;
  program?: ServerProgram;
  /** Further arguments of the program. */
  args?: string[];
};

/** Starts the program on the redis.conf of the folder, and waits until it answers. */
export async function launch({
  folder,
  seen,
  at,
  env,
  host = LOOPBACK,
  volume,
  program = 'redis-server',
  args: more = [],
}: Place): Promise<ChildProcess> {
  // Also when this process is killed: the kernel then ends the server.
  const server = ['setpriv', '--pdeathsig', 'SIGKILL', program, join(folder, 'redis.conf'), ...more];
  const inside = volume ? ['nsenter', ...inVolume(volume)] : [];
  const [command = '', ...args] = [...host.enter, ...inside, ...server];
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error(`${program} cannot be started with setpriv; install ${program} and util-linux`, {
      cause: error,
    });
  });
  try {
    await Promise.race([
      failed,
      pollUntil('redis-server answering', () => !hasEnded(child) && answers(at, host), {
        timeoutMs: START_TIMEOUT_MS,
        everyMs: 20,
      }),
    ]);
  } catch (error) {
    await end(child);
    const log = await readFile(join(seen, 'redis.log'), 'utf8').catch(() => '');
    throw new Error(`redis-server did not start\n${log.slice(-2_000)}`, { cause: error });
  }
  return child;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Kills it, and waits for its end. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Whether the server answers, if only that one must log in; while it loads its data it says so instead. */
function answers(at: number | string, { address }: Host): Promise<boolean> {
  return new Promise((resolve) => {
    const to = typeof at === 'number' ? { port: at, host: address } : { path: at };
    const socket = connect(to, () => socket.write('PING\r\n'));
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(500, () => settle(false));
    socket.once('data', (data) => settle(/^(\+PONG|-NOAUTH|-NOPERM)/.test(data.toString())));
    socket.once('error', () => settle(false));
  });
}
