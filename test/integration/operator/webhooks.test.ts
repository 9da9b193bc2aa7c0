/**
 * Who may call a webhook: from the manifest and the user's Secret to what two gateways answer, each with its
 * chart's rights.
 */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { LABEL } from '../../../api/group.ts';
import type { Workflow } from '../../../api/kinds.ts';
import type { WebhookAuth } from '../../../api/trigger.ts';
import { AUTH_SCHEMES, WEBHOOKS } from '../../../api/webhookAuth.ts';
import { isForbidden } from '../../../kube/errors.ts';
import { createClient } from '../../../kube/client.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { events, namespaces, secrets } from '../../../kube/resource.ts';
import { webhookRoutes, workflows } from '../../../operator/shared/resources.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { runCommand } from '../../support/process/command.ts';
import type { GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import { SYSTEM, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { connectionOf } from '../../support/cluster/users.ts';
import {
  base64,
  bearer,
  manifest,
  refs,
  send,
  startWebhookHarness,
  token,
  type Sent,
  type WebhookHarness,
} from '../../support/operator/webhookHarness.ts';

const WITHIN = { timeout: 40_000, interval: 50 };
const STANDARD_KEY = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let webhooks: WebhookHarness;
let harness: OperatorHarness;
let gateways: GatewayProcess[];

beforeAll(async () => {
  webhooks = await startWebhookHarness();
  ({ harness, gateways } = webhooks);
}, 600_000);
afterAll(() => webhooks?.stop());

const hmac = (key: string | Buffer, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', key).update(text).digest(encoding);

function standard(id: string, body: string): Sent {
  const time = String(Math.floor(Date.now() / 1_000));
  const signature = hmac(Buffer.from(STANDARD_KEY, 'base64'), `${id}.${time}.${body}`, 'base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
  return { body, headers };
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
  const namespace = await webhooks.project({ token: 's3cret', standard: `whsec_${STANDARD_KEY}` });
  await Promise.all(
    SCHEMES.map(async ([scheme, auth, sent, challenge]) => {
      const name = scheme.toLowerCase();
      const id = `${namespace}.${name}`;
      await harness.apply(namespace, manifest(name, auth));
      await webhooks.serving(namespace, name);
      const right = sent();
      expect(await webhooks.statuses(id, right)).toEqual([200, 200]);
      const bare = await Promise.all(gateways.map((gateway) => send(gateway, id, { body: BODY })));
      expect(bare.map(({ status }) => status)).toEqual([401, 401]);
      expect(bare[0]?.headers.get('www-authenticate')).toBe(challenge);
      const other = await Promise.all(
        SCHEMES.map(([, , another]) => webhooks.statuses(id, { ...another(), body: '{"order":1}' })),
      );
      const isFixed = scheme === 'bearer' || scheme === 'basic';
      expect(other.flat().filter((status) => status !== 401)).toHaveLength(isFixed ? 2 : 0);
    }),
  );
  const routes = await kubectl(harness.server, ['-n', namespace, 'get', 'webhookroutes']);
  for (const [scheme] of SCHEMES)
    expect(routes).toMatch(new RegExp(`^${scheme.toLowerCase()} .* ${scheme} `, 'm'));
});

const eventsOf = async (namespace: string, wanted: string) =>
  (await harness.client.list(events, { namespace })).items
    .filter(({ reason }) => reason === wanted)
    .map(({ type, note, regarding }) => ({ type, note, name: regarding?.name }));

const readyMessage = ({ status }: Workflow) => findCondition(status?.conditions, 'Ready')?.message;

test('a webhook without auth is shown as Public, and auth.none says that this is on purpose', async () => {
  const { namespace } = await harness.createProject();
  await harness.apply(namespace, manifest('open'));
  const open = await webhooks.serving(namespace, 'open');
  expect(readyMessage(open)).toContain('Public: anybody who knows the URL can start runs. Add auth');
  expect(await webhooks.statuses(`${namespace}.open`)).toEqual([200, 200]);
  for (const kind of ['webhookroutes', 'workflows.windlass.dev'])
    expect(await kubectl(harness.server, ['-n', namespace, 'get', kind])).toMatch(/^open .* Public /m);
  expect(await webhooks.entriesIn(namespace)).toBeUndefined();
  await harness.apply(namespace, manifest('open', { none: {} }));
  const meant = await webhooks.serving(namespace, 'open');
  expect(readyMessage(meant)).toContain('Public on purpose');
  expect(await webhooks.statuses(`${namespace}.open`)).toEqual([200, 200]);
});

test('where the namespace requires auth a public webhook closes, and opens again when it no longer does', async () => {
  const namespace = await webhooks.project({ token: 's3cret' });
  const label = (value: string | null) =>
    harness.client.patch(
      namespaces,
      { name: namespace },
      { metadata: { labels: { [LABEL.requireAuth]: value } } },
      { type: 'merge' },
    );
  await harness.apply(namespace, manifest('open'));
  await harness.apply(namespace, manifest('guarded', bearer('token')));
  for (const name of ['open', 'guarded']) await webhooks.serving(namespace, name);
  await label('true');
  const refused = { type: 'Valid', status: 'False', reason: 'AuthRequired' };
  const closed = await harness.waitFor(namespace, 'open', refused);
  expect(readyMessage(closed)).toContain('set auth to one of hmac, ');
  expect(closed.status?.access).toBe('Closed');
  const { spec } = await harness.client.get(webhookRoutes, { namespace, name: 'open' });
  expect(spec).toMatchObject({ active: false, inactiveReason: 'AuthRequired' });
  const event = { type: 'Warning', name: 'open', note: expect.stringMatching(/returns 404.*require-auth/) };
  await expect.poll(() => eventsOf(namespace, 'WebhookClosed'), WITHIN).toEqual([event]);
  await expect.poll(() => webhooks.statuses(`${namespace}.open`), WITHIN).toEqual([404, 404]);
  expect(await webhooks.statuses(`${namespace}.guarded`, token('s3cret'))).toEqual([200, 200]);
  await harness.apply(namespace, manifest('open', { none: {} }));
  await harness.waitFor(namespace, 'open', refused);
  await harness.client.patch(
    workflows,
    { namespace, name: 'open' },
    { spec: { suspend: true } },
    { type: 'merge' },
  );
  const both = await harness.waitFor(namespace, 'open', {
    type: 'Active',
    status: 'False',
    reason: 'Suspended',
  });
  expect(readyMessage(both)).toMatch(/set auth to one of .* The workflow is also suspended: /);
  await harness.client.patch(
    workflows,
    { namespace, name: 'open' },
    { spec: { suspend: null } },
    { type: 'merge' },
  );
  await harness.waitFor(namespace, 'open', { type: 'Active', status: 'False', reason: 'AuthRequired' });
  await label(null);
  await webhooks.serving(namespace, 'open');
  expect(await webhooks.statuses(`${namespace}.open`)).toEqual([200, 200]);
  const trail = auditTrail(harness.trail).filter(
    ({ object }) => object?.namespace === namespace && object.name === 'open',
  );
  const lines = trail.map(({ event, reason, manager, resourceVersion }) => ({
    event,
    reason,
    isKnown: manager !== undefined && resourceVersion !== undefined,
  }));
  expect(lines).toEqual([
    { event: 'workflow.activate', isKnown: true },
    { event: 'workflow.deactivate', reason: 'AuthRequired', isKnown: false },
    { event: 'workflow.suspend', isKnown: true },
    { event: 'workflow.resume', isKnown: true },
    { event: 'workflow.activate', reason: 'AuthNoLongerRequired', isKnown: false },
  ]);
});

test('taking auth away from a live webhook is an Event that names the scheme, and a line in the audit trail', async () => {
  const namespace = await webhooks.project({ token: 's3cret' });
  await harness.apply(namespace, manifest('bare', bearer('token')));
  await webhooks.serving(namespace, 'bare');
  const told = () => eventsOf(namespace, 'WebhookMadePublic');
  expect(await told()).toEqual([]);
  await harness.apply(namespace, manifest('bare', { none: {} }));
  await webhooks.serving(namespace, 'bare');
  const event = { type: 'Warning', name: 'bare', note: expect.stringMatching(/by bearer and is public now/) };
  await expect.poll(told, WITHIN).toEqual([event]);
  const trail = auditTrail(harness.trail, 'webhook.madePublic');
  expect(trail.filter(({ object }) => object?.namespace === namespace)).toMatchObject([
    { result: 'allowed', reason: 'bearer', object: { kind: 'Workflow', name: 'bare' }, manager: 'kubectl' },
  ]);
});

test.each([
  ['no Secret', undefined, 'SecretMissing', /node trigger: Secret hooks does not exist/],
  ['a key too few', { other: 'x' }, 'KeyMissing', /node trigger: Secret hooks has no key token/],
  ['an empty key', { token: '' }, 'KeyUnusable', /node trigger: Secret hooks, key token: the value is empty/],
])(
  'with %s nobody is let in, and the workflow says what is missing, until it is there',
  async (_what, values, reason, says) => {
    const { namespace } = await harness.createProject();
    if (values !== undefined) await webhooks.putSecret(namespace, values);
    await harness.apply(namespace, manifest('closed', bearer('token')));
    const workflow = await harness.waitFor(namespace, 'closed', {
      type: 'CredentialsReady',
      status: 'False',
      reason,
    });
    expect(findCondition(workflow.status?.conditions, 'CredentialsReady')?.message).toMatch(says);
    await harness.waitFor(namespace, 'closed', { type: 'Routed', status: 'True' });
    for (const sent of [undefined, token(''), token('s3cret')]) {
      const answer = await send(gateways[0] as GatewayProcess, `${namespace}.closed`, sent);
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await harness.waitFor(namespace, 'closed', { type: 'Active', status: 'False', reason });
    await webhooks.putSecret(namespace, { token: 's3cret' });
    await webhooks.serving(namespace, 'closed');
    expect(await webhooks.statuses(`${namespace}.closed`, token('s3cret'))).toEqual([200, 200]);
    expect(await webhooks.statuses(`${namespace}.closed`, token(''))).toEqual([401, 401]);
  },
);

test('the signed id of an event is its key, whatever else is sent, and nothing is remembered of who is not verified', async () => {
  const namespace = await webhooks.project({ standard: `whsec_${STANDARD_KEY}` });
  await harness.apply(namespace, manifest('once', { standardWebhooks: refs('standard') }));
  await webhooks.serving(namespace, 'once');
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
  const namespace = await webhooks.project({ token: 's3cret' });
  await harness.apply(namespace, manifest('guarded', bearer('token')));
  await webhooks.serving(namespace, 'guarded');
  const client = createClient(connectionOf(harness.connection, webhooks.gatewayToken));
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
    await harness.client.apply(namespaces, { metadata: { name: 'shop' } });
    const { kubeconfigPath, binDir } = harness.server;
    const run = (script: string) =>
      runCommand('bash', ['-euo', 'pipefail', '-c', script], {
        env: { ...process.env, KUBECONFIG: kubeconfigPath, PATH: `${binDir}:${process.env['PATH']}` },
      });
    await run(secret);
    await harness.apply('shop', yaml);
    await webhooks.serving('shop', (parse(yaml) as Workflow).metadata.name);
    const answer = await run(call.replaceAll('https://hooks.example.com', gateways[0]?.publicURL ?? ''));
    expect(JSON.parse(answer)).toEqual({ run: expect.any(String) });
    const [path = ''] = /\/webhook\/\S+/.exec(call) ?? [];
    const bare = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await fetch(`${gateways[1]?.publicURL}${path}`, bare)).status).toBe(401);
  },
);

test('nothing of a secret is in a log or in a route', async () => {
  const shown = await webhooks.shown();
  for (const secret of ['s3cret', STANDARD_KEY])
    for (const form of [secret, base64(secret)]) expect(shown).not.toContain(form);
});
