/**
 * Everything that the operator works with, but no nodes: an API server with the CRDs, a run store, a stand-in
 * for the gateway, pools that become ready at once. The operator runs in this process, with the rights that
 * the chart gives it and under the policies that bound it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import type { Workflow } from '../../../api/kinds.ts';
import { createAudit } from '../../../api/audit/audit.ts';
import { createCache } from '../../../kube/cache.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { systemClock } from '../../../kube/clock.ts';
import type { KubeConnection } from '../../../kube/config.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { isNotFound } from '../../../kube/errors.ts';
import { deployments, namespaces, secrets, type Deployment } from '../../../kube/resource.ts';
import { readConfig } from '../../../operator/shared/config.ts';
import { POOL } from '../../../operator/shared/names.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import { runOperator } from '../../../operator/start.ts';
import { OPERATOR_ACCOUNT } from '../../../store/accounts.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { aclFile } from '../runStore/aclFile.ts';
import type { ApiServer } from '../cluster/apiserver.ts';
import { sharedApiServer } from '../cluster/sharedApiServer.ts';
import { createCheckAnswers } from './checkResults.ts';
import { createCollectedLog, type CollectedLog } from '../logs/collectedLog.ts';
import { ADMISSION, applyChart } from '../cluster/chart.ts';
import { runCommand } from '../process/command.ts';
import { startFakeGateway, type FakeGateway } from './fakeGateway.ts';
import { createObjectApplier } from '../cluster/objectApplier.ts';
import { pollUntil } from '../time/poll.ts';
import { startRedis, type RedisOptions, type TestRedis } from '../runStore/redis.ts';
import { connectionOf, tokenOf } from '../cluster/users.ts';

export type OperatorHarness = {
  server: ApiServer;
  /** May do everything. */
  client: KubeClient;
  redis: TestRedis;
  /** The accounts that the server started with. */
  acl: string;
  /** As the operator's account. */
  conn: RunStoreConnection;
  /** What the operator's and the gateway's accounts log in with. */
  password: string;
  gateway: FakeGateway;
  log: CollectedLog;
  /** The lines of its audit trail. */
  trail: string[];
  /** How the operator reaches the API server, with its own token. */
  connection: KubeConnection;
  /** Starts the operator, if it does not run; over another connection if one is given. */
  startOperator(through?: KubeConnection): void;
  /** Ends it, and waits for its end. */
  stopOperator(): Promise<void>;
  /** Makes a namespace of its own and returns its name and uid. */
  createProject(): Promise<{ namespace: string; uid: string }>;
  /** Applies a manifest server-side, as kubectl does. */
  apply(namespace: string, manifest: string): Promise<string>;
  /** What the operator that runs counts. */
  metrics(): Promise<string>;
  /** What Redis answers to a command, in lines. */
  redisCommand(...args: string[]): Promise<string[]>;
  /** Waits until the condition is as said; returns the workflow. Throws with what it says instead. */
  waitFor(
    namespace: string,
    name: string,
    condition: ExpectedCondition,
    timeoutMs?: number,
  ): Promise<Workflow>;
  stop(): Promise<void>;
};

/** `reason` left out: any. It must be said of the current generation. */
type ExpectedCondition = { type: string; status: string; reason?: string };

const POOL_WITHIN = { timeoutMs: 60_000 };

export const SYSTEM = 'windlass-system';
/** Settings of the operator with which pools have every part that they can have. */
export const WHOLE_POOL = {
  RUNNER_REPLICAS: '2',
  RUNNER_DISRUPTION_BUDGET: 'true',
  RUNNER_NETWORK: '{"ingress":[],"egress":[]}',
};
const SECRET = 'windlass-run-store';
const RUNNER_IMAGE = 'windlass:test';
/** User and password of an account of the run store that may do everything. */
export const TESTER = 'tester';

export type HarnessOptions = {
  /** The namespaces that the operator serves, which are made, and have its rights alone. Left out: all. */
  watchNamespaces?: string[];
  /** Further templates of the chart to apply. */
  templates?: string[];
  /**
   * False: the operator is a program that reaches the run store elsewhere, so that the policies on its pods
   * do not fit.
   */
  bounded?: boolean;
  /** Further settings of the operator. */
  env?: Record<string, string>;
  /** True: runners that the test starts try the credentials. Left out: all work. */
  triesCredentials?: boolean;
  /** False: no pool becomes ready unless the test writes the status of its Deployment. */
  startsPools?: boolean;
  /** How the run store is set up, beside its accounts. */
  redis?: Omit<RedisOptions, 'acl'>;
};

