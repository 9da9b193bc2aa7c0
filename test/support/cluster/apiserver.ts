/**
 * etcd and kube-apiserver alone, on free ports of 127.0.0.1: the real thing for tests that need no node.
 * Ready in about three seconds; nothing is left when it is stopped, or when the process that started it ends
 * in whatever way.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeConnection } from '../../../kube/config.ts';
import { ensureBinaries } from '../../cluster/build.ts';
import { certify } from '../../cluster/certificates.ts';
import { kubeconfig } from '../../cluster/kubeconfig.ts';
import { makeFolder } from '../process/folder.ts';
import { freePort } from '../process/freePort.ts';
import { pollUntil } from '../time/poll.ts';
import { createProgress, type Progress } from '../process/progress.ts';

export type ApiServerOptions = {
  /** More arguments for kube-apiserver; a later one of the same name wins. */
  args?: string[];
  progress?: Progress;
};

export type ApiServer = {
  url: string;
  /** Where etcd answers, without authentication. */
  etcdURL: string;
  /** Of a user in the group system:masters, whom no authorizer refuses. */
  kubeconfigPath: string;
  connection: KubeConnection;
  caFile: string;
  adminCertFile: string;
  adminKeyFile: string;
  /** Where kubectl, kube-apiserver, etcd and helm are. */
  binDir: string;
  /** What both programs wrote. */
  logFolder: string;
  /** The two programs, for tests that take one of them away. */
  parts: Record<'etcd' | 'kube-apiserver', ServerPart>;
  /** Ends both and removes their files. */
  stop: () => Promise<void>;
};

type Described = Omit<ApiServer, 'stop' | 'parts'>;

type ServerPart = {
  /** Of the process that runs now, or ran last. */
  pid(): number;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Starts it again on the same ports and data; does not wait until it is ready. */
  start(): Promise<void>;
};

type Ports = { api: number; etcd: number; peer: number };

const issuer = 'https://kubernetes.default.svc.cluster.local';
const attempts = 3;
const MEMORY = '/dev/shm';

/**
 * Starts both and waits until the API server is ready: RBAC, default admission, tokens of service accounts.
 * There are no controllers: namespaces are not emptied, owners' children not collected, ClusterRoles not
 * aggregated, no default service accounts made. Throws with the place of the logs when it does not become
 * ready.
 */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const binDir = await ensureBinaries(options.progress ?? createProgress(process.stderr));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(binDir, options.args ?? []);
    } catch (error) {
      // Between our check and their start another process may have taken a port.
      if (attempt === attempts || !String(error).includes('address already in use')) throw error;
    }
  }
}

async function startOnce(binDir: string, moreArgs: string[]): Promise<ApiServer> {
  // In memory where that is available.
  const { path: folder, remove } = await makeFolder('apiserver', existsSync(MEMORY) ? MEMORY : tmpdir());
  const running = new Map<string, ChildProcess>();
  const stop = async () => {
    // The API server first: without etcd it would wait for its watches; neither has anything to save.
    for (const child of [...running.values()].toReversed()) await kill(child);
    remove();
  };
  const part = async (name: string, args: string[]): Promise<ServerPart> => {
    const start = async () => void running.set(name, await launch(folder, join(binDir, name), args));
    await start();
    const child = () => running.get(name);
    return {
      pid: () => child()?.pid ?? 0,
      kill: async () => {
        const now = child();
        if (now) await kill(now);
      },
      start,
    };
  };
  try {
    const ports = { api: await freePort(), etcd: await freePort(), peer: await freePort() };
    await writeCertificates(binDir, folder);
    const url = `https://127.0.0.1:${ports.api}`;
    const etcd = await part('etcd', etcdArguments(folder, ports));
    const apiserver = await part('kube-apiserver', [...apiServerArguments(folder, ports), ...moreArgs]);
    const server = await describe(folder, binDir, { url, etcdURL: `http://127.0.0.1:${ports.etcd}` });
    await waitUntilReady(server, [...running.values()], folder);
    return { ...server, parts: { etcd, 'kube-apiserver': apiserver }, stop };
  } catch (error) {
    const logs = await lastLogs(folder);
    await stop();
    throw new Error(
      `kube-apiserver did not start: ${error instanceof Error ? error.message : String(error)}\n${logs}`,
      {
        cause: error,
      },
    );
  }
}

