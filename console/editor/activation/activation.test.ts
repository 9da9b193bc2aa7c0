import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { keptRevisionNote } from '../../../api/keptRevision.ts';
import type { WebhookAuth } from '../../../api/trigger.ts';
import { curlOf } from './curl.ts';
import { pollOf } from './poll.ts';
import { firstRunSince } from './requests.ts';
import { activationOf, proofsOf, triggerDescription } from './activation.ts';

type Said = [type: string, status: 'True' | 'False' | 'Unknown', reason: string, observedGeneration?: number];

const workflow = (switches: { active: boolean; suspend?: boolean }, ...said: Said[]) => ({
  metadata: { name: 'orders', namespace: 'shop', generation: 2 },
  spec: { ...switches, nodes: [] },
  status: {
    conditions: said.map(([type, status, reason, observedGeneration = 2]) => ({
      type,
      status,
      reason,
      message: `${type} says ${reason}.`,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration,
    })),
  },
});

const LIVE: Said = ['Active', 'True', 'Serving', 1];

test.each<[active: boolean, said: Said[], kind: string, word: string, awaited: string]>([
  [true, [], 'settling', 'Activating', 'operator'],
  [true, [['Ready', 'Unknown', 'Pending']], 'settling', 'Activating', 'operator'],
  [true, [['Ready', 'True', 'Inactive', 1]], 'settling', 'Activating', 'operator'],
  [false, [['Ready', 'True', 'Serving', 1], LIVE], 'settling', 'Deactivating', 'operator'],
  [false, [], 'settling', 'Taking effect', 'operator'],
  [true, [['Ready', 'True', 'Serving', 1], LIVE], 'settling', 'Taking effect', 'operator'],
  [true, [['Ready', 'True', 'Serving']], 'on', 'Active', ''],
  [false, [['Ready', 'True', 'Inactive']], 'off', 'Inactive', ''],
  [
    true,
    [
      ['Ready', 'False', 'PoolStarting'],
      ['Valid', 'True', 'Accepted'],
      ['Routed', 'False', 'WaitingForReplicas'],
      ['PoolReady', 'False', 'PoolStarting'],
    ],
    'settling',
    'Activating',
    'runner',
  ],
  [
    true,
    [
      ['Ready', 'False', 'CredentialNotReady'],
      ['CredentialsReady', 'False', 'CredentialNotReady'],
    ],
    'stuck',
    'Needs attention',
    'credentials',
  ],
  [
    true,
    [
      ['Ready', 'Unknown', 'CredentialNotReady'],
      ['CredentialsReady', 'Unknown', 'CredentialNotReady'],
    ],
    'settling',
    'Activating',
    'credentials',
  ],
])('active=%s with %j is %s', (active, said, kind, word, awaited) => {
  const activation = activationOf(workflow({ active }, ...said));
  expect(activation).toMatchObject({ kind, word });
  expect(activation.awaited ?? '').toContain(awaited);
});

test('what is proven, awaited or failed before a version is live', () => {
  const said: Said[] = [
    ['Ready', 'False', 'CredentialMissing'],
    ['Routed', 'False', 'WaitingForReplicas'],
    ['Valid', 'True', 'Accepted'],
    ['Scheduled', 'True', 'Scheduled', 1],
    ['CredentialsReady', 'False', 'CredentialMissing'],
  ];
  expect(proofsOf(workflow({ active: true }, ...said)).map(({ label, state }) => [label, state])).toEqual([
    ['Valid', 'proven'],
    ['Credentials work', 'failed'],
    ['Schedule created', 'awaited'],
    ['URL responds', 'awaited'],
  ]);
  const invalid: Said[] = [
    ['Valid', 'False', 'InvalidSpec'],
    ['Stalled', 'True', 'InvalidSpec'],
  ];
  expect(proofsOf(workflow({ active: true }, ...invalid))).toEqual([{ label: 'Valid', state: 'failed' }]);
});

test('a suspension is shown as pending until it is in effect', () => {
  const switches = { active: true, suspend: true };
  expect(activationOf(workflow(switches, ['Ready', 'True', 'Serving', 1]))).toMatchObject({
    kind: 'settling',
    word: 'Suspending',
  });
  expect(activationOf(workflow(switches, ['Ready', 'True', 'Suspended']))).toMatchObject({
    kind: 'suspended',
    word: 'Suspended',
  });
});

test('an invalid version is not live, and says which earlier one is', () => {
  const invalid: Said[] = [
    ['Ready', 'False', 'InvalidExpression'],
    ['Valid', 'False', 'InvalidExpression'],
    ['Stalled', 'True', 'InvalidExpression'],
  ];
  const saved = workflow({ active: true }, ...invalid);
  expect(activationOf(saved)).toMatchObject({ kind: 'stuck', word: 'Needs attention' });
  for (const condition of saved.status.conditions)
    if (condition.type === 'Ready') condition.message += ` ${keptRevisionNote('orders-abc')}`;
  const activation = activationOf(saved);
  expect(activation).toMatchObject({ kind: 'behind', word: 'Published version not live' });
  expect(activation.awaited).toContain('the earlier version orders-abc');
  expect(activation.message).toBe('Valid says InvalidExpression.');
});

