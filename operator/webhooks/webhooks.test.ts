import { expect, test } from 'vitest';
import type { WebhookAuth } from '../../api/trigger.ts';
import { encodeKeys } from '../../api/webhookAuth.ts';
import { checkKeyValues } from './keys.ts';
import { changedEntries, isWritten, materialOf, secretOf, type Owner } from './projectSecret.ts';
import { verificationOf } from './verification.ts';

const secretRefs = [
  { name: 'hooks', key: 'new' },
  { name: 'hooks', key: 'old' },
];

test.each([undefined, { none: {} }])('a webhook with auth %j is public', (auth) => {
  expect(verificationOf(auth)).toEqual({ access: 'Public' });
});

const declared: [auth: WebhookAuth, expected: object][] = [
  [
    { hmac: { secretRefs, header: 'X-Signature' } },
    {
      access: 'hmac',
      verify: {
        secretRefs,
        toleranceSeconds: 300,
        hmac: { header: 'x-signature', algorithm: 'sha256', encoding: 'hex', prefix: '' },
      },
    },
  ],
  [
    {
      hmac: {
        secretRefs,
        header: 'X-Sig',
        algorithm: 'sha512',
        encoding: 'base64',
        prefix: 'v0=',
        timestampHeader: 'X-Time',
        tolerance: '1m',
      },
    },
    {
      access: 'hmac',
      verify: {
        secretRefs,
        toleranceSeconds: 60,
        hmac: {
          header: 'x-sig',
          algorithm: 'sha512',
          encoding: 'base64',
          prefix: 'v0=',
          timestampHeader: 'x-time',
        },
      },
    },
  ],
  [
    { standardWebhooks: { secretRefs, tolerance: '30d' } },
    { access: 'standardWebhooks', verify: { secretRefs, toleranceSeconds: 86_400 } },
  ],
  [{ github: { secretRefs } }, { access: 'github', verify: { secretRefs, toleranceSeconds: 300 } }],
  [{ bearer: { secretRefs } }, { access: 'bearer', verify: { secretRefs, toleranceSeconds: 300 } }],
  [
    { basic: { username: 'ada', passwordRefs: secretRefs } },
    { access: 'basic', verify: { secretRefs, toleranceSeconds: 300, username: 'ada' } },
  ],
];

test.each(declared)('%j is what the gateway is told', (auth, expected) => {
  expect(verificationOf(auth)).toEqual(expected);
});

const bytes = (text: string) => Buffer.from(text);
const hooks = (values: Record<string, string>) =>
  new Map([['hooks', new Map(Object.entries(values).map(([key, value]) => [key, bytes(value)]))]]);

test('keys come in the order in which they are named', () => {
  expect(checkKeyValues('shop', 'bearer', secretRefs, hooks({ old: 'a', new: 'b' }))).toEqual({
    ok: true,
    keys: [bytes('b'), bytes('a')],
  });
});

test.each([
  [
    'no Secret',
    new Map([['hooks', undefined]]),
    'SecretMissing',
    /Secret hooks does not exist.*kubectl -n shop/,
  ],
  ['a key too few', hooks({ new: 'b' }), 'KeyMissing', /Secret hooks has no key old.*kubectl -n shop/],
  ['an empty key', hooks({ new: 'b', old: '' }), 'KeyUnusable', /Secret hooks, key old: the value is empty/],
  ['a line break', hooks({ new: 'b\n', old: 'a' }), 'KeyUnusable', /Secret hooks, key new: .*line break/],
])('%s is told with Secret and key, and nothing can be verified', (_what, found, reason, says) => {
  expect(checkKeyValues('shop', 'bearer', secretRefs, found)).toEqual({
    ok: false,
    reason,
    message: expect.stringMatching(says),
  });
});

const OWNERS: Owner[] = [
  { kind: 'Workflow', name: 'orders', uid: 'uid-orders' },
  { kind: 'WorkflowRun', name: 'refunds', uid: 'uid-refunds' },
];
const FIRST = '1111111111111111';
const SECOND = '2222222222222222';
const THIRD = '3333333333333333';
const text = (key: string) => encodeKeys([bytes(key)]);
const entries = new Map([
  [`uid-orders.${FIRST}`, text('a')],
  [`uid-refunds.${SECOND}`, text('b')],
  [`uid-gone.${SECOND}`, text('c')],
]);
const keys = [bytes('new')];

test('the same keys have the same entry, so that nothing is written twice', () => {
  expect(materialOf(entries, 'uid-orders', [bytes('a')], undefined)).toBe(FIRST);
  expect(materialOf(entries, 'uid-orders', [bytes('b')], undefined)).toBeUndefined();
  expect(materialOf(entries, 'uid-refunds', [bytes('a')], undefined)).toBeUndefined();
  const twice = new Map([...entries, [`uid-orders.${THIRD}`, text('a')]]);
  expect(materialOf(twice, 'uid-orders', [bytes('a')], THIRD)).toBe(THIRD);
});

test('other keys are another entry, beside the one that gateways still verify with', () => {
  const change = { uid: 'uid-orders', current: { material: THIRD, keys }, routed: FIRST };
  const changed = changedEntries(entries, change, OWNERS);
  expect([...changed.keys()]).toEqual([
    `uid-orders.${FIRST}`,
    `uid-orders.${THIRD}`,
    `uid-refunds.${SECOND}`,
  ]);
  const settled = changedEntries(changed, { ...change, routed: THIRD }, OWNERS);
  expect([...settled]).toEqual([
    [`uid-orders.${THIRD}`, encodeKeys(keys)],
    [`uid-refunds.${SECOND}`, text('b')],
  ]);
});

test('a workflow without keys has no entry, whatever its route says', () => {
  expect([...changedEntries(entries, { uid: 'uid-orders', routed: FIRST }, OWNERS).keys()]).toEqual([
    `uid-refunds.${SECOND}`,
  ]);
});

test('the Secret belongs to the workflows that have an entry, and is the same until something changes', () => {
  const own = changedEntries(entries, { uid: 'uid-refunds' }, OWNERS);
  const manifest = secretOf('shop', own, OWNERS, undefined);
  expect(manifest.metadata).toMatchObject({
    namespace: 'shop',
    name: 'windlass-webhooks',
    ownerReferences: [
      { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', name: 'orders', uid: 'uid-orders' },
    ],
  });
  const stored = { apiVersion: 'v1', kind: 'Secret', ...manifest };
  expect(isWritten(stored, manifest)).toBe(true);
  expect(isWritten(undefined, manifest)).toBe(false);
  expect(isWritten({ ...stored, data: {} }, manifest)).toBe(false);
  expect(isWritten({ ...stored, metadata: { ...stored.metadata, ownerReferences: [] } }, manifest)).toBe(
    false,
  );
});
