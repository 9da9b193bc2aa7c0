/**
 * All that the console stands on, each as the program that it is, but no nodes: operator, gateway with the
 * console, a runner for each project, a real API server with RBAC and the chart's policies, a real run store,
 * a model and a mail server.
 */
import { NO_PRICES, type PriceTable } from '../../../api/price.ts';
import type { KubeClient } from '../../../kube/client.ts';
import {
  namespaces,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type PolicyRule,
} from '../../../kube/resource.ts';
import { GATEWAY_ACCOUNT } from '../../../store/accounts.ts';
import { ADMISSION } from '../cluster/chart.ts';
import { freePort } from '../process/freePort.ts';
import { startGateway, type GatewayProcess } from '../gateway/gatewayProcess.ts';
import { startMailServer, type MailServer } from '../providers/mail/mailServer.ts';
import { startModelServer, type ModelServer } from '../providers/model/modelServer.ts';
import { startOperatorProcess, startOperatorProgram } from '../operator/operatorProgram.ts';
import { startOperatorHarness, SYSTEM, type OperatorHarness } from '../operator/operatorHarness.ts';
import { pollUntil } from '../time/poll.ts';
import type { Program } from '../process/program.ts';
import { startRunnerProgram } from '../runner/runnerProgram.ts';
import { tokenOf, writeKubeconfig } from '../cluster/users.ts';
import { consoleFolder } from './consoleFolder.ts';

export type ConsoleSystem = {
  harness: OperatorHarness;
  gateway: GatewayProcess;
  /** Where the console is. */
  consoleURL: string;
  /** The files that it is served from, which others serve, too. */
  consoleFolder: string;
  model: ModelServer;
  mail: MailServer;
  /** Makes a project. Its runner starts when the operator has made its pool, as kubelet would do it. */
  createProject(name: string): Promise<void>;
  /** A token of somebody who holds these parts of the chart's rights in the project, and further rules. */
  tokenWith(project: string, name: string, rights: Rights): Promise<string>;
  /** Runs kubectl apply in the project. */
  apply(project: string, manifest: string): Promise<void>;
  stop(): Promise<void>;
};

type Rights = { roles?: ('windlass-view' | 'windlass-edit' | 'windlass-execute')[]; rules?: PolicyRule[] };

/** What the built-in role `edit` lets people do beside what Windlass brings. */
const EDIT_RULES: PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'create', 'patch', 'update', 'delete'] },
  { apiGroups: [''], resources: ['events'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['apps'], resources: ['controllerrevisions'], verbs: ['get', 'list', 'watch'] },
];

/** The same for `view`. */
const VIEW_RULES: PolicyRule[] = EDIT_RULES.slice(1);

/** What an editor and a reader of a project hold. */
export const EDITOR: Rights = {
  roles: ['windlass-view', 'windlass-edit', 'windlass-execute'],
  rules: EDIT_RULES,
};
export const READER: Rights = { roles: ['windlass-view'], rules: VIEW_RULES };

/** The login of the mail server. */
export const MAIL_ACCOUNT = { username: 'orders', password: 'demo-password' };

