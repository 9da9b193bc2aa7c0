/**
 * Poll pods as processes: the program of the image, with the heap that a pod of the chart has, at a real API
 * server and a real run store. Each says at its end what it took.
 */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { CredentialSpec } from '../../../api/credential.ts';
import { connectionOf } from '../../../api/provider.ts';
import { connectionKey, runnerRefs, TOKENS } from '../../../api/token.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces, secrets, serviceAccounts } from '../../../kube/resource.ts';
import { credentialResource } from '../../../runner/credentials.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { hashOf } from '../../../store/oauth/states.ts';
import { putTrigger, type PolledTrigger } from '../../../store/polling/triggers.ts';
import { sharedApiServer } from '../cluster/sharedApiServer.ts';
import { CHART } from '../cluster/chart.ts';
import { makeFolder } from '../process/folder.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { pollUntil } from '../time/poll.ts';
import { startProgram } from '../process/program.ts';
import type { ProgramName } from '../process/programFiles.ts';
import type { RedisOptions } from '../runStore/redis.ts';
import { newProject, startRunStore } from '../runStore/runStore.ts';
import { tokenOf } from '../cluster/users.ts';

/** What a program took: `memoryMiB` the most that was ever resident. */
export type Took = { cpuMs: number; memoryMiB: number };

export type Place = { project: string; namespace: string };

/** An account to poll, by the uid of its workflow. */
type Watched = Pick<PolledTrigger, 'kind' | 'reset'> & {
  uid: string;
  spec: CredentialSpec;
  /** What its Secrets hold, by key; `access_token` is that of a connected account. */
  secrets: Readonly<Record<string, string>>;
  /** Of the trigger, beside the credential. */
  fields?: object;
};

export type PollPods = {
  conn: RunStoreConnection;
  createPlace(): Promise<Place>;
  /** Has pods poll an account from now on, with a credential of its own. */
  watch(place: Place, watched: Watched): Promise<void>;
  /** Has the next pod poll it, although it is not due. */
  makeDue(place: Place, uid: string): Promise<void>;
  /** A pod, from its start to its end: it polls whatever is due. */
  pod(place: Place): Promise<Took>;
  /** Another program of the image, to its end. `before`: when it was started, in milliseconds since 1970. */
  run(name: ProgramName, env: Record<string, string>): Promise<Took & { log: string[]; before: number }>;
  /** How often the API server was asked for credentials and Secrets. */
  requestsSoFar(): Promise<number>;
  stop(): Promise<void>;
};

/** The memory that the chart gives a poll pod. */
export const POD_MIB = await podMemory();

async function podMemory(): Promise<number> {
  const values = parse(await readFile(join(CHART, 'values.yaml'), 'utf8')) as {
    runner: { poll: { resources: { limits: { memory: string } } } };
  };
  const { memory } = values.runner.poll.resources.limits;
  return Number(/^(\d+)Mi$/.exec(memory)?.[1]);
}

/**
 * How Node is told of it: as the operator says in percent, which here would be those of the whole machine.
 */
export const POD_HEAP = [`--max-old-space-size=${POD_MIB / 2}`, '--max-semi-space-size=16'];

/** Where a pod has its service account. */
const MOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount';
/**
 * Makes a program say at its end what it took (the kernel's other counter of memory begins with that of the
 * process before it), and find in a folder of its own what a pod has mounted: a kubeconfig would take more
 * time to read than all else.
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

/** Polled once, and not again by itself. */
const SELDOM_SECONDS = 86_400;

/**
 * Starts what pods talk to; `name`: that of their namespaces. `appendfsync`: whether the run store syncs each
 * write to the disk.
 */