test('a suspended workflow that is invalid shows both', () => {
  const said: Said[] = [
    ['Ready', 'False', 'AuthRequired'],
    ['Valid', 'False', 'AuthRequired'],
    ['Stalled', 'True', 'AuthRequired'],
  ];
  expect(activationOf(workflow({ active: true, suspend: true }, ...said)).word).toBe(
    'Suspended, needs attention',
  );
});

test.each([
  [{ active: false }, 'When active: each POST'],
  [{ active: true, suspend: true }, 'After you resume it: each POST'],
  [{ active: false, suspend: true }, 'After you resume and activate it: each POST'],
])('with %j the description of the trigger says what must happen first', (switches, says) => {
  expect(triggerDescription('webhook', switches)).toContain(says);
});

const URL_ = 'https://hooks.example.com/webhook/shop.orders/orders';
const refs = [{ name: 'hooks', key: 'secret' }];
const body = { name: "Ada's" };

test('the example call of a webhook without auth has only the test data', () => {
  expect(curlOf(URL_, { path: 'orders' }, body)).toEqual({
    command: `curl -X POST '${URL_}' \\\n  -H 'content-type: application/json' \\\n  -d '{"name":"Ada'\\''s"}'`,
  });
  expect(curlOf(URL_, { path: 'orders' }, undefined).command).toContain("-d '{}'");
});

test.each<[auth: WebhookAuth, part: string]>([
  [{ bearer: { secretRefs: refs } }, 'authorization: Bearer <token>'],
  [{ basic: { username: 'ada', passwordRefs: refs } }, "-u 'ada:<password>'"],
  [{ standardWebhooks: { secretRefs: refs } }, 'webhook-signature: v1,'],
])('the example call of a webhook with %j has its headers and says where the secret is', (auth, part) => {
  const { command, hint } = curlOf(URL_, { path: 'orders', auth }, body);
  expect(command).toContain(part);
  expect(hint).toContain('in the Secret hooks, key secret');
});

const text = JSON.stringify(body);
const hmac = (message: string, encoding: 'hex' | 'base64', algorithm = 'sha256') =>
  createHmac(algorithm, '<secret>').update(message).digest(encoding);

test.each<[auth: WebhookAuth, header: string]>([
  [{ github: { secretRefs: refs } }, `x-hub-signature-256: sha256=${hmac(text, 'hex')}`],
  [{ hmac: { secretRefs: refs, header: 'x-sign' } }, `x-sign: ${hmac(text, 'hex')}`],
  [
    { hmac: { secretRefs: refs, header: 'x-sign', encoding: 'base64', algorithm: 'sha512', prefix: 'v=' } },
    `x-sign: v=${hmac(text, 'base64', 'sha512')}`,
  ],
])('the example call signs the body as %j requires', (auth, header) => {
  const { command } = curlOf(URL_, { path: 'orders', auth }, body);
  const printed = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
    encoding: 'utf8',
  });
  expect(printed.split('\n')).toContain(header);
  expect(printed.split('\n')).toContain(text);
});

test('the signature covers the timestamp', () => {
  const auth = { hmac: { secretRefs: refs, header: 'x-sign', timestampHeader: 'x-time' } };
  const { command } = curlOf(URL_, { path: 'orders', auth }, body);
  const printed = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
    encoding: 'utf8',
  });
  const time = /^x-time: (\d+)$/m.exec(printed)?.[1] ?? '';
  expect(printed).toContain(`x-sign: ${hmac(`${time}.${text}`, 'hex')}`);
});

const row = (uid: string, trigger: string, accepted: string) => ({
  metadata: { name: uid, uid, labels: { 'windlass.dev/trigger': trigger } },
  cells: { Accepted: accepted },
});

test('the first new run that a webhook started is shown', () => {
  const rows = [
    row('d', 'webhook', '4'),
    row('c', 'webhook', '3'),
    row('b', 'execute', '2'),
    row('a', 'webhook', '1'),
  ];
  expect(firstRunSince(rows, new Set(['a']))?.metadata.uid).toBe('c');
  expect(firstRunSince(rows, new Set(['a', 'c', 'd']))).toBeUndefined();
  const later = { metadata: { name: 'e', uid: 'e' }, cells: {} };
  expect(firstRunSince([later], new Set())).toBeUndefined();
  expect(firstRunSince([{ ...later, cells: { Trigger: 'webhook' } }], new Set())).toBeDefined();
});

test('the poll state has the last poll, the next poll and the cursor', () => {
  const cursor = JSON.stringify({ place: 'p', cursor: { uid: 7 } });
  const lastPollTime = '2026-01-01T00:00:00Z';
  expect(pollOf({ lastPollTime, cursor, lastError: 'Rejected: no' }, 60)).toEqual({
    lastAt: Date.parse(lastPollTime),
    nextAt: Date.parse('2026-01-01T00:01:00Z'),
    cursor: '{"uid":7}',
    lastError: 'Rejected: no',
  });
  expect(pollOf({ cursor: 'damaged' }, 60)).toEqual({ cursor: 'damaged' });
  expect(pollOf(undefined, 60)).toEqual({});
});
