/**
 * The three replicated members of the chart, started by its own scripts: 127.0.0.1 to 127.0.0.3 at the
 * same ports, or hosts of a network of their own, a folder each in place of the volume. Needs root.
 * Nothing is left when they are stopped.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHART } from '../cluster/chart.ts';
import type { Host } from '../network/hosts.ts';
import { runCommand } from '../process/command.ts';
import { makeFolder } from '../process/folder.ts';
import { freePort } from '../process/freePort.ts';
import { end } from './redis.ts';

const SCRIPTS = join(CHART, 'files/redis');
const LOOPBACK: readonly Host[] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map((address) => ({
  address,
  enter: [],
}));
const PASSWORDS = { operator: 'of the operator', gateway: 'of the gateway' };

export type Member = {
  host: string;
  /** In place of its volume. */
  data: string;
  /** Starts Redis and sentinel as its pod would. */
  start(): Promise<void>;
  /** SIGKILL to all of its processes. */
  kill(): Promise<void>;
  /** Kills it, and removes all that its volume has. */
  lose(): Promise<void>;
  /** SIGSTOP to its Redis, until the function that it returns is called. Its sentinel continues. */
  freeze(): () => void;
  /** Runs a command of its Redis as the account of members. */
  call(...command: string[]): Promise<string>;
  isReady(): Promise<boolean>;
  /** What its scripts logged and its servers wrote since its last start. */
  output(): string;
};

export type Members = {
  all: readonly Member[];
  /** For programs. One replica has to confirm. */
  url: string;
  /** The port of each sentinel. */
  sentinelPort: number;
  /** The account of the operator. */
  account: { username: string; password: string };
  stop(): Promise<void>;
};

export type MembersOptions = {
  /** The folder of tls.crt, tls.key and ca.crt; with TLS. */
  certificate?: string;
  /** Of operator and gateway. */
  passwords?: { operator: string; gateway: string };
  /** Where they run, instead of on loopback addresses. */
  hosts?: readonly Host[];
};

/** Makes the members and starts none. */
export async function makeMembers({
  certificate,
  passwords: { operator, gateway } = PASSWORDS,
  hosts = LOOPBACK,
}: MembersOptions = {}): Promise<Members> {
  const { path: folder, remove } = await makeFolder('members');
  const passwords = join(folder, 'passwords');
  await mkdir(passwords);
  await writeFile(join(passwords, 'operator-password'), operator);
  await writeFile(join(passwords, 'gateway-password'), gateway);
  const [port, sentinelPort] = [await freePort(), await freePort()];
  const names = hosts.map(({ address }) => address);
  const place = { folder, passwords, port, sentinelPort, certificate, names };
  const all = await Promise.all(hosts.map((host) => makeMember(host, place)));
  const sentinels = names.map((name) => `${name}:${sentinelPort}`).join(',');
  return {
    all,
    url: `${certificate ? 'rediss' : 'redis'}+sentinel://${sentinels}/windlass?replicas=1`,
    sentinelPort,
    account: { username: 'windlass-operator', password: operator },
    stop: async () => {
      await Promise.all(all.map((member) => member.kill()));
      remove();
    },
  };
}

type Place = {
  folder: string;
  passwords: string;
  port: number;
  sentinelPort: number;
  certificate: string | undefined;
  /** Of all members. */
  names: readonly string[];
};

async function makeMember(
  { address: host, enter }: Host,
  { folder, passwords, port, sentinelPort, certificate, names }: Place,
): Promise<Member> {
  const [data, run] = [join(folder, host, 'data'), join(folder, host, 'run')];
  await mkdir(data, { recursive: true });
  await mkdir(run);
  const tls = certificate && { TLS_FILES: certificate, TLS_AUTHORITY: join(certificate, 'ca.crt') };
  const env = {
    PATH: process.env.PATH,
    MEMBERS: names.join(' '),
    SELF: host,
    PRIMARY_NAME: 'windlass',
    PORT: String(port),
    SENTINEL_PORT: String(sentinelPort),
    DATA: data,
    RUN: run,
    DOWN_AFTER_MS: '3000',
    FAILOVER_TIMEOUT_MS: '5000',
    ...tls,
  };
  const script = (name: string) => join(SCRIPTS, name);
  const list = join(data, 'users.acl');
  // In the form of the chart.
  const server = [
    `--bind ${host}`,
    `--dir ${data}`,
    `--aclfile ${list}`,
    '--appendonly yes',
    '--appendfsync always',
    '--save ""',
    '--protected-mode no',
    `--unixsocket ${join(run, 'redis.sock')}`,
    '--min-replicas-to-write 1',
    '--repl-diskless-sync-delay 0',
    ...listening(port, certificate),
  ];
  let running: ChildProcess[] = [];
  let written = '';
  /** As the first process of a container, with which all others end. They are a group of processes. */
  const startScript = (name: string, args: string[]): ChildProcess => {
    const container = [
      '--pdeathsig',
      'SIGKILL',
      ...enter,
      'unshare',
      '--pid',
      '--fork',
      '--kill-child=SIGKILL',
    ];
    const options = { env, stdio: 'pipe', detached: true } as const;
    const child = spawn('setpriv', [...container, 'sh', script(name), ...args], options);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (written += chunk.toString()));
    }
    return child;
  };
  const kill = async () => {
    await Promise.all(running.map(end));
    running = [];
  };
  return {
    host,
    data,
    start: async () => {
      written = '';
      const shared = certificate ? [run] : [];
      const args = [script('members-accounts.sh'), list, script('accounts.acl'), passwords, ...shared];
      await runCommand('sh', args, { env });
      running = [startScript('member.sh', server), startScript('sentinel.sh', ['--bind', host])];
    },
    kill,
    lose: async () => {
      await kill();
      await rm(data, { recursive: true });
      await mkdir(data);
    },
    freeze: () => {
      const [server] = running;
      if (!server?.pid) throw new Error('the member does not run');
      const group = -server.pid;
      process.kill(group, 'SIGSTOP');
      return () => void process.kill(group, 'SIGCONT');
    },
    call: (...command) => {
      const call = `. ${SCRIPTS}/members.sh; call_redis "$@"`;
      return runCommand('sh', ['-c', call, script('members.sh'), ...command], { env });
    },
    isReady: () =>
      runCommand('sh', [script('member-ready.sh')], { env }).then(
        () => true,
        () => false,
      ),
    output: () => written,
  };
}

function listening(port: number, certificate: string | undefined): string[] {
  if (certificate === undefined) return [`--port ${port}`];
  return [
    '--port 0',
    `--tls-port ${port}`,
    `--tls-cert-file ${join(certificate, 'tls.crt')}`,
    `--tls-key-file ${join(certificate, 'tls.key')}`,
    '--tls-auth-clients no',
  ];
}