export async function startPollPods(
  name: string,
  { appendfsync = 'always' }: Pick<RedisOptions, 'appendfsync'> = {},
): Promise<PollPods> {
  const [api, store, folder] = await Promise.all([
    sharedApiServer(),
    startRunStore({ appendfsync }),
    makeFolder('poll-pods'),
  ]);
  const { conn } = store;
  const client = createClient(api.connection, { fieldManager: 'test' });
  await allowPods(client);
  await writeFile(join(folder.path, 'token'), await tokenOf(client, 'default', 'pods'));
  await writeFile(join(folder.path, 'namespace'), name);
  await copyFile(api.caFile, join(folder.path, 'ca.crt'));

  async function requestsSoFar(): Promise<number> {
    const text = await kubectl(api, ['get', '--raw', '/metrics']);
    const lines = text
      .split('\n')
      .filter((line) => /^apiserver_request_total\{.*resource="(credentials|secrets)"/.test(line));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  const run: PollPods['run'] = async (program, env) => {
    const errors: string[] = [];
    const before = Date.now();
    const metered = ['--import', `data:text/javascript,${encodeURIComponent(meter(folder.path))}`];
    const own = { ...env, REDIS_URL: store.redis.url };
    const { ended, log } = startProgram(program, own, { errors, nodeArgs: [...POD_HEAP, ...metered] });
    if ((await ended) !== 0) throw new Error(`${program} failed: ${[...log, ...errors].join('\n')}`);
    const took = () => errors.find((line) => line.startsWith('took '));
    const said = await pollUntil('what it took', took, { timeoutMs: 30_000 });
    const [, cpuMs = Number.NaN, memoryMiB = Number.NaN] = said.split(' ').map(Number);
    return { cpuMs, memoryMiB, log, before };
  };

  let places = 0;
  return {
    conn,
    run,
    requestsSoFar,
    createPlace: async () => {
      const namespace = `${name}-${(places += 1)}`;
      await client.create(namespaces, { metadata: { name: namespace } });
      return { project: await newProject(conn), namespace };
    },
    watch: async ({ project, namespace }, { uid, spec, secrets: values, kind, fields, reset }) => {
      await createAccount(client, { namespace, name: uid }, spec, values);
      const names = { workflow: uid, workflowUid: uid, revision: `${uid}-1`, place: uid, kind };
      const seldom = { intervalSeconds: SELDOM_SECONDS, fields: { credential: uid, ...fields } };
      await putTrigger(conn, project, { ...names, ...seldom, ...(reset && { reset }) });
    },
    makeDue: async ({ project }, uid) =>
      void (await conn.command('hdel', keysOf(project).poll(uid), 'at', 'notBefore')),
    pod: ({ project, namespace }) =>
      run('poll', {
        PROJECT_UID: project,
        POD_NAMESPACE: namespace,
        POD_NAME: 'pod',
        EGRESS_ALLOW: '127.0.0.0/8',
        // A name, since a pod goes to no mail server at the address of the API server.
        KUBERNETES_SERVICE_HOST: 'localhost',
        KUBERNETES_SERVICE_PORT: new URL(api.url).port,
      }),
    stop: async () => {
      await client.close();
      await Promise.all([api.stop(), store.stop()]);
      folder.remove();
    },
  };
}

/** The rights are not tested here. */
async function allowPods(client: KubeClient): Promise<void> {
  await client.create(serviceAccounts, { metadata: { namespace: 'default', name: 'pods' } });
  const binding = {
    metadata: { name: 'pods' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'pods' }],
  };
  await client.raw('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { body: binding });
}

/** A Credential, with the Secret that it names or, for a connected account, that of its namespace. */
async function createAccount(
  client: KubeClient,
  metadata: { namespace: string; name: string },
  spec: CredentialSpec,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const data = new Map<string, Record<string, string>>();
  for (const { name, key } of runnerRefs(metadata.name, spec)) {
    const value = values[spec.oauth2 ? 'access_token' : key] ?? '';
    data.set(name, { ...data.get(name), [key]: btoa(value) });
  }
  if (spec.oauth2) {
    const connection = { [connectionKey(metadata.name)]: btoa(hashOf(connectionOf(spec.oauth2))) };
    data.set(TOKENS, { ...data.get(TOKENS), ...connection });
  }
  const { namespace } = metadata;
  for (const [name, content] of data)
    await client.create(secrets, { metadata: { namespace, name }, data: content });
  await client.create(credentialResource, { metadata, spec });
}