/** Starts all of it but the operator. */
export async function startOperatorHarness(options: HarnessOptions = {}): Promise<OperatorHarness> {
  const { watchNamespaces = [], templates = [], redis: redisOptions = {} } = options;
  const env = { ...LOOPBACK, ...options.env };
  const { triesCredentials = false, bounded = true, startsPools = true } = options;
  const server = await sharedApiServer();
  const client = createClient(server.connection, { fieldManager: 'test' });
  const applier = createObjectApplier(server);
  const password = randomBytes(16).toString('hex');
  const sha256 = createHash('sha256').update(password).digest('hex');
  const accounts = aclFile({ operatorSha256: sha256, gatewaySha256: sha256 });
  const acl = `${accounts}user ${TESTER} on >${TESTER} ~* &* +@all\n`;
  const redis = await startRedis({ ...redisOptions, acl });
  for (const name of [SYSTEM, ...watchNamespaces]) await client.create(namespaces, { metadata: { name } });
  await createPasswords(client, password);
  const bounds = ADMISSION.filter((name) => name.startsWith('admission-operator'));
  const further = templates.filter((name) => !bounds.includes(name));
  const own = ['operator', 'operator-rbac', ...(bounded ? bounds : []), ...further];
  await applyChart(server, SYSTEM, {
    templates: own,
    values: { ...valuesOf(redis.url, env), watchNamespaces },
  });
  const token = await tokenOf(client, SYSTEM, 'windlass-operator');
  const gateway = await startFakeGateway(client, SYSTEM);
  const log = createCollectedLog();
  const trail: string[] = [];
  const conn = connectRunStore({ url: redis.url, username: OPERATOR_ACCOUNT, password, name: 'test' });
  const connection = connectionOf(server.connection, token);
  const pools = startsPools ? keepPoolsReady(client, triesCredentials ? undefined : conn) : undefined;
  let running: { stopping: AbortController; ended: Promise<void> } | undefined;
  let projects = 0;

  function startOperator(through: KubeConnection = connection): void {
    if (running) return;
    const stopping = new AbortController();
    const config = readConfig({
      POD_NAME: 'operator-1',
      PUBLIC_URL: 'https://hooks.example.com',
      REDIS_URL: redis.url,
      RUNNER_IMAGE,
      METRICS_PORT: '0',
      WATCH_NAMESPACES: watchNamespaces.join(','),
      ...env,
    });
    const onLost = (): void => log.error({}, 'lost the lease');
    const audit = createAudit({
      source: { program: 'operator', pod: config.POD_NAME },
      write: (line) => void trail.push(line),
      clock: systemClock,
    });
    const options = { config, namespace: SYSTEM, log, audit, signal: stopping.signal, onLost };
    running = { stopping, ended: runOperator({ ...options, connection: through }) };
  }

  async function stopOperator(): Promise<void> {
    running?.stopping.abort();
    await running?.ended;
    running = undefined;
  }

  return {
    server,
    client,
    redis,
    acl,
    conn,
    password,
    gateway,
    log,
    trail,
    connection,
    startOperator,
    stopOperator,
    createProject: async () => {
      const name = `project-${(projects += 1)}`;
      const { metadata } = await client.create(namespaces, { metadata: { name } });
      return { namespace: name, uid: metadata.uid ?? '' };
    },
    apply: applier.apply,
    metrics: async () => {
      const listening = log.entries.findLast(({ message }) => message === 'listening');
      if (!listening) throw new Error('the operator does not run');
      const { port } = listening.fields as { port: number };
      return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    },
    redisCommand: async (...args) => {
      const login = ['-p', String(redis.port), '--user', TESTER, '--pass', TESTER, '--no-auth-warning'];
      return (await runCommand('redis-cli', [...login, ...args])).trim().split('\n');
    },
    waitFor: async (namespace, name, condition, timeoutMs = 40_000) => {
      try {
        return await waitForCondition(client, { namespace, name }, condition, timeoutMs);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${complaints(log)}`, { cause: error });
      }
    },
    stop: async () => {
      await stopOperator();
      await gateway.stop();
      await pools?.stop();
      await conn.close();
      await client.close();
      await applier.close();
      await redis.stop();
      await server.stop();
    },
  };
}

/** Servers of tests are on this machine, so that steps may connect to it. */
const LOOPBACK = { RUNNER_EGRESS_ALLOW: '127.0.0.0/8' };

/** Chart values that match the operator's options, so that the admission policies accept its pods. */
function valuesOf(
  redisURL: string,
  { RUNNER_EGRESS_ALLOW = '', PROJECT_SETTINGS_BOUNDS = '{}', LOG_LEVEL = 'info' }: Record<string, string>,
): Record<string, unknown> {
  const { egressAllow: allow = [], ...bounds } = JSON.parse(PROJECT_SETTINGS_BOUNDS) as {
    egressAllow?: string[];
  };
  const [repository, tag] = RUNNER_IMAGE.split(':');
  return {
    image: { repository, tag },
    logLevel: LOG_LEVEL,
    redis: { url: redisURL, existingSecret: SECRET },
    projectSettings: { egress: { allow }, ...bounds },
    runner: { egress: { allow: RUNNER_EGRESS_ALLOW.split(',').filter((entry) => entry !== '') } },
  };
}

/** What the operator last warned of. */
function complaints(log: CollectedLog): string {
  const entries = log.entries.filter(({ level }) => level === 'warn' || level === 'error').slice(-5);
  return entries.map(({ fields, message }) => `${message} ${inspect(fields, { depth: 2 })}`).join('\n');
}

async function waitForCondition(
  client: KubeClient,
  ref: { namespace: string; name: string },
  expected: ExpectedCondition,
  timeoutMs: number,
): Promise<Workflow> {
  const { type, status, reason } = expected;
  let said = '';
  const read = async (): Promise<Workflow | false> => {
    const workflow = await client.get(workflows, ref);
    const condition = findCondition(workflow.status?.conditions, type);
    const isCurrent = condition?.observedGeneration === workflow.metadata.generation;
    said = `${condition?.status}/${condition?.reason}: ${condition?.message}`;
    return (
      isCurrent && condition?.status === status && [undefined, condition.reason].includes(reason) && workflow
    );
  };
  const what = `${type}=${status}/${reason ?? '*'} of ${ref.name}`;
  try {
    return await pollUntil(what, read, { timeoutMs, everyMs: 25 });
  } catch (cause) {
    throw new Error(`${what} did not come; it is ${said}`, { cause });
  }
}

async function createPasswords(client: KubeClient, password: string): Promise<void> {
  const encoded = Buffer.from(password).toString('base64');
  const data = { 'operator-password': encoded, 'gateway-password': encoded };
  await client.create(secrets, { metadata: { namespace: SYSTEM, name: SECRET }, data });
}

/** Whose pool it is. */
function projectOf({ spec }: Deployment): string | undefined {
  const env = spec?.template.spec?.containers[0]?.env ?? [];
  return env.find(({ name }) => name === 'PROJECT_UID')?.value;
}

/**
 * There is no kubelet: every pool has an available runner as soon as it is asked for, and with `conn` each
 * credential works.
 */
function keepPoolsReady(client: KubeClient, conn: RunStoreConnection | undefined): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const selector = `app.kubernetes.io/name=${POOL}`;
  const pools = createCache({
    client,
    resource: deployments,
    labelSelector: selector,
    log: createCollectedLog(),
  });
  const following = pools.start(stopping.signal);
  const answers = conn && createCheckAnswers(conn, stopping.signal);
  pools.onChange(({ type, object }) => {
    const project = projectOf(object);
    if (project !== undefined) answers?.serve(project);
    const { namespace = '', name, generation = 0 } = object.metadata;
    const replicas = object.spec?.replicas ?? 1;
    const { observedGeneration, availableReplicas } = object.status ?? {};
    const isUpToDate = observedGeneration === generation && availableReplicas === replicas;
    if (type === 'deleted' || isUpToDate) return;
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas };
    const status = { observedGeneration: generation, ...counts, availableReplicas: replicas };
    const patch = () =>
      client.patch(deployments, { namespace, name }, { status }, { type: 'merge', subresource: 'status' });
    // Again where the machine was too slow, unless the pool is gone: nothing else would come to make it
    // ready.
    const isSettled = async () => {
      if (stopping.signal.aborted) return true;
      try {
        await patch();
        return true;
      } catch (error) {
        if (isNotFound(error)) return true;
        throw error;
      }
    };
    void pollUntil(`the pool of ${namespace} being ready`, isSettled, POOL_WITHIN);
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([following, answers?.ended()]);
    },
  };
}
