/** Secrets of the Kubernetes API through the gateway: they are written, and never read. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secrets } from '../../../kube/resource.ts';
import { CORE, EDITOR, send, TABLE } from '../../support/gateway/kubeCalls.ts';
import {
  startPassThroughHarness,
  type PassThroughHarness,
  type TestGateway,
} from '../../support/gateway/passThroughHarness.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';

const CANARY = 'canary-4711-in-a-secret';

let harness: PassThroughHarness;
let gateway: TestGateway;
let editor: string;

beforeAll(async () => {
  harness = await startPassThroughHarness('shop');
  gateway = await harness.gateway();
  editor = await harness.user('shop', 'editor', EDITOR);
  await harness.client.create(secrets, {
    metadata: {
      namespace: 'shop',
      name: 'mail',
      labels: { app: 'mail' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': CANARY },
    },
    data: { password: Buffer.from(CANARY).toString('base64') },
  });
});
afterAll(() => harness?.close());

test('no request returns a value of a Secret', async () => {
  const value = Buffer.from(CANARY).toString('base64');
  const made = { metadata: { name: 'new' }, stringData: { token: CANARY } };
  const calls = [
    () => gateway.call(`${CORE}/secrets/mail`, editor),
    () => gateway.call(`${CORE}/secrets/mail?includeObject=Object`, editor, { headers: { accept: TABLE } }),
    () => gateway.call(`${CORE}/secrets`, editor),
    () => gateway.call(`${CORE}/secrets?includeObject=Object`, editor, { headers: { accept: TABLE } }),
    () =>
      gateway.call(`${CORE}/secrets`, editor, {
        headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
      }),
    () => gateway.call(`${CORE}/secrets`, editor, { headers: { accept: 'application/yaml' } }),
    () => gateway.call(`${CORE}/secrets?dryRun=All`, editor, send('POST', made)),
    () => gateway.call(`${CORE}/secrets`, editor, send('POST', { ...made, metadata: { name: 'made' } })),
    () =>
      gateway.call(
        `${CORE}/secrets/mail`,
        editor,
        send('PATCH', { metadata: { labels: { seen: 'yes' } } }, 'application/merge-patch+json'),
      ),
    () =>
      gateway.call(
        `${CORE}/secrets/applied?fieldManager=console`,
        editor,
        send(
          'PATCH',
          { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'applied' }, stringData: { token: CANARY } },
          'application/apply-patch+yaml',
        ),
      ),
    () =>
      gateway.call(
        `${CORE}/secrets/mail`,
        editor,
        send(
          'PATCH',
          [{ op: 'copy', from: '/data/password', path: '/metadata/labels/x' }],
          'application/json-patch+json',
        ),
      ),
  ];
  // One after the other: a caller may have few exchanges with Secrets at a time.
  const answers: Response[] = [];
  for (const call of calls) answers.push(await call());
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 201, 201, 200, 201, 415]);
  const bodies = await Promise.all(answers.map((answer) => answer.text()));
  for (const body of bodies) {
    expect(body).not.toContain('canary');
    expect(body).not.toContain(value);
    expect(body).not.toContain('annotations');
  }
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
    type: 'Opaque',
    keys: ['password'],
    metadata: { name: 'mail' },
  });
  expect(JSON.parse(bodies[2] ?? '')).toMatchObject({
    items: [{ metadata: { name: 'mail' }, type: 'Opaque' }],
  });
  expect(JSON.parse(bodies[7] ?? '')).toMatchObject({ keys: ['token'], metadata: { name: 'made' } });
  const stored = await harness.client.get(secrets, { namespace: 'shop', name: 'made' });
  expect(stored.data).toEqual({ token: value });
  const trail = auditTrail(gateway.trail, 'object.create').filter(({ object }) => object?.name === 'made');
  expect(trail).toMatchObject([{ result: 'allowed', object: { kind: 'Secret', namespace: 'shop' } }]);
  for (const text of [CANARY, value]) expect(gateway.trail.join('')).not.toContain(text);
});

test('an invalid patch of a Secret is refused without its values', async () => {
  const value = Buffer.from(CANARY).toString('base64');
  const patches = [
    { data: { other: 5 } },
    { data: { other: 'not base64' } },
    { data: 'none' },
    { type: {} },
    { kind: 'ConfigMap' },
    { apiVersion: 'v2' },
    { metadata: { labels: 'none' } },
    { metadata: { creationTimestamp: 'now' } },
    { unknown: true },
    { type: 'Other' },
  ];
  for (const patch of patches) {
    const path = `${CORE}/secrets/mail?fieldValidation=Strict&dryRun=All`;
    const answer = await gateway.call(path, editor, send('PATCH', patch, 'application/merge-patch+json'));
    const text = await answer.text();
    expect([patch, answer.status >= 400, JSON.parse(text)]).toMatchObject([patch, true, { kind: 'Status' }]);
    expect(text).not.toContain('canary');
    expect(text).not.toContain(value);
  }
});

test('no request failed unexpectedly', () => {
  expect(gateway.log.messages('error')).toEqual([]);
});