function etcdArguments(folder: string, ports: Ports): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

function apiServerArguments(folder: string, ports: Ports): string[] {
  return [
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.api}`,
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    // There is no address that pods could reach it at.
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=RBAC',
    `--client-ca-file=${join(folder, 'ca.crt')}`,
    `--tls-cert-file=${join(folder, 'apiserver.crt')}`,
    `--tls-private-key-file=${join(folder, 'apiserver.key')}`,
    `--service-account-issuer=${issuer}`,
    `--service-account-signing-key-file=${join(folder, 'service-accounts.key')}`,
    `--service-account-key-file=${join(folder, 'service-accounts.pub')}`,
    '--shutdown-delay-duration=0s',
  ];
}

async function writeCertificates(binDir: string, folder: string): Promise<void> {
  await certify(binDir, folder, {
    certificates: [
      { name: 'ca', commonName: 'windlass-test' },
      {
        name: 'apiserver',
        issuer: 'ca',
        commonName: 'kube-apiserver',
        hosts: ['127.0.0.1', 'localhost', 'kubernetes.default.svc'],
      },
      { name: 'admin', issuer: 'ca', commonName: 'admin', organizations: ['system:masters'] },
    ],
    signingKeys: ['service-accounts'],
  });
}

async function describe(
  folder: string,
  binDir: string,
  urls: Pick<ApiServer, 'url' | 'etcdURL'>,
): Promise<Described> {
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  const [ca, cert, key] = await Promise.all([read('ca.crt'), read('admin.crt'), read('admin.key')]);
  const kubeconfigPath = join(folder, 'kubeconfig');
  await writeFile(kubeconfigPath, kubeconfig({ cluster: 'test', server: urls.url, ca, cert, key }), {
    mode: 0o600,
  });
  return {
    ...urls,
    kubeconfigPath,
    connection: { server: urls.url, ca, auth: { cert, key } },
    caFile: join(folder, 'ca.crt'),
    adminCertFile: join(folder, 'admin.crt'),
    adminKeyFile: join(folder, 'admin.key'),
    binDir,
    logFolder: folder,
  };
}

async function waitUntilReady(server: Described, processes: ChildProcess[], folder: string): Promise<void> {
  const ended = new AbortController();
  for (const child of processes) child.once('exit', () => ended.abort());
  const ready = () => {
    if (ended.signal.aborted) throw new Error('it ended');
    return answersOk(server);
  };
  await pollUntil(`a ready API server (logs in ${folder})`, ready, {
    timeoutMs: 60_000,
    everyMs: 50,
    signal: ended.signal,
  });
}

function answersOk(server: Described): Promise<boolean> {
  const { ca, auth } = server.connection;
  return new Promise((resolve) => {
    const asked = request(`${server.url}/readyz`, {
      ca,
      cert: auth.cert,
      key: auth.key,
      timeout: 1000,
      agent: false,
    });
    asked.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}

/** The kernel ends the program when this process ends, however it ends. */
async function launch(folder: string, program: string, args: string[]): Promise<ChildProcess> {
  const log = await open(join(folder, `${program.slice(program.lastIndexOf('/') + 1)}.log`), 'a');
  try {
    return spawn('setpriv', ['--pdeathsig', 'SIGKILL', program, ...args], {
      stdio: ['ignore', log.fd, log.fd],
    });
  } finally {
    await log.close();
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.kill('SIGKILL')) await ended;
}

async function lastLogs(folder: string): Promise<string> {
  const read = (name: string) => readFile(join(folder, name), 'utf8').catch(() => '');
  const [etcd, apiserver] = await Promise.all([read('etcd.log'), read('kube-apiserver.log')]);
  return [...etcd.split('\n').slice(-8), ...apiserver.split('\n').slice(-15)].filter(Boolean).join('\n');
}
