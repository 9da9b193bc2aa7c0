/** Who may call a webhook: from the manifest and the user's Secret to what two gateways answer, each with its chart's rights. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Workflow } from '../../../api/kinds.ts';
import type { WebhookAuth } from '../../../api/trigger.ts';
import { AUTH_SCHEMES, parseEntryName, WEBHOOKS } from '../../../api/webhookAuth.ts';
import { isForbidden } from '../../../kube/errors.ts';
import { createClient } from '../../../kube/client.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { namespaces, secrets } from '../../../kube/resource.ts';
import { workflows } from '../../../operator/resources.ts';
import { applyChart } from '../../support/chart.ts';
import { runCommand } from '../../support/command.ts';
import { startGateway, type GatewayProcess } from '../../support/gatewayProcess.ts';
import { kubectl } from '../../support/kubectl.ts';
import { startOperatorStage, SYSTEM, TESTER, type OperatorStage } from '../../support/operatorStage.ts';
import { pollUntil } from '../../support/poll.ts';
import { connectionOf, tokenOf, writeKubeconfig } from '../../support/users.ts';

const REPLICAS = ['gateway-a', 'gateway-b'];
const STANDARD_KEY = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let stage: OperatorStage;
let gateways: GatewayProcess[] = [];
let gatewayToken: string;

beforeAll(async () => {
  stage = await startOperatorStage();
  await applyChart(stage.server, SYSTEM, { templates: ['gateway', 'gateway-rbac'] });
  gatewayToken = await tokenOf(stage.client, SYSTEM, 'windlass-gateway');
  const kubeconfigPath = await writeKubeconfig(stage.server, 'gateway', gatewayToken);
  gateways = await Promise.all(
    REPLICAS.map((pod) =>
      startGateway({
        kubeconfigPath,
        redisURL: stage.redis.url,
        pod,
        namespace: SYSTEM,
        env: { REDIS_USERNAME: TESTER, REDIS_PASSWORD: TESTER },
      }),
    ),
  );
  // These two acknowledge for themselves; the stage only says that they have endpoints.
  for (const pod of REPLICAS) stage.gateway.lag(pod);
  await stage.gateway.ready(...REPLICAS);
  stage.startOperator();
}, 600_000);

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await stage?.stop();
});

function manifest(name: string, auth?: WebhookAuth): string {
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name } };
  const webhook = { path: 'hook', ...(auth && { auth }) };
  return stringify({ ...object, spec: { active: true, nodes: [{ id: 'trigger', webhook }] } });
}

const refs = (...keys: string[]) => ({ secretRefs: keys.map((key) => ({ name: 'hooks', key })) });
const bearer = (...keys: string[]): WebhookAuth => ({ bearer: refs(...keys) });

async function putSecret(namespace: string, values: Record<string, string>): Promise<void> {
  const encoded = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const data = Object.fromEntries(encoded) as Record<string, string>;
  await stage.client.apply(secrets, { metadata: { namespace, name: 'hooks' }, data });
}

const serving = (namespace: string, name: string) =>
  stage.waitFor(namespace, name, { type: 'Ready', status: 'True', reason: 'Serving' });

async function project(values: Record<string, string>): Promise<string> {
  const { namespace } = await stage.createProject();
  await putSecret(namespace, values);
  return namespace;
}

type Sent = { body?: string; headers?: Record<string, string> };

function send(
  gateway: GatewayProcess,
  id: string,
  { body = '{}', headers = {} }: Sent = {},
): Promise<Response> {
  return fetch(`${gateway.publicURL}/webhook/${id}/hook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

/** What each replica answers. */
async function statuses(id: string, sent?: Sent): Promise<number[]> {
  return Promise.all(gateways.map(async (gateway) => (await send(gateway, id, sent)).status));
}

const until = (what: string, isSo: () => Promise<boolean>) =>
  pollUntil(what, isSo, { timeoutMs: 10_000, everyMs: 25 });

