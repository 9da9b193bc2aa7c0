/**
 * The three replicated members of the chart, started by its own scripts: 127.0.0.1 to 127.0.0.3 at the same
 * ports, a folder each in place of the volume. Needs root. Nothing is left when they are stopped.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHART } from '../cluster/chart.ts';
import { runCommand } from '../process/command.ts';
import { makeFolder } from '../process/folder.ts';
import { freePort } from '../process/freePort.ts';
import { end } from './redis.ts';

const SCRIPTS = join(CHART, 'files/redis');
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const OPERATOR_PASSWORD = 'of the operator';

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
  /** Runs a command of its Redis as the account of members. */
  call(...command: string[]): Promise<string>;
  isReady(): Promise<boolean>;
  /** What its scripts logged and its servers wrote since its last start. */
  output(): string;
};

export type Members = {
  all: readonly Member[];
  /** For programs. */
  url: string;
  /** The account of the operator. */
  account: { username: string; password: string };
  stop(): Promise<void>;
};

/** Makes the members and starts none. `certificate`: the folder of tls.crt, tls.key and ca.crt; with TLS. */
export async function makeMembers(certificate?: string): Promise<Members> {
  const { path: folder, remove } = await makeFolder('members');
  const passwords = join(folder, 'passwords');
  await mkdir(passwords);
  await writeFile(join(passwords, 'operator-password'), OPERATOR_PASSWORD);
  await writeFile(join(passwords, 'gateway-password'), 'of the gateway');
  const [port, sentinelPort] = [await freePort(), await freePort()];
  const place = { folder, passwords, port, sentinelPort, certificate };
  const all = await Promise.all(HOSTS.map((host) => makeMember(host, place)));
  const sentinels = HOSTS.map((host) => `${host}:${sentinelPort}`).join(',');
  return {
    all,
    url: `${certificate ? 'rediss' : 'redis'}+sentinel://${sentinels}/windlass?replicas=1`,
    account: { username: 'windlass-operator', password: OPERATOR_PASSWORD },
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
};

async function makeMember(
  host: string,
  { folder, passwords, port, sentinelPort, certificate }: Place,
): Promise<Member> {
  const [data, run] = [join(folder, host, 'data'), join(folder, host, 'run')];
  await mkdir(data, { recursive: true });
  await mkdir(run);
  const tls = certificate && { TLS_FILES: certificate, TLS_AUTHORITY: join(certificate, 'ca.crt') };
  const env = {
    PATH: process.env.PATH,
    MEMBERS: HOSTS.join(' '),
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
  /** As the first process of a container, with which all others end. */
  const startScript = (name: string, args: string[]): ChildProcess => {
    const container = ['--pdeathsig', 'SIGKILL', 'unshare', '--pid', '--fork', '--kill-child=SIGKILL'];
    const child = spawn('setpriv', [...container, 'sh', script(name), ...args], { env, stdio: 'pipe' });
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
