/**
 * `polling`: what one poll pod costs, as the program of the image, where nothing is due and where it looks at 1, 10 and 100 accounts of a
 * real IMAP server: CPU, memory, and what it asks the API server, also where there are many new mails. And how soon a tick has its run.
 */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPrograms } from '../../images/bundle.ts';
import { layOut } from '../../images/files.ts';
import { createClient } from '../../kube/client.ts';
import { namespaces, secrets, serviceAccounts } from '../../kube/resource.ts';
import { credentialResource } from '../../runner/credentials.ts';
import { keysOf } from '../../runs/keys.ts';
import { putTrigger } from '../../runs/polling/triggers.ts';
import { startApiServer } from '../support/apiserver.ts';
import { installCrds } from '../support/crds.ts';
import { IMAP_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { kubectl } from '../support/kubectl.ts';
import { pollUntil } from '../support/poll.ts';
import { startProgram } from '../support/program.ts';
import { newProject, startRunStore } from '../support/runStore.ts';
import { tokenOf } from '../support/users.ts';
import { median, type Figure } from './report.ts';

const COUNTS = [1, 10, 100];
const MAILS = [0, 10, 100];
const ROUNDS = 5;
/** Where a pod has its service account. */
const MOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount';
/**
 * Makes a program say at its end what it took (the kernel's other counter of memory begins with that of the process before it), and find
 * in a folder of its own what a pod has mounted: a kubeconfig would take more time to read than all else.
 */
const meter = (folder: string): string => `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const read = fs.readFileSync;
const placeOf = (path) => (typeof path === 'string' ? path.replace('${MOUNTED}', '${folder}') : path);
fs.readFileSync = (path, ...options) => read(placeOf(path), ...options);
syncBuiltinESMExports();
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const most = /^VmHWM:\\s+(\\d+) kB/m.exec(read('/proc/self/status', 'utf8'))[1];
  console.error('took ' + (userCPUTime + systemCPUTime) / 1000 + ' ' + most / 1024);
});`;

type Took = { cpuMs: number; memoryMiB: number; requests: number };

export async function polling(): Promise<Figure[]> {
  const stage = await startStage();
  try {
    const figures: Figure[] = [];
    for (const count of COUNTS)
      figures.push(...figuresOf(`triggers: ${count}, due: 0`, await stage.idle(count)));
    for (const count of COUNTS)
      figures.push(...figuresOf(`triggers: ${count}, due: ${count}`, await stage.looks(count)));
    for (const mails of MAILS) {
      const { requests, runs } = await stage.looks(1, mails);
      if (runs !== mails) throw new Error(`${mails} mails started ${runs} runs`);
      figures.push({ name: `one account, new mails: ${mails}`, value: requests, unit: 'API requests' });
    }
    return [...figures, ...(await ticks(stage.tick))];
  } finally {
    await stage.stop();
  }
}

async function ticks(tick: (round: number) => Promise<Took & { ms: number }>): Promise<Figure[]> {
  const rounds: (Took & { ms: number })[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await tick(round));
  const medianOf = (field: 'ms' | 'cpuMs' | 'memoryMiB') => median(rounds.map((took) => took[field]));
  return [
    { name: 'a tick, from its start to its run', value: medianOf('ms'), unit: 'ms' },
    { name: 'a tick', value: medianOf('cpuMs'), unit: 'ms of CPU' },
    { name: 'a tick', value: medianOf('memoryMiB'), unit: 'MiB' },
  ];
}

function figuresOf(name: string, { cpuMs, memoryMiB, requests }: Took): Figure[] {
  return [
    { name, value: cpuMs, unit: 'ms of CPU' },
    { name, value: memoryMiB, unit: 'MiB' },
    { name, value: requests, unit: 'API requests' },
  ];
}

/** The program of the image, with all that it talks to. */
async function startStage() {
  const [api, store, mail, folder] = await Promise.all([
    startApiServer(),
    startRunStore({ appendfsync: 'always' }),
    startDovecot({ oneFile: true }),
    mkdtemp(join(tmpdir(), 'windlass-poll-')),
  ]);
  const client = createClient(api.connection, { fieldManager: 'bench' });
  await installCrds(client);
  await layOut(await bundledPrograms('windlass'), folder);
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  const binding = {
    metadata: { name: 'pods' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'pods' }],
  };
  await client.create(serviceAccounts, { metadata: { namespace: 'default', name: 'pods' } });
  await client.raw('POST', bindings, { body: binding });
  await writeFile(join(folder, 'token'), await tokenOf(client, 'default', 'pods'));
  await writeFile(join(folder, 'namespace'), 'bench');
  await copyFile(api.caFile, join(folder, 'ca.crt'));

  /** What the API server was asked of credentials and Secrets so far. */
  async function requestsSoFar(): Promise<number> {
    const text = await kubectl(api, ['get', '--raw', '/metrics']);
    const lines = text
      .split('\n')
      .filter((line) => /^apiserver_request_total\{.*resource="(credentials|secrets)"/.test(line));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }
  let projects = 0;

  /** A project with so many triggers, of an account and a Secret each; each account has so many mails that nobody has looked at. */
  async function createProject(
    count: number,
    mails: number,
  ): Promise<{ project: string; namespace: string }> {
    const project = await newProject(store.conn);
    const namespace = `bench-${(projects += 1)}`;
    await client.create(namespaces, { metadata: { name: namespace } });
    for (let n = 0; n < count; n += 1) {
      const uid = `uid-${n}`;
      const metadata = { name: uid, namespace };
      const username = `${namespace}-${n}`;
      if (mails > 0) mail.fill(username, mails);
      const imap = { host: '127.0.0.1', port: mail.port, tls: 'None', username } as const;
      const spec = { imap: { ...imap, passwordRef: { name: uid, key: 'password' } } };
      await client.create(secrets, { metadata, data: { password: btoa(IMAP_PASSWORD) } });
      await client.create(credentialResource, { metadata, spec });
      const names = { workflow: uid, workflowUid: uid, revision: `${uid}-1`, place: uid };
      const fields = { credential: uid };
      await putTrigger(store.conn, project, {
        ...names,
        kind: 'mail',
        fields,
        intervalSeconds: 3_600,
        ...(mails > 0 && { reset: { value: 'past', since: '2025-01-01T00:00:00Z' } }),
      });
    }
    return { project, namespace };
  }

  /** A program of the image, to its end. `before`: when it was started, in milliseconds since 1970. */
  async function run(
    name: string,
    env: Record<string, string>,
  ): Promise<Took & { log: string[]; before: number }> {
    const errors: string[] = [];
    const asked = await requestsSoFar();
    const before = Date.now();
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(meter(folder))}`];
    const options = { program: join(folder, `app/${name}.mjs`), nodeArgs, errors };
    const { ended, log } = startProgram('runner', { ...env, REDIS_URL: store.redis.url }, options);
    if ((await ended) !== 0) throw new Error(`${name} failed: ${[...log, ...errors].join('\n')}`);
    const took = () => errors.find((line) => line.startsWith('took '));
    const said = await pollUntil('what it took', took, { timeoutMs: 5_000 });
    const [, cpuMs = Number.NaN, memoryMiB = Number.NaN] = said.split(' ').map(Number);
    return { cpuMs, memoryMiB, requests: (await requestsSoFar()) - asked, log, before };
  }

  const pod = ({ project, namespace }: { project: string; namespace: string }): Promise<Took> =>
    run('poll', {
      PROJECT_UID: project,
      POD_NAMESPACE: namespace,
      POD_NAME: 'pod',
      EGRESS_ALLOW: '127.0.0.0/8',
      // A name, since a pod goes to no mail server at the address of the API server.
      KUBERNETES_SERVICE_HOST: 'localhost',
      KUBERNETES_SERVICE_PORT: new URL(api.url).port,
    });

  /** A tick, with the time from its start until its run is accepted. */
  async function tick(round: number): Promise<Took & { ms: number }> {
    const workflow = { WORKFLOW: 'report', WORKFLOW_UID: 'report', REVISION: 'report-1', TIME_ZONE: 'UTC' };
    const job = { CRON_JOB: 'report', JOB_NAME: `by-hand-${round}`, JOB_UID: `uid-${round}` };
    const took = await run('tick', { PROJECT_UID: await newProject(store.conn), ...workflow, ...job });
    const line = took.log.map((text) => JSON.parse(text) as { msg: string; time: number });
    const { time = Number.NaN } = line.find(({ msg }) => msg === 'run started') ?? {};
    return { ...took, ms: time - took.before };
  }

  return {
    tick,
    idle: async (count: number): Promise<Took> => {
      const place = await createProject(count, 0);
      const now = String(Date.now());
      for (let n = 0; n < count; n += 1)
        await store.conn.command('hset', keysOf(place.project).poll(`uid-${n}`), 'at', now);
      const rounds: Took[] = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await pod(place));
      const medianOf = (field: keyof Took) => median(rounds.map((took) => took[field]));
      return { cpuMs: medianOf('cpuMs'), memoryMiB: medianOf('memoryMiB'), requests: medianOf('requests') };
    },
    looks: async (count: number, mails = 0): Promise<Took & { runs: number }> => {
      const place = await createProject(count, mails);
      const took = await pod(place);
      const runs = await store.conn.command('zcard', keysOf(place.project).runs('uid-0'));
      return { ...took, runs: Number(runs) };
    },
    stop: async () => {
      await client.close();
      await Promise.all([api.stop(), store.stop(), mail.close(), rm(folder, { recursive: true })]);
    },
  };
}