const token = (value: string): Sent => ({ headers: { authorization: `Bearer ${value}` } });
const hmac = (key: string | Buffer, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', key).update(text).digest(encoding);

function standard(id: string, body: string): Sent {
  const time = String(Math.floor(Date.now() / 1_000));
  const signature = hmac(Buffer.from(STANDARD_KEY, 'base64'), `${id}.${time}.${body}`, 'base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
  return { body, headers };
}

/** The uids of the workflows that the project's Secret has entries of. */
async function entriesIn(namespace: string): Promise<string[] | undefined> {
  const secret = await stage.client.find(secrets, { namespace, name: WEBHOOKS });
  return secret && Object.keys(secret.data ?? {}).map((name) => parseEntryName(name)?.uid ?? name);
}

const BODY = '{"order":4711}';
const SCHEMES: [scheme: string, auth: WebhookAuth, sent: () => Sent, challenge: string | null][] = [
  [
    'hmac',
    { hmac: { ...refs('token'), header: 'X-Signature', prefix: 'sha256=' } },
    () => ({ body: BODY, headers: { 'x-signature': `sha256=${hmac('s3cret', BODY, 'hex')}` } }),
    null,
  ],
  ['standardWebhooks', { standardWebhooks: refs('standard') }, () => standard('msg_1', BODY), null],
  [
    'github',
    { github: refs('token') },
    () => ({ body: BODY, headers: { 'x-hub-signature-256': `sha256=${hmac('s3cret', BODY, 'hex')}` } }),
    null,
  ],
  ['bearer', bearer('token'), () => ({ body: BODY, ...token('s3cret') }), 'Bearer realm="webhook"'],
  [
    'basic',
    { basic: { username: 'ada', passwordRefs: refs('token').secretRefs } },
    () => ({ body: BODY, headers: { authorization: `Basic ${btoa('ada:s3cret')}` } }),
    'Basic realm="webhook", charset="UTF-8"',
  ],
];

test('each scheme lets in whoever proves it, everywhere, and nobody else, as soon as the workflow is ready', async () => {
  const namespace = await project({ token: 's3cret', standard: `whsec_${STANDARD_KEY}` });
  await Promise.all(
    SCHEMES.map(async ([scheme, auth, sent, challenge]) => {
      const name = scheme.toLowerCase();
      const id = `${namespace}.${name}`;
      await stage.apply(namespace, manifest(name, auth));
      await serving(namespace, name);
      const right = sent();
      expect(await statuses(id, right)).toEqual([200, 200]);
      const bare = await Promise.all(gateways.map((gateway) => send(gateway, id, { body: BODY })));
      expect(bare.map(({ status }) => status)).toEqual([401, 401]);
      expect(bare[0]?.headers.get('www-authenticate')).toBe(challenge);
      const other = await Promise.all(
        SCHEMES.map(([, , another]) => statuses(id, { ...another(), body: '{"order":1}' })),
      );
      const isFixed = scheme === 'bearer' || scheme === 'basic';
      expect(other.flat().filter((status) => status !== 401)).toHaveLength(isFixed ? 2 : 0);
    }),
  );
  const routes = await kubectl(stage.server, ['-n', namespace, 'get', 'webhookroutes']);
  for (const [scheme] of SCHEMES)
    expect(routes).toMatch(new RegExp(`^${scheme.toLowerCase()} .* ${scheme} `, 'm'));
});

test('a webhook without auth is shown as Exposed', async () => {
  const { namespace } = await stage.createProject();
  await stage.apply(namespace, manifest('open'));
  await serving(namespace, 'open');
  expect(await statuses(`${namespace}.open`)).toEqual([200, 200]);
  expect(await kubectl(stage.server, ['-n', namespace, 'get', 'webhookroutes'])).toMatch(
    /^open .* Exposed /m,
  );
  expect(await entriesIn(namespace)).toBeUndefined();
});

test.each([
  ['no Secret', undefined, 'SecretMissing', /node trigger: Secret hooks does not exist/],
  ['a key too few', { other: 'x' }, 'KeyMissing', /node trigger: Secret hooks has no key token/],
  ['an empty key', { token: '' }, 'KeyUnusable', /node trigger: Secret hooks, key token: the value is empty/],
])(
  'with %s nobody is let in, and the workflow says what is missing, until it is there',
  async (_what, values, reason, says) => {
    const { namespace } = await stage.createProject();
    if (values !== undefined) await putSecret(namespace, values);
    await stage.apply(namespace, manifest('closed', bearer('token')));
    const workflow = await stage.waitFor(namespace, 'closed', {
      type: 'CredentialsReady',
      status: 'False',
      reason,
    });
    expect(findCondition(workflow.status?.conditions, 'CredentialsReady')?.message).toMatch(says);
    await stage.waitFor(namespace, 'closed', { type: 'Routed', status: 'True' });
    for (const sent of [undefined, token(''), token('s3cret')]) {
      const answer = await send(gateways[0] as GatewayProcess, `${namespace}.closed`, sent);
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await stage.waitFor(namespace, 'closed', { type: 'Active', status: 'False', reason });
    await putSecret(namespace, { token: 's3cret' });
    await serving(namespace, 'closed');
    expect(await statuses(`${namespace}.closed`, token('s3cret'))).toEqual([200, 200]);
    expect(await statuses(`${namespace}.closed`, token(''))).toEqual([401, 401]);
  },
);

/** Sends without a pause until the work is done; the answers that were not 200. */
async function refusedDuring(id: string, sent: Sent, work: () => Promise<unknown>): Promise<number[]> {
  const done = new AbortController();
  const refused: number[] = [];
  const sending = gateways.map(async (gateway) => {
    while (!done.signal.aborted) {
      const { status } = await send(gateway, id, sent);
      if (status !== 200) refused.push(status);
    }
  });
  await work().finally(() => done.abort());
  await Promise.all(sending);
  return refused;
}

test('secrets are rotated without one refusal, and the old one is refused everywhere once that is ready', async () => {
  const namespace = await project({ old: 'old-token', new: 'new-token' });
  const id = `${namespace}.rotated`;
  const change = async (...keys: string[]) => {
    await stage.apply(namespace, manifest('rotated', bearer(...keys)));
    await serving(namespace, 'rotated');
  };
  await change('old');
  expect(await statuses(id, token('new-token'))).toEqual([401, 401]);
  expect(await refusedDuring(id, token('old-token'), () => change('old', 'new'))).toEqual([]);
  expect(await statuses(id, token('new-token'))).toEqual([200, 200]);
  expect(await refusedDuring(id, token('new-token'), () => change('new'))).toEqual([]);
  expect(await statuses(id, token('old-token'))).toEqual([401, 401]);
  await until('one entry being left', async () => (await entriesIn(namespace))?.length === 1);
});

test('a value that was changed in place is taken up when the workflow is touched', async () => {
  const namespace = await project({ token: 'before' });
  const id = `${namespace}.touched`;
  await stage.apply(namespace, manifest('touched', bearer('token')));
  await serving(namespace, 'touched');
  await putSecret(namespace, { token: 'after' });
  await kubectl(stage.server, [
    '-n',
    namespace,
    'annotate',
    'workflows.windlass.dev',
    'touched',
    'example.com/looked=1',
  ]);
  await until('the new value being taken up', async () => {
    const answers = await statuses(id, token('after'));
    return answers.every((status) => status === 200);
  });
  expect(await statuses(id, token('before'))).toEqual([401, 401]);
});

test('once auth is asked for and ready, and once another scheme is, nobody is let in as before', async () => {
  const namespace = await project({ token: 's3cret' });
  const id = `${namespace}.edited`;
  const become = async (auth?: WebhookAuth) => {
    await stage.apply(namespace, manifest('edited', auth));
    await serving(namespace, 'edited');
  };
  await become();
  for (let round = 0; round < 5; round += 1) {
    await become(bearer('token'));
    expect(await statuses(id)).toEqual([401, 401]);
    await become({ github: refs('token') });
    expect(await statuses(id, token('s3cret'))).toEqual([401, 401]);
    await become();
    expect(await statuses(id)).toEqual([200, 200]);
    expect(await entriesIn(namespace)).toBeUndefined();
  }
});

test('the signed id of an event is its key, whatever else is sent, and nothing is remembered of who is not verified', async () => {
  const namespace = await project({ standard: `whsec_${STANDARD_KEY}` });
  await stage.apply(namespace, manifest('once', { standardWebhooks: refs('standard') }));
  await serving(namespace, 'once');
  const id = `${namespace}.once`;
  const runOf = async (sent: Sent, key?: string) => {
    const headers = { ...sent.headers, ...(key !== undefined && { 'idempotency-key': key }) };
    const answer = await send(gateways[0] as GatewayProcess, id, { ...sent, headers });
    return answer.status === 200 ? ((await answer.json()) as { run: string }).run : answer.status;
  };
  const forged = standard('msg_1', '{"a":2}');
  expect(await runOf({ ...forged, body: '{"a":3}' })).toBe(401);
  const run = await runOf(standard('msg_1', '{"a":1}'));
  expect(run).toMatch(/^once-/);
  expect(await runOf(standard('msg_1', '{"a":1}'), 'another')).toBe(run);
  expect(await runOf(standard('msg_1', '{"a":2}'))).toBe(422);
  expect(await runOf(standard('msg_2', '{"a":1}'))).not.toBe(run);
});

test('the gateway can read what verifies webhooks, and no other Secret', async () => {
  const namespace = await project({ token: 's3cret' });
  await stage.apply(namespace, manifest('guarded', bearer('token')));
  await serving(namespace, 'guarded');
  const client = createClient(connectionOf(stage.connection, gatewayToken));
  const isRefused = (call: Promise<unknown>) =>
    call.then(
      () => false,
      (error: unknown) => isForbidden(error),
    );
  const own = await client.get(secrets, { namespace, name: WEBHOOKS });
  expect(Object.keys(own.data ?? {})).toHaveLength(1);
  expect(await isRefused(client.get(secrets, { namespace, name: 'hooks' }))).toBe(true);
  expect(await isRefused(client.get(secrets, { namespace: SYSTEM, name: 'windlass-run-store' }))).toBe(true);
  expect(await isRefused(client.list(secrets, { namespace }))).toBe(true);
  expect(await isRefused(client.apply(secrets, { metadata: { namespace, name: WEBHOOKS }, data: {} }))).toBe(
    true,
  );
  await client.close();
});

test('what is gone is taken out: a secret of the user, a workflow, the last one of a project', async () => {
  const namespace = await project({ token: 's3cret' });
  const uids: string[] = [];
  for (const name of ['one', 'two']) {
    await stage.apply(namespace, manifest(name, bearer('token')));
    uids.push((await serving(namespace, name)).metadata.uid ?? '');
  }
  expect(await entriesIn(namespace)).toEqual(uids.toSorted());
  await stage.client.delete(workflows, { namespace, name: 'one' });
  await until('its entry being gone', async () => (await entriesIn(namespace))?.join() === uids[1]);
  expect(await statuses(`${namespace}.two`, token('s3cret'))).toEqual([200, 200]);

  await stage.client.delete(secrets, { namespace, name: 'hooks' });
  // It looks at all Secrets when it starts, and otherwise every five minutes.
  await stage.stopOperator();
  stage.startOperator();
  await stage.waitFor(namespace, 'two', {
    type: 'CredentialsReady',
    status: 'False',
    reason: 'SecretMissing',
  });
  await stage.waitFor(namespace, 'two', { type: 'Routed', status: 'True' });
  expect(await statuses(`${namespace}.two`, token('s3cret'))).toEqual([503, 503]);
  expect(await entriesIn(namespace)).toBeUndefined();
});

test('a project that spoils its own Secret closes nobody else', async () => {
  const namespace = await project({ token: 's3cret' });
  await stage.apply(namespace, manifest('spoiled', bearer('token')));
  await serving(namespace, 'spoiled');
  await stage.client.delete(secrets, { namespace, name: WEBHOOKS });
  // What gateways hold they go on with, and the operator puts back what is missing as soon as it looks.
  expect(await statuses(`${namespace}.spoiled`, token('s3cret'))).toEqual([200, 200]);
  await stage.stopOperator();
  stage.startOperator();
  await until('the Secret being put back', async () => (await entriesIn(namespace))?.length === 1);
  await serving(namespace, 'spoiled');
});

/** The sections of the page on webhooks that have a Secret, a manifest and a call. */
function documented(): [title: string, secret: string, manifest: string, call: string][] {
  const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
  return page.split(/^## /m).flatMap((section) => {
    const blocks = [...section.matchAll(/^```(?:sh|yaml)\n(.*?)^```$/gms)].map(([, block = '']) => block);
    const [secret, yaml, call] = blocks;
    if (secret === undefined || yaml === undefined || call === undefined) return [];
    return [[section.split('\n', 1)[0] ?? '', secret, yaml, call]];
  });
}

test('the page on webhooks shows every scheme', () => {
  expect(documented()).toHaveLength(AUTH_SCHEMES.length);
});

test.each(documented())(
  'what the page on webhooks says of "%s" works',
  async (_title, secret, yaml, call) => {
    await stage.client.apply(namespaces, { metadata: { name: 'shop' } });
    const { kubeconfigPath, binDir } = stage.server;
    const run = (script: string) =>
      runCommand('bash', ['-euo', 'pipefail', '-c', script], {
        env: { ...process.env, KUBECONFIG: kubeconfigPath, PATH: `${binDir}:${process.env['PATH']}` },
      });
    await run(secret);
    await stage.apply('shop', yaml);
    await serving('shop', (parse(yaml) as Workflow).metadata.name);
    const answer = await run(call.replaceAll('https://hooks.example.com', gateways[0]?.publicURL ?? ''));
    expect(JSON.parse(answer)).toEqual({ run: expect.any(String) });
    const [path = ''] = /\/webhook\/\S+/.exec(call) ?? [];
    const bare = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await fetch(`${gateways[1]?.publicURL}${path}`, bare)).status).toBe(401);
  },
);

test('nothing of a secret is in a log or in a route', async () => {
  const routes = await kubectl(stage.server, ['get', 'webhookroutes', '-A', '-o', 'yaml']);
  const logs = [...gateways.flatMap(({ log }) => log), JSON.stringify(stage.log.entries)].join('\n');
  for (const secret of ['s3cret', 'old-token', 'new-token', STANDARD_KEY])
    for (const form of [secret, Buffer.from(secret).toString('base64')]) {
      expect(routes).not.toContain(form);
      expect(logs).not.toContain(form);
    }
});