/** Starts all of it, without a project. `prices`: what models cost; without them nothing has a price. */
export async function startConsoleSystem(prices: PriceTable = NO_PRICES): Promise<ConsoleSystem> {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    return await startAll(prices, closers, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAll(
  prices: PriceTable,
  closers: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<ConsoleSystem> {
  const harness = await startOperatorHarness({
    triesCredentials: true,
    templates: ['gateway', 'gateway-rbac', 'access', ...ADMISSION],
  });
  closers.push(() => harness.stop());
  const folder = await consoleFolder();
  const model = await startModelServer({ delayMs: 20, slowDelayMs: 60 });
  closers.push(() => model.close());
  const mail = await startMailServer(MAIL_ACCOUNT);
  closers.push(() => mail.close());
  const publicPort = await freePort();
  const publicURL = `http://127.0.0.1:${publicPort}`;
  await startOperator(harness, publicURL, closers);
  const gateway = await startGateway({
    kubeconfigPath: await kubeconfigOf(harness, 'windlass-gateway'),
    redisURL: harness.redis.url,
    pod: 'gateway-0',
    namespace: SYSTEM,
    env: {
      REDIS_USERNAME: GATEWAY_ACCOUNT,
      REDIS_PASSWORD: harness.password,
      PUBLIC_PORT: String(publicPort),
      PUBLIC_URL: publicURL,
      CONSOLE_DIR: folder,
      CONSOLE_HELP_ME_BUILD: 'true',
    },
  });
  closers.push(() => gateway.stop());
  const runners = startRunners(harness, prices);
  closers.push(() => runners.stop());
  return {
    harness,
    gateway,
    consoleURL: `${gateway.internalURL}/console/`,
    consoleFolder: folder,
    model,
    mail,
    createProject: async (name) => {
      const { metadata } = await harness.client.create(namespaces, { metadata: { name } });
      runners.add(name, metadata.uid ?? '');
    },
    tokenWith: (project, name, rights) => grant(harness.client, { project, name }, rights),
    apply: async (project, manifest) => void (await harness.apply(project, manifest)),
    stop,
  };
}

const kubeconfigOf = async ({ client, server }: OperatorHarness, account: string): Promise<string> =>
  writeKubeconfig(server, account, await tokenOf(client, SYSTEM, account));

/** As kubelet would, it starts it again whenever it ends: where the machine is slow it loses its lease. */
async function startOperator(
  harness: OperatorHarness,
  publicURL: string,
  closers: (() => Promise<unknown>)[],
): Promise<void> {
  const options = {
    kubeconfigPath: await kubeconfigOf(harness, 'windlass-operator'),
    redisURL: harness.redis.url,
    namespace: SYSTEM,
    env: { PUBLIC_URL: publicURL },
  };
  let operator: Program = await startOperatorProgram(options);
  let isStopping = false;
  const keep = async (): Promise<void> => {
    await operator.ended;
    if (isStopping) return;
    operator = startOperatorProcess(options);
    await keep();
  };
  const kept = keep();
  closers.push(async () => {
    isStopping = true;
    await operator.stop();
    await kept;
  });
}

/** One runner for each project, from the moment when there is a pool for it. */
function startRunners(harness: OperatorHarness, prices: PriceTable) {
  const stopping = new AbortController();
  const starting: Promise<() => Promise<unknown>>[] = [];
  return {
    add: (namespace: string, uid: string): void => {
      const start = startRunner(harness, { namespace, uid, prices }, stopping.signal);
      start.catch(() => undefined);
      starting.push(start);
    },
    stop: async (): Promise<void> => {
      stopping.abort();
      const started = await Promise.allSettled(starting);
      await Promise.all(started.flatMap((each) => (each.status === 'fulfilled' ? [each.value()] : [])));
    },
  };
}

const DAY_MS = 86_400_000;

async function startRunner(
  { client, server, redis }: OperatorHarness,
  { namespace, uid, prices }: { namespace: string; uid: string; prices: PriceTable },
  signal: AbortSignal,
): Promise<() => Promise<unknown>> {
  const made = { namespace, name: 'windlass-runner' };
  const { data, token } = await pollUntil(
    `the pool of ${namespace}`,
    async () => ({
      data: (await client.get(secrets, made)).data,
      token: await tokenOf(client, namespace, made.name),
    }),
    { timeoutMs: DAY_MS, everyMs: 200, signal },
  );
  const given = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString();
  const runner = await startRunnerProgram({
    kubeconfigPath: await writeKubeconfig(server, `runner-${namespace}`, token),
    redisURL: redis.url,
    namespace,
    project: uid,
    env: {
      POD_NAME: `runner-${namespace}`,
      EGRESS_ALLOW: '127.0.0.0/8',
      MODEL_PRICES: JSON.stringify(prices),
      REDIS_USERNAME: given('username'),
      REDIS_PASSWORD: given('password'),
    },
  });
  return () => runner.stop('SIGKILL');
}

async function grant(
  client: KubeClient,
  { project: namespace, name }: { project: string; name: string },
  { roles: names = [], rules = [] }: Rights,
): Promise<string> {
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  await client.create(serviceAccounts, { metadata: { namespace, name } });
  for (const role of names) {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
    await client.create(roleBindings, {
      metadata: { namespace, name: `${name}-${role}` },
      roleRef,
      subjects,
    });
  }
  if (rules.length > 0) {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    await client.create(roles, { metadata: { namespace, name }, rules });
    await client.create(roleBindings, { metadata: { namespace, name }, roleRef, subjects });
  }
  return tokenOf(client, namespace, name, { expirationSeconds: 28_800 });
}
