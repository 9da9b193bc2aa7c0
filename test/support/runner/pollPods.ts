/**
 * Poll pods as processes: the program of the image, with the heap that a pod of the chart has, at a real API
 * server and a real run store. Each says at its end what it took.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { CredentialSpec } from '../../../api/credential.ts';
import { connectionOf } from '../../../api/provider.ts';
import { connectionKey, runnerRefs, TOKENS } from '../../../api/token.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces, secrets } from '../../../kube/resource.ts';
import { credentialResource } from '../../../runner/credentials.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { hashOf } from '../../../store/oauth/states.ts';
import { putTrigger, type PolledTrigger } from '../../../store/polling/triggers.ts';
import { sharedApiServer } from '../cluster/sharedApiServer.ts';
import { CHART } from '../cluster/chart.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { pollUntil } from '../time/poll.ts';
import { startProgram } from '../process/program.ts';
import type { ProgramName } from '../process/programFiles.ts';
import type { RedisOptions } from '../runStore/redis.ts';
import { newProject, startRunStore } from '../runStore/runStore.ts';
import { importing, mountAccount } from './mountedAccount.ts';

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

/**
 * Makes a program say at its end what it took (the kernel's other counter of memory begins with that of the
 * process before it).
 */
const METER = `
import { readFileSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const most = /^VmHWM:\\s+(\\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))[1];
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
  const [api, store] = await Promise.all([sharedApiServer(), startRunStore({ appendfsync })]);
  const { conn } = store;
  const client = createClient(api.connection, { fieldManager: 'test' });
  const account = await mountAccount(api, client, name);

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
    const nodeArgs = [...POD_HEAP, ...account.nodeArgs, ...importing(METER)];
    const own = { ...env, REDIS_URL: store.redis.url };
    const { ended, log } = startProgram(program, own, { errors, nodeArgs });
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
        ...account.env,
      }),
    stop: async () => {
      await client.close();
      await Promise.all([api.stop(), store.stop()]);
      account.remove();
    },
  };
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
