/**
 * Two projects of one installation, each with the rights that a cluster gives its projects: `victim`, with
 * something of every kind that must stay its own, and `mallory`. Operator, gateway and a runner of mallory's
 * run with the chart's rights and policies.
 */
import { namespaces, roleBindings, secrets, serviceAccounts } from '../../../kube/resource.ts';
import { webhookRoutes, workflowRuns } from '../../../operator/shared/resources.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { createCanary, type Canary } from './canaries.ts';
import { ADMISSION } from '../cluster/chart.ts';
import { startGateway, type GatewayProcess } from '../gateway/gatewayProcess.ts';
import { startOperatorHarness, SYSTEM, TESTER, type OperatorHarness } from '../operator/operatorHarness.ts';
import { pollUntil } from '../time/poll.ts';
import { callApi } from '../gateway/rawCalls.ts';
import { startRunnerProgram, type RunnerProgram } from '../runner/runnerProgram.ts';
import { keysIn } from './projectSnapshot.ts';
import { tokenOf, writeKubeconfig } from '../cluster/users.ts';

const TEMPLATES = ['access', ...ADMISSION, 'gateway', 'gateway-rbac'];
const SOON = { timeoutMs: 30_000, everyMs: 50 };

type Project = {
  namespace: string;
  /** Of the namespace, which names the project in the run store. */
  uid: string;
  /** Whoever may edit in the namespace: the built-in role with what the chart adds to it. */
  token: string;
  /** Whoever may do everything in the namespace, and nothing elsewhere. */
  ownerToken: string;
  /** The runners' account, which whoever may make pods there can be. */
  runnerToken: string;
  /** The runners' account of the run store, which whoever may read Secrets there has. */
  pool: { username: string; password: string };
};

/** What the victim has and what mallory knows of it: all names, no contents. */
type Known = {
  /** A run of `orders` that is recorded, and of which the run store holds nothing any more. */
  run: string;
  /** A run of `lists.open` that waits in the run store: no runner of the victim's is there. */
  waiting: string;
  revision: string;
  workflowUID: string;
  material: string;
  dedupeKey: string;
  body: string;
};

export type TwoProjects = {
  harness: OperatorHarness;
  gateway: GatewayProcess;
  victim: Project;
  mallory: Project;
  known: Known;
  /** An account of the run store that may do everything. */
  store: RunStoreConnection;
  canaries: Record<'password' | 'apiKey' | 'hook' | 'input' | 'output' | 'testData', Canary>;
  stop(): Promise<void>;
};

const canaries = {
  password: createCanary('password'),
  apiKey: createCanary('API key'),
  hook: createCanary('secret of the webhook'),
  input: createCanary('input'),
  output: createCanary('output'),
  testData: createCanary('test data'),
};

