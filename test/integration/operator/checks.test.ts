/**
 * Credentials are tried by the runners of their project: operator and runner with a real API server and run
 * store, real mail and model servers. What is wrong is said by credential and workflow, and what was mended
 * is seen within half a minute.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Credential } from '../../../api/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { roles, secrets } from '../../../kube/resource.ts';
import { credentials, workflowRuns } from '../../../operator/shared/resources.ts';
import { keysOf } from '../../../store/keys.ts';
import { DUE, grantAccounts, makeDue, wake } from '../../support/operator/grantedAccounts.ts';
import { listen, sendJson, type Listening } from '../../support/network/listen.ts';
import { startMailServer, type MailServer } from '../../support/providers/mail/mailServer.ts';
import { startModelServer, type ModelServer } from '../../support/providers/model/modelServer.ts';
import { startOAuthProvider, type OAuthProvider } from '../../support/providers/oauth/oauthProvider.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRunnerProgram, type RunnerProgram } from '../../support/runner/runnerProgram.ts';
import { tokenOf, writeKubeconfig } from '../../support/cluster/users.ts';

const PASSWORD = 'right-password';
const HEALED = { timeoutMs: 30_000, everyMs: 50 };
/** For a test that waits for several of these. */
const LONG = { timeout: 90_000 };

let harness: OperatorHarness;
let namespace: string;
let runner: RunnerProgram;
let mailbox: MailServer;
let model: ModelServer;
let api: Listening;
let provider: OAuthProvider;
/** The token that the API takes, and those that came. */
let token = 'first-token';
const tokens: (string | undefined)[] = [];
/**
 * Where a credential leads that is to be tried before there is a runner; how often somebody has come, and
 * what was so before there was one.
 */
let early: Listening;
let came = 0;
let before: { waiting: unknown; came: number };

beforeAll(async () => {
  harness = await startOperatorHarness({
    triesCredentials: true,
    env: { RUNNER_EGRESS_ALLOW: '127.0.0.0/8' },
  });
  provider = await startOAuthProvider({ redirectURI: 'https://hooks.example.com/oauth/callback' });
  mailbox = await startMailServer({ username: 'orders', password: PASSWORD });
  model = await startModelServer({ apiKey: PASSWORD });
  api = await listen((request, response) => {
    const sent = request.headers.authorization?.replace('Bearer ', '');
    tokens.push(sent);
    sendJson(response, sent === token ? 200 : 401, { ok: sent === token });
  });
  harness.startOperator();
  const project = await harness.createProject();
  ({ namespace } = project);
  await apply('Workflow', 'first', {
    active: true,
    nodes: [{ id: 'trigger', manual: {} }],
  });
  await harness.waitFor(namespace, 'first', { type: 'Ready', status: 'True' });
  early = await listen((_request, response) => {
    came += 1;
    sendJson(response, 200, {});
  });
  await putSecret('early', token);
  await apply('Credential', 'early', {
    http: { bearer: { tokenRef: refTo('early') }, allowedHosts: [early.url], checkURL: `${early.url}/me` },
  });
  const parameters = { url: `${early.url}/orders` };
  await workflow('early', {
    id: 'call',
    skill: { name: 'http_request', credential: 'early', parameters },
  });
  const isTried = async () =>
    messageOf(await said('early', 'Unknown', 'NotChecked')) === 'The check is in progress.';
  await pollUntil('the credential being tried', isTried, HEALED);
  const waiting = await harness.conn.command('zcard', keysOf(project.uid).checks);
  before = { waiting, came };
  const { data } = await harness.client.get(secrets, { namespace, name: 'windlass-runner' });
  const given = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString();
  const identity = await tokenOf(harness.client, namespace, 'windlass-runner');
  runner = await startRunnerProgram({
    kubeconfigPath: await writeKubeconfig(harness.server, 'runner', identity),
    redisURL: harness.redis.url,
    namespace,
    project: project.uid,
    env: {
      EGRESS_ALLOW: '127.0.0.0/8',
      REDIS_USERNAME: given('username'),
      REDIS_PASSWORD: given('password'),
    },
  });
}, 600_000);

afterAll(async () => {
  await runner?.stop('SIGKILL');
  await harness?.stop();
  await Promise.all([mailbox, model, api, early, provider].map((server) => server?.close()));
});

const apply = (kind: string, name: string, spec: object) =>
  harness.apply(
    namespace,
    stringify({ apiVersion: 'windlass.dev/v1alpha1', kind, metadata: { name }, spec }),
  );

async function putSecret(name: string, value: string): Promise<void> {
  const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { value } };
  await harness.apply(namespace, stringify(manifest));
}

const refTo = (name: string) => ({ name, key: 'value' });
const smtp = (name: string, port = mailbox.smtpPort) => ({
  smtp: {
    host: '127.0.0.1',
    port,
    tls: 'None',
    from: 'a@example.com',
    username: 'orders',
    passwordRef: refTo(name),
  },
});

