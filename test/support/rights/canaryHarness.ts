/** The whole system with secrets in it that can be distinguished, and all that it says anywhere. */
import { inspect } from 'node:util';
import { namespaces, roleBindings, secrets, serviceAccounts } from '../../../kube/resource.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { forEachPage } from '../../../store/scan.ts';
import { canaryIn, type Canary, type Source } from './canaries.ts';
import { ADMISSION } from '../cluster/chart.ts';
import { startGateway, type GatewayProcess } from '../gateway/gatewayProcess.ts';
import { startOperatorHarness, SYSTEM, TESTER, type OperatorHarness } from '../operator/operatorHarness.ts';
import { pollUntil } from '../time/poll.ts';
import { startRunnerProgram, type RunnerProgram } from '../runner/runnerProgram.ts';
import { tokenOf, writeKubeconfig } from '../cluster/users.ts';

export const PROJECT = 'shop';
const RUN_STORE = 'windlass-run-store';
/** A signal ends it as a defect would. */
const CRASH = "process.on('SIGUSR2', () => setImmediate(() => { throw new Error('made to crash'); }));";

export type CanaryHarness = {
  harness: OperatorHarness;
  gateway: GatewayProcess;
  runner: RunnerProgram;
  /** Of the project's namespace. */
  uid: string;
  /** Whoever may execute workflows of the project. */
  caller: string;
  /** Passwords and tokens that the system made or was given for itself. */
  own: Canary[];
  /** What the programs wrote, all of them together. */
  logs: Record<string, string[]>;
  /**
   * Another gateway or runner on the same project with other variables; resolves when it has ended, ready or
   * not.
   */
  failing: (program: 'gateway' | 'runner', env: Record<string, string>) => Promise<void>;
  /** Everything that can be read, but Secrets. */
  sources(): Promise<Source[]>;
  store: RunStoreConnection;
  stop(): Promise<void>;
};

/**
 * Starts it with these Secrets and workflows in the project, and waits until the workflow `last` is served.
 */