/** Starts it all, and waits until the victim's run is recorded and both projects are served. */
export async function openTwoProjects(): Promise<TwoProjects> {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    const harness = await startOperatorHarness({ templates: TEMPLATES });
    closers.push(() => harness.stop());
    const account = { username: TESTER, password: TESTER, name: TESTER };
    const store = connectRunStore({ url: harness.redis.url, ...account });
    closers.push(() => store.close());
    harness.startOperator();
    for (const name of ['victim', 'mallory']) await harness.client.create(namespaces, { metadata: { name } });
    await harness.apply('victim', victimsObjects());
    await harness.apply('mallory', mallorysObjects());
    const gateway = await gatewayOf(harness);
    closers.push(() => gateway.stop());
    await harness.waitFor('victim', 'orders', { type: 'Ready', status: 'True' });
    await harness.waitFor('victim', 'lists.open', { type: 'Ready', status: 'True' });
    for (const name of ['orders', 'report', 'victim.orders'])
      await harness.waitFor('mallory', name, { type: 'Ready', status: 'True' });
    const [victim, mallory] = [await projectOf(harness, 'victim'), await projectOf(harness, 'mallory')];
    const own = await runnerOf(harness, victim);
    closers.push(() => own.stop());
    const recorded = await recordedRun(harness, gateway);
    // From here on nothing of the victim's changes by itself.
    await own.stop();
    const waiting = await waitingRun(store, gateway, victim);
    const known = { ...recorded, waiting };
    const runner = await runnerOf(harness, mallory);
    closers.push(() => runner.stop());
    return { harness, gateway, victim, mallory, known, store, canaries, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function gatewayOf(harness: OperatorHarness): Promise<GatewayProcess> {
  const token = await tokenOf(harness.client, SYSTEM, 'windlass-gateway');
  const { data } = await harness.client.get(secrets, { namespace: SYSTEM, name: 'windlass-run-store' });
  return startGateway({
    kubeconfigPath: await writeKubeconfig(harness.server, 'gateway', token),
    redisURL: harness.redis.url,
    pod: 'one',
    namespace: SYSTEM,
    env: {
      REDIS_USERNAME: 'windlass-gateway',
      REDIS_PASSWORD: decoded(data?.['gateway-password']),
    },
  });
}

async function runnerOf(harness: OperatorHarness, project: Project): Promise<RunnerProgram> {
  const { namespace, uid, runnerToken, pool } = project;
  return startRunnerProgram({
    kubeconfigPath: await writeKubeconfig(harness.server, `runner-of-${namespace}`, runnerToken),
    redisURL: harness.redis.url,
    namespace,
    project: uid,
    env: { REDIS_USERNAME: pool.username, REDIS_PASSWORD: pool.password },
  });
}

/**
 * The project's user with the built-in role edit, whose parts no controller puts together here, and what it
 * can get by it.
 */
async function projectOf(harness: OperatorHarness, namespace: string): Promise<Project> {
  const { client, server } = harness;
  const { metadata } = await client.get(namespaces, { name: namespace });
  await createMember(harness, namespace, 'editor', EDIT);
  await createMember(harness, namespace, 'owner', ['cluster-admin']);
  const token = await tokenOf(client, namespace, 'editor');
  const read = async (path: string): Promise<Record<string, Record<string, string>>> => {
    const { body } = await callApi(server, { token, path: `/api/v1/namespaces/${namespace}/${path}` });
    return JSON.parse(body) as Record<string, Record<string, string>>;
  };
  const { data } = await read('secrets/windlass-runner');
  return {
    namespace,
    uid: metadata.uid ?? '',
    token,
    ownerToken: await tokenOf(client, namespace, 'owner'),
    runnerToken: await tokenOf(client, namespace, 'windlass-runner'),
    pool: { username: decoded(data?.['username']), password: decoded(data?.['password']) },
  };
}

/** What the built-in roles edit and view bring together. */
const EDIT = [
  'system:aggregate-to-edit',
  'system:aggregate-to-view',
  'windlass-view',
  'windlass-edit',
  'windlass-execute',
];

/** Makes a service account that holds these ClusterRoles in its namespace. */
async function createMember(
  { client }: Pick<OperatorHarness, 'client'>,
  namespace: string,
  name: string,
  clusterRoles: readonly string[],
): Promise<void> {
  await client.create(serviceAccounts, { metadata: { namespace, name } });
  for (const role of clusterRoles)
    await client.create(roleBindings, {
      metadata: { namespace, name: `${name}-${role.replaceAll(':', '-')}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
}

const objectOf = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: 'windlass.dev/v1alpha1', kind, metadata: { name }, spec });
const secretOf = (name: string, stringData: Record<string, string>) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData });

function victimsObjects(): string {
  const smtp = {
    host: 'mail.example.com',
    from: 'a@example.com',
    username: 'a',
    passwordRef: { name: 'accounts', key: 'password' },
  };
  const auth = { bearer: { secretRefs: [{ name: 'hooks', key: 'token' }] } };
  const secret = {
    id: 'secret',
    skill: {
      name: 'set',
      parameters: { values: { output: `'${canaries.output.text}'`, input: 'nodes.trigger.data_content' } },
    },
  };
  const mail = {
    id: 'mail',
    skill: {
      name: 'send_email',
      credential: 'smtp',
      parameters: { to: 'b@example.com', subject: 'Hello', body: 'Hello' },
    },
  };
  const reply = { id: 'reply', response: { body: "{{ $('secret').data_content }}" } };
  const testData = { text_content: '', data_content: { text: canaries.testData.text } };
  return [
    secretOf('accounts', { password: canaries.password.text, key: canaries.apiKey.text }),
    secretOf('hooks', { token: canaries.hook.text }),
    objectOf('Credential', 'smtp', { smtp }),
    objectOf('Credential', 'llm', { openai: { apiKeyRef: { name: 'accounts', key: 'key' } } }),
    objectOf('Workflow', 'orders', {
      active: true,
      nodes: [{ id: 'trigger', webhook: { path: 'orders', auth, testData } }, secret, reply],
    }),
    // Its credential is in use, so that the victim's runners may read the Secret. It is inactive: nothing is
    // sent.
    objectOf('Workflow', 'report', { active: false, nodes: [{ id: 'trigger', manual: {} }, mail] }),
    objectOf('Workflow', 'lists.open', {
      active: true,
      nodes: [{ id: 'trigger', webhook: { path: 'open', auth } }, secret],
    }),
  ].join('\n---\n');
}

function mallorysObjects(): string {
  const echo = { id: 'reply', response: { body: "{{ $('trigger').data_content }}" } };
  const workflow = (name: string) =>
    objectOf('Workflow', name, {
      active: true,
      nodes: [{ id: 'trigger', webhook: { path: 'orders' } }, echo],
    });
  return [
    secretOf('own', { key: 'own' }),
    workflow('orders'),
    workflow('report'),
    workflow('victim.orders'),
  ].join('\n---\n');
}

/** One event of the victim's webhook, executed and recorded. */
async function recordedRun(
  harness: OperatorHarness,
  gateway: GatewayProcess,
): Promise<Omit<Known, 'waiting'>> {
  const dedupeKey = 'order-4711';
  const body = JSON.stringify({ text: canaries.input.text });
  const headers = {
    authorization: `Bearer ${canaries.hook.text}`,
    'content-type': 'application/json',
    'idempotency-key': dedupeKey,
  };
  const answer = await pollUntil(
    'an answer of the victim’s workflow',
    async () => {
      const response = await fetch(`${gateway.publicURL}/webhook/victim.orders/orders`, {
        method: 'POST',
        headers,
        body,
      });
      return response.status === 200 && response.text();
    },
    SOON,
  );
  if (!answer.includes(canaries.output.text)) throw new Error(`the victim’s workflow answered ${answer}`);
  const record = await pollUntil(
    'the record of the victim’s run',
    async () => {
      const { items } = await harness.client.listAll(workflowRuns, { namespace: 'victim' });
      return items.find(({ status }) => status?.phase === 'Succeeded');
    },
    SOON,
  );
  const route = await harness.client.get(webhookRoutes, { namespace: 'victim', name: 'orders' });
  if (!route.spec) throw new Error('the route of the victim says nothing');
  const { workflowUID, revision, webhook } = route.spec;
  const material = webhook?.verify?.material ?? '';
  return { run: record.metadata.name, revision, workflowUID, material, dedupeKey, body };
}

/** An event that waits for a runner. */
async function waitingRun(
  store: RunStoreConnection,
  gateway: GatewayProcess,
  { uid }: Project,
): Promise<string> {
  const response = await fetch(`${gateway.publicURL}/webhook/victim.lists.open/open`, {
    method: 'POST',
    headers: { authorization: `Bearer ${canaries.hook.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: canaries.input.text }),
  });
  const { run } = (await response.json()) as { run: string };
  const isOnly = async (): Promise<boolean> => {
    const names = await keysIn(store, uid);
    return names.filter((name) => name.includes('}:run:')).every((name) => name.endsWith(run));
  };
  await pollUntil('the run store releasing the recorded run', isOnly, SOON);
  return run;
}

function decoded(value: string | undefined): string {
  return Buffer.from(value ?? '', 'base64').toString('utf8');
}