const mailStep = (credential: string) => ({
  id: 'mail',
  skill: { name: 'send_email', credential, parameters: { to: 'b@example.com', subject: 's', body: 'b' } },
});
const workflow = (name: string, ...steps: object[]) =>
  apply('Workflow', name, { active: true, nodes: [{ id: 'trigger', manual: {} }, ...steps] });

/** The credential as soon as its condition is that. */
function said(name: string, status: string, reason: string): Promise<Credential> {
  return pollUntil(
    `credential ${name} being ${status}/${reason}`,
    async () => {
      const found = await harness.client.get(credentials, { namespace, name });
      const ready = findCondition(found.status?.conditions, 'Ready');
      const isCurrent = ready?.observedGeneration === found.metadata.generation;
      return isCurrent && ready?.status === status && ready.reason === reason && found;
    },
    HEALED,
  );
}

const askFor = (name: string, check: string) =>
  harness.client.patch(
    credentials,
    { namespace, name },
    { metadata: { annotations: { 'windlass.dev/check': check } } },
    { type: 'merge' },
  );

const messageOf = ({ status }: Credential) => findCondition(status?.conditions, 'Ready')?.message;

test.concurrent(
  'what is to be tried waits for a runner of the project, and nobody else connects',
  LONG,
  async () => {
    expect(before).toEqual({ waiting: 1, came: 0 });
    await said('early', 'True', 'Checked');
    expect(came).toBe(1);
  },
);

test.concurrent('a credential is tried once a workflow names it, and says what was found', LONG, async () => {
  await putSecret('llm', PASSWORD);
  await apply('Credential', 'llm', { openai: { baseURL: model.baseURL, apiKeyRef: refTo('llm') } });
  const unused = await said('llm', 'True', 'Unused');
  expect(findCondition(unused.status?.conditions, 'Checked')).toMatchObject({
    status: 'Unknown',
    reason: 'NotChecked',
  });
  await workflow('asks', { id: 'agent', agent: { credential: 'llm', model: 'demo', prompt: 'Hi' } });
  const { status } = await said('llm', 'True', 'Checked');
  expect(findCondition(status?.conditions, 'Checked')).toMatchObject({ status: 'True', reason: 'Checked' });
  expect(status?.models).toEqual(['demo', 'demo-slow']);
  expect(Math.abs(Date.now() - Date.parse(status?.lastChecked ?? ''))).toBeLessThan(60_000);
  await harness.waitFor(namespace, 'asks', { type: 'Ready', status: 'True', reason: 'Serving' });
});

test.concurrent(
  'a credential that no workflow names is tried once for each value of the annotation that asks for it',
  LONG,
  async () => {
    await putSecret('asked', 'wrong-password');
    await apply('Credential', 'asked', smtp('asked'));
    await said('asked', 'True', 'Unused');
    await askFor('asked', 'first');
    expect((await said('asked', 'False', 'Rejected')).status?.check).toBe('first');
    const role = () => harness.client.get(roles, { namespace, name: 'windlass-runner' });
    const isTaken = async () => !JSON.stringify((await role()).rules).includes('"asked"');
    await pollUntil('the right to read the Secret being taken back', isTaken, HEALED);
    await putSecret('asked', PASSWORD);
    await askFor('asked', 'second');
    const { status } = await said('asked', 'True', 'Checked');
    expect(status).toMatchObject({ check: 'second', account: 'orders' });
    await pollUntil('the right to read the Secret being taken back', isTaken, HEALED);
  },
);

test.concurrent(
  'a password that is refused is told by credential and workflow, and healed by a changed Secret alone',
  LONG,
  async () => {
    await putSecret('refused', 'wrong-password');
    await apply('Credential', 'refused', smtp('refused'));
    await workflow('sends', mailStep('refused'));
    const wrong = await said('refused', 'False', 'Rejected');
    expect(messageOf(wrong)).toContain('Username and password not accepted');
    const expected = { type: 'CredentialsReady', status: 'False', reason: 'CredentialNotReady' };
    const { status } = await harness.waitFor(namespace, 'sends', expected);
    expect(findCondition(status?.conditions, 'CredentialsReady')?.message).toContain(
      'node mail: Credential refused is not ready (Rejected)',
    );
    expect(findCondition(status?.conditions, 'Stalled')).toBeUndefined();
    await putSecret('refused', PASSWORD);
    const { status: healed } = await said('refused', 'True', 'Checked');
    expect(healed?.account).toBe('orders');
    await harness.waitFor(namespace, 'sends', { type: 'Ready', status: 'True' });
  },
);

test.concurrent(
  'a server that is away is told, without calling for its user, and seen when it is back',
  LONG,
  async () => {
    const away = await startMailServer({ username: 'orders', password: PASSWORD });
    const { smtpPort } = away;
    await away.close();
    await putSecret('away', PASSWORD);
    await apply('Credential', 'away', smtp('away', smtpPort));
    await workflow('waits', mailStep('away'));
    expect(messageOf(await said('away', 'False', 'Unreachable'))).toContain('ECONNREFUSED');
    const expected = { type: 'CredentialsReady', status: 'False', reason: 'CredentialNotReady' };
    const { status } = await harness.waitFor(namespace, 'waits', expected);
    expect(findCondition(status?.conditions, 'Stalled')).toBeUndefined();
    const back = await startMailServer({ username: 'orders', password: PASSWORD, smtpPort });
    await said('away', 'True', 'Checked');
    await back.close();
  },
);