export async function startCanaryHarness(manifest: string, last: string): Promise<CanaryHarness> {
  const harness = await startOperatorHarness({
    templates: ['access', ...ADMISSION, 'gateway', 'gateway-rbac'],
    env: { LOG_LEVEL: 'debug' },
    triesCredentials: true,
  });
  const { client, redis } = harness;
  const { metadata } = await client.create(namespaces, { metadata: { name: PROJECT } });
  const uid = metadata.uid ?? '';
  harness.startOperator();
  await harness.apply(PROJECT, manifest);
  await harness.waitFor(PROJECT, last, { type: 'Ready', status: 'True' }, 40_000);
  await client.create(serviceAccounts, { metadata: { namespace: PROJECT, name: 'caller' } });
  await client.create(roleBindings, {
    metadata: { namespace: PROJECT, name: 'caller' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'windlass-execute' },
    subjects: [{ kind: 'ServiceAccount', name: 'caller', namespace: PROJECT }],
  });
  const [caller, gatewayToken, operatorToken, runnerToken] = await Promise.all([
    tokenOf(client, PROJECT, 'caller'),
    tokenOf(client, SYSTEM, 'windlass-gateway'),
    tokenOf(client, SYSTEM, 'windlass-operator'),
    tokenOf(client, PROJECT, 'windlass-runner'),
  ]);
  const passwordIn = async (namespace: string, name: string, key: string): Promise<string> => {
    const { data } = await client.get(secrets, { namespace, name });
    return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  };
  const password = await passwordIn(SYSTEM, RUN_STORE, 'gateway-password');
  const pool = {
    username: await passwordIn(PROJECT, 'windlass-runner', 'username'),
    password: await passwordIn(PROJECT, 'windlass-runner', 'password'),
  };
  const logs: Record<string, string[]> = { gateway: [], runner: [] };
  const gatewayOptions = {
    kubeconfigPath: await writeKubeconfig(harness.server, 'gateway', gatewayToken),
    redisURL: redis.url,
    pod: 'one',
    namespace: SYSTEM,
    log: (logs['gateway'] = []),
    errors: (logs['errors of the gateway'] = []),
    env: {
      REDIS_USERNAME: 'windlass-gateway',
      REDIS_PASSWORD: password,
      LOG_LEVEL: 'debug',
      ACCESS_LOG_ENABLED: 'true',
    },
  };
  const runnerOptions = {
    kubeconfigPath: await writeKubeconfig(harness.server, 'runner', runnerToken),
    redisURL: redis.url,
    namespace: PROJECT,
    project: uid,
    nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(CRASH)}`],
    errors: (logs['errors of the runner'] = []),
    env: {
      REDIS_USERNAME: pool.username,
      REDIS_PASSWORD: pool.password,
      LOG_LEVEL: 'debug',
      EGRESS_ALLOW: '127.0.0.0/8',
    },
  };
  const gateway = await startGateway(gatewayOptions);
  const runner = await startRunnerProgram(runnerOptions);
  logs['runner'] = runner.log;
  const store = connectRunStore({ url: redis.url, username: TESTER, password: TESTER, name: TESTER });
  await store.ready();

  async function failing(program: 'gateway' | 'runner', env: Record<string, string>): Promise<void> {
    const log: string[] = (logs[`another ${program}`] ??= []);
    if (program === 'gateway') {
      const all = { ...gatewayOptions, pod: 'two', log, env: { ...gatewayOptions.env, ...env } };
      await startGateway(all).then(
        (started) => started.stop(),
        () => undefined,
      );
      return;
    }
    const started = await startRunnerProgram({ ...runnerOptions, env: { ...runnerOptions.env, ...env } });
    await pollUntil('it being refused', async () => (await fetch(`${started.url}/readyz`)).status === 503, {
      timeoutMs: 20_000,
    });
    await started.stop();
    log.push(...started.log);
  }

  async function sources(): Promise<Source[]> {
    const metrics = await Promise.all(
      [gateway.metricsURL, `${runner.url}/metrics`].map(async (url) =>
        fetch(url).then(
          (response) => response.text(),
          () => '',
        ),
      ),
    );
    return [
      ...Object.entries(logs).map(([name, lines]) => ({ name, text: lines.join('\n') })),
      {
        name: 'operator',
        text: inspect(harness.log.entries, { depth: 12, maxStringLength: null, maxArrayLength: null }),
      },
      { name: 'audit trail of the operator', text: harness.trail.join('\n') },
      { name: 'metrics', text: [...metrics, await harness.metrics()].join('\n') },
      ...(await objectSources(harness)),
      { name: 'run store', text: await storeText(store) },
    ];
  }

  return {
    harness,
    gateway,
    runner,
    uid,
    caller,
    logs,
    store,
    failing,
    sources,
    own: [
      canaryIn('password of operator and gateway', password),
      canaryIn('password of the pool', pool.password),
      canaryIn('token of the caller', caller),
      canaryIn('token of the gateway', gatewayToken),
      canaryIn('token of the operator', operatorToken),
      canaryIn('token of the runner', runnerToken),
    ],
    stop: async () => {
      await Promise.all([gateway.stop(), runner.stop(), store.close()]);
      await harness.stop();
    },
  };
}

const KINDS = [
  '/api/v1/events',
  '/api/v1/configmaps',
  '/api/v1/serviceaccounts',
  '/apis/apps/v1/deployments',
  '/apis/apps/v1/controllerrevisions',
  '/apis/coordination.k8s.io/v1/leases',
  '/apis/events.k8s.io/v1/events',
  '/apis/rbac.authorization.k8s.io/v1/roles',
  '/apis/windlass.dev/v1alpha1/credentials',
  '/apis/windlass.dev/v1alpha1/workflows',
  '/apis/windlass.dev/v1alpha1/workflowruns',
  '/apis/windlass.dev/v1alpha1/webhookroutes',
  '/apis/windlass.dev/v1alpha1/projectsettings',
  '/apis/windlass.dev/v1alpha1/evaluations',
  '/apis/windlass.dev/v1alpha1/workflowdrafts',
];

/** All objects of these kinds, as the API server gives them. */
async function objectSources({ client }: OperatorHarness): Promise<Source[]> {
  return Promise.all(
    KINDS.map(async (path) => ({
      name: path.slice(path.lastIndexOf('/') + 1),
      text: JSON.stringify(await client.raw('GET', path)),
    })),
  );
}

/** All names and values of the run store. */
async function storeText(store: RunStoreConnection): Promise<string> {
  const names = new Set<string>();
  await forEachPage(store, '*', async (page) => {
    for (const name of page) names.add(name);
  });
  const read: Record<string, (name: string) => Promise<unknown>> = {
    string: (name) => store.command('get', name),
    hash: (name) => store.command('hgetall', name),
    list: (name) => store.command('lrange', name, 0, -1),
    set: (name) => store.command('smembers', name),
    zset: (name) => store.command('zrange', name, 0, -1, 'withscores'),
  };
  const texts = await Promise.all(
    [...names].map(async (name) => {
      const type = String(await store.command('type', name));
      return `${name} ${JSON.stringify(await read[type]?.(name))}`;
    }),
  );
  const accounts = (await store.command('acl', 'list')) as string[];
  return [...texts, ...accounts].join('\n');
}