test.concurrent(
  'a credential in use that is deleted is missed by its workflow until it is there again',
  LONG,
  async () => {
    await putSecret('deleted', PASSWORD);
    await apply('Credential', 'deleted', smtp('deleted'));
    await workflow('misses', mailStep('deleted'));
    await harness.waitFor(namespace, 'misses', { type: 'Ready', status: 'True' }, 30_000);
    await harness.client.delete(credentials, { namespace, name: 'deleted' });
    const expected = { type: 'CredentialsReady', status: 'False', reason: 'CredentialMissing' };
    const { status } = await harness.waitFor(namespace, 'misses', expected);
    expect(findCondition(status?.conditions, 'CredentialsReady')?.message).toContain(
      'node mail: Credential deleted does not exist',
    );
    await apply('Credential', 'deleted', smtp('deleted'));
    await harness.waitFor(namespace, 'misses', { type: 'Ready', status: 'True' }, 30_000);
  },
);

test.concurrent(
  'a credential is sent to the host that it names alone, and a changed Secret is used by the next step',
  LONG,
  async () => {
    await putSecret('api', token);
    const http = { bearer: { tokenRef: refTo('api') }, checkURL: `${api.url}/me` };
    await apply('Credential', 'api', { http });
    const lacking = messageOf(await said('api', 'False', 'NoAllowedHosts'));
    expect(lacking).toContain(`'{"spec":{"http":{"allowedHosts":["${api.url}"]}}}'`);
    expect(tokens).toEqual([]);
    await apply('Credential', 'api', { http: { ...http, allowedHosts: [api.url] } });
    await workflow('calls', {
      id: 'call',
      skill: { name: 'http_request', credential: 'api', parameters: { url: `${api.url}/orders` } },
    });
    const { status } = await said('api', 'True', 'Checked');
    expect(findCondition(status?.conditions, 'HostsAllowed')).toMatchObject({ status: 'True' });
    await runs('calls', 'before');
    token = 'second-token';
    await putSecret('api', token);
    await runs('calls', 'after');
    expect(tokens.at(-1)).toBe('second-token');
  },
);

test.concurrent(
  'an account that is connected is tried with its access token, and works again with the next one',
  LONG,
  async ({ expect }) => {
    const [granted] = await grantAccounts(harness.client, provider, namespace, ['account'], DUE);
    if (!granted) throw new Error('nothing was granted');
    const asked = () => provider.named('account');
    await said('account', 'True', 'Connected');
    expect(asked()).toBe(0);
    const url = provider.endpoints.userinfoURL;
    await workflow('uses', {
      id: 'call',
      skill: { name: 'http_request', credential: 'account', parameters: { url } },
    });
    await expect.poll(asked, { timeout: 30_000 }).toBe(1);
    const isTried = async () =>
      (await harness.client.get(credentials, { namespace, name: 'account' })).status?.lastChecked !==
      undefined;
    await expect.poll(isTried, { timeout: 30_000 }).toBe(true);
    expect(messageOf(await said('account', 'True', 'Connected'))).toBe('Connected.');
    const role = await harness.client.get(roles, { namespace, name: 'windlass-runner' });
    const readable = (role.rules ?? [])
      .filter(({ resources }) => resources.includes('secrets'))
      .flatMap(({ resourceNames = [] }) => resourceNames);
    expect(readable).toContain('windlass-tokens');
    for (const ofTheOperator of ['windlass-refresh-tokens', 'client'])
      expect(readable).not.toContain(ofTheOperator);
    const { data } = await harness.client.get(secrets, { namespace, name: 'windlass-tokens' });
    await provider.takeTokenBack(Buffer.from(data?.['account'] ?? '', 'base64').toString());
    await wake(harness.client, namespace, 'account');
    expect(messageOf(await said('account', 'False', 'Rejected'))).toMatch(
      /refused the access token with status 401/,
    );
    const expected = { type: 'CredentialsReady', status: 'False', reason: 'CredentialNotReady' };
    await harness.waitFor(namespace, 'uses', expected);
    await makeDue(harness.client, namespace, granted);
    await expect.poll(asked, { timeout: 30_000 }).toBe(2);
    await said('account', 'True', 'Connected');
    await harness.waitFor(namespace, 'uses', { type: 'Ready', status: 'True' });
  },
);

/** Starts a run and waits until it has succeeded. */
async function runs(name: string, run: string): Promise<void> {
  await apply('WorkflowRun', run, { workflow: name });
  const isOver = async () => {
    const { status } = await harness.client.get(workflowRuns, { namespace, name: run });
    if (status?.phase === 'Failed') throw new Error(`${status.reason}: ${status.message}`);
    return status?.phase === 'Succeeded';
  };
  await pollUntil(`run ${run} having succeeded`, isOver, HEALED);
}
