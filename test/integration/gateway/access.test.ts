/**
 * Who gets what: every operation that needs a right, asked for by every kind of caller, on both listeners.
 */
import { createPrivateKey, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { GROUP, VERSION } from '../../../api/group.ts';
import { CREDENTIAL, type Credential } from '../../../api/kinds.ts';
import type { Operation, Right } from '../../../gateway/contract/operation.ts';
import { OPERATIONS } from '../../../gateway/contract/operations.ts';
import {
  namespacedResource,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
  tokenReviews,
  type PolicyRule,
} from '../../../kube/resource.ts';
import { advance } from '../../../runs/advance.ts';
import { askMemory } from '../../../runs/memory.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { createSealingKeys } from '../../../store/oauth/seal.ts';
import { publishKey } from '../../../store/oauth/states.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { putBot, SHOWN } from '../../support/gateway/botRoutes.ts';
import { putChat } from '../../support/gateway/chatHarness.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  putRoute,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { startGateway, type GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { startKubeApiFaults, type KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { accepted, submissionOf } from '../../support/runStore/runStore.ts';
import { tokenOf, writeKubeconfig } from '../../support/cluster/users.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

const WORKFLOW = 'orders-c0ffee';
const credentials = namespacedResource<Credential>(GROUP, VERSION, CREDENTIAL.kind, CREDENTIAL.plural);
const CANARIES = ['canary-in-4711', 'canary-out-4711', 'canary-reason-4711'];
/** What the API server calls itself in tokens. */
const ISSUER = 'https://kubernetes.default.svc.cluster.local';
/** What operations say of a request without what they need. */
const PROBLEMS_OF_SERVED = ['callback-unknown', 'bad-message'];
const MEMORY = { name: 'agent_1', key: 'canary-key-4711' };
const operations = Object.entries<Operation>(OPERATIONS);
const guarded = operations.filter(([, { right }]) => right !== undefined);

let harness: GatewayHarness;
let proxy: KubeApiFaults;
/** It reaches the API server through the proxy. */
let gateway: GatewayProcess;
let tokens: Record<string, string | undefined>;
/** A run that has ended, with a canary in all that it has. */
let run: string;
let chat: string;

beforeAll(async () => {
  harness = await startGatewayHarness();
  proxy = await startKubeApiFaults(harness.api.connection);
  await harness.client.create(namespaces, { metadata: { name: 'other' } });
  await putRoute(harness.client, WORKFLOW);
  chat = new URL(await putChat(harness, 'support')).pathname.split('/').at(-1) ?? '';
  await putBot(harness.client, 'helper', WORKFLOW);
  const { url, ...rest } = { ...harness.api, url: proxy.connection.server };
  gateway = await startGateway({
    kubeconfigPath: await writeKubeconfig({ ...rest, url }, 'through-proxy', 'none'),
    redisURL: harness.redis.url,
    pod: 'gateway-proxied',
    namespace: NAMESPACE,
    env: { PUBLIC_URL: 'https://hooks.example.com' },
  });
  await harness.client.apply(credentials, {
    metadata: { namespace: NAMESPACE, name: WORKFLOW },
    spec: { oauth2: { preset: 'google', clientID: 'run' } },
  });
  await Promise.all([
    makeUser('allowed', NAMESPACE, everything()),
    makeUser('leaver', NAMESPACE, everything()),
    makeUser('late', NAMESPACE, everything()),
    makeUser('stranger', NAMESPACE, []),
    makeUser('foreigner', 'other', everything()),
    ...guarded.map(([id, operation]) => makeUser(`no-${id.toLowerCase()}`, NAMESPACE, everything(operation))),
  ]);
  tokens = await makeTokens();
});
afterAll(async () => {
  await gateway?.stop();
  await proxy?.stop();
  await harness?.close();
});

beforeEach(async () => {
  // As an operator that leads.
  await publishKey(harness.runs, (await createSealingKeys()).publicKey);
  run = await endedRun();
});

/** Whether RBAC cannot distinguish them. */
function isSameRight(one: Right | undefined, other: Right | undefined): boolean {
  const of = (right?: Right) => [right?.verb, right?.resource, right?.subresource].join(' ');
  return of(one) === of(other);
}

/** What the operations take, but for one. */
function everything(but?: Operation): PolicyRule[] {
  return guarded
    .filter(([, { right }]) => !isSameRight(right, but?.right))
    .map(([, { right }]) => ({
      apiGroups: [GROUP],
      resources: [`${right?.resource}${right?.subresource ? `/${right.subresource}` : ''}`],
      verbs: [right?.verb ?? ''],
    }));
}

async function makeUser(name: string, namespace: string, rules: PolicyRule[]): Promise<void> {
  const metadata = { namespace, name };
  await harness.client.create(serviceAccounts, { metadata });
  await harness.client.create(roles, { metadata, rules });
  await harness.client.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
}

const OURS = { audiences: ['windlass'] };

async function makeTokens(): Promise<Record<string, string | undefined>> {
  const allowed = await tokenOf(harness.client, NAMESPACE, 'allowed', OURS);
  return {
    none: undefined,
    'of a word': 'nothing',
    'of two words': 'two words',
    'with the signature cut off': allowed.split('.').slice(0, 2).join('.'),
    'with a signature of another': `${allowed.slice(0, -8)}AAAAAAAA`,
    'without an algorithm': `${encode({ alg: 'none' })}.${allowed.split('.')[1]}.`,
    expired: await expired(allowed),
    'for another audience': await tokenOf(harness.client, NAMESPACE, 'allowed', {
      audiences: ['somebody-else'],
    }),
    'without any right': await tokenOf(harness.client, NAMESPACE, 'stranger', OURS),
    'with rights in another namespace': await tokenOf(harness.client, 'other', 'foreigner', OURS),
    allowed,
    "allowed, for the API server's audience": await tokenOf(harness.client, NAMESPACE, 'allowed'),
  };
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** The same token as of a day ago, with a good signature. */
async function expired(token: string): Promise<string> {
  const [head = '', body = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as { iat: number; exp: number };
  const day = 24 * 3_600;
  const old = encode({ ...claims, nbf: claims.iat - day, iat: claims.iat - day, exp: claims.exp - day });
  const key = createPrivateKey(await readFile(join(harness.api.logFolder, 'service-accounts.key')));
  return `${head}.${old}.${sign('sha256', Buffer.from(`${head}.${old}`), key).toString('base64url')}`;
}

async function endedRun(): Promise<string> {
  const [input, text_content, message] = CANARIES as [string, string, string];
  const name = await accepted(
    harness.runs,
    submissionOf(PROJECT, {
      workflow: WORKFLOW,
      workflowUid: workflowUid(WORKFLOW),
      input: JSON.stringify({ text_content: input, data_content: {} }),
    }),
  );
  await pollUntil(
    'the run to claim',
    async () => {
      const claimed = await claimRuns(harness.runs, { project: PROJECT, runner: 'test', max: 10 });
      const claims = claimed.outcome === 'claimed' ? claimed.claims : [];
      for (const { token, state } of claims) {
        const ref = { project: PROJECT, run: state.run, token };
        await askMemory(harness.runs, ref, { node: 'agent_1', space: MEMORY, most: 1 });
        const turn = { run: state.run, time: '', user: input, steps: [], answer: text_content };
        await advance(harness.runs, ref, {
          memories: [
            { node: 'agent_1', remembered: { ...MEMORY, turn: JSON.stringify(turn), ttlMs: 3_600_000 } },
          ],
          checkpoints: [
            {
              id: 'agent_1',
              phase: 'Failed',
              attempts: 1,
              message,
              output: { text_content, data_content: null },
            },
          ],
          end: { phase: 'Cancelled', reason: 'Cancelled', message },
        });
      }
      return claims.some(({ state }) => state.run === name);
    },
    { timeoutMs: 20_000, everyMs: 5 },
  );
  return name;
}

type Names = { workflow?: string; name?: string };

function call(
  { method, path, body }: Operation,
  token: string | undefined,
  { base = gateway.internalURL, workflow = WORKFLOW, name = run }: Names & { base?: string } = {},
): Promise<Response> {
  const address = path
    .replace('{id}', `${NAMESPACE}.${workflow}`)
    .replace('{namespace}', NAMESPACE)
    .replace('{run}', name)
    .replace('{name}', MEMORY.name)
    .replace('{key}', MEMORY.key)
    .replace('{credential}', `${NAMESPACE}.${workflow}`)
    .replace('{link}', 'A'.repeat(43))
    .replace('{chat}', chat)
    .replace('{path}', 'new');
  return fetch(base + address, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(path.startsWith('/bot/') && SHOWN),
    },
    ...(body !== undefined && { body: '{}' }),
  });
}

type Told = { status: number; code: string; headers: string; text: string };

/** What an answer says, without what differs between any two. */
async function toldBy(answer: Response): Promise<Told> {
  const text = await answer.text();
  const headers = [...answer.headers].filter(([name]) => name !== 'date').join('\n');
  const code = /problem\/([a-z-]+)/.exec(text)?.[1] ?? '';
  return { status: answer.status, code, headers, text: text.replace(/urn:uuid:[0-9a-f-]{36}/, '') };
}

const REFUSED: [who: string, code: string][] = [
  ['none', 'unauthorized'],
  ['of a word', 'unauthorized'],
  ['of two words', 'unauthorized'],
  ['with the signature cut off', 'unauthorized'],
  ['with a signature of another', 'unauthorized'],
  ['without an algorithm', 'unauthorized'],
  ['expired', 'unauthorized'],
  ['for another audience', 'unauthorized'],
  ['without any right', 'forbidden'],
  ['with rights in another namespace', 'forbidden'],
];

test('the operations without a token are listed here', () => {
  const open = operations
    .filter(([, { right, anyToken }]) => right === undefined && anyToken === undefined)
    .map(([id]) => id);
  expect(open).toEqual([
    'callWebhook',
    'sendToBot',
    'openChat',
    'sendMessage',
    'callBack',

    'openLink',
    'followLink',
    'finishConnect',
    'describe',
    'live',
    'ready',
  ]);
});

test.each(guarded)('%s yields data to who is allowed and to nobody else', async (id, operation) => {
  const others = [...REFUSED, [`with every right but that of ${id}`, 'forbidden'] as const];
  const lacking = await tokenOf(harness.client, NAMESPACE, `no-${id.toLowerCase()}`, OURS);
  for (const [who, code] of others) {
    const token = who in tokens ? tokens[who] : lacking;
    const told = await toldBy(await call(operation, token));
    expect([who, told.code]).toEqual([who, code]);
    // Neither the object, nor whether there is one.
    for (const secret of [run, WORKFLOW, 'Cancelled', 'agent_1', ...CANARIES])
      expect(told.text + told.headers).not.toContain(secret);
    expect(await toldBy(await call(operation, token, { workflow: 'no-such', name: 'no-such' }))).toEqual(
      told,
    );
  }
  for (const who of ['allowed', "allowed, for the API server's audience"]) {
    const answer = await call(operation, tokens[who]);
    expect([who, answer.ok]).toEqual([who, true]);
    // No model was asked in the project.
    const shown = id === 'readUsage' ? /^\{\}$/ : /run|oauth|items/;
    expect(answer.status === 204 || shown.test(await answer.text())).toBe(true);
  }
});

test.each(operations)('%s answers on its own listener and not on the other', async (_id, operation) => {
  const { internalURL, publicURL } = gateway;
  const [own, other] =
    operation.listener === 'internal' ? [internalURL, publicURL] : [publicURL, internalURL];
  const told = await toldBy(
    await call(operation, tokens["allowed, for the API server's audience"], { base: other }),
  );
  expect([told.status, told.code]).toEqual([404, 'not-found']);
  const answer = await call(operation, tokens["allowed, for the API server's audience"], { base: own });
  // Without a link or a state there is a page that says so, and without a callback or a message a problem.
  const isServed = answer.ok || answer.headers.get('content-type')?.startsWith('text/html') === true;
  expect(isServed || PROBLEMS_OF_SERVED.includes((await toldBy(answer)).code)).toBe(true);
});

test('while the API server is unavailable, new callers get 503 with Retry-After', async () => {
  const token = await tokenOf(harness.client, NAMESPACE, 'late', OURS);
  const back = proxy.always(() => true, 'reset');
  try {
    for (const [id, operation] of guarded) {
      const answer = await call(operation, token);
      const { code, text } = await toldBy(answer);
      expect([id, code]).toEqual([id, 'cluster-unavailable']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(text).not.toContain(run);
    }
  } finally {
    back();
  }
  await pollUntil('being let in', async () => (await call(OPERATIONS.readRun, token)).ok, {
    timeoutMs: 10_000,
  });
});

test('tokens are refused within 10 s after they are revoked, at every operation', async () => {
  const metadata = { namespace: NAMESPACE, name: 'leaver' };
  const revoked = await Promise.all(
    [OURS, {}].map((spec) => tokenOf(harness.client, NAMESPACE, 'leaver', spec)),
  );
  const statuses = () =>
    Promise.all(revoked.map(async (token) => (await call(OPERATIONS.readRun, token)).status));
  expect(await statuses()).toEqual([200, 200]);
  await harness.client.delete(serviceAccounts, metadata);
  const took = stopwatch();
  await pollUntil('the refusal', async () => (await statuses()).every((status) => status === 401), {
    timeoutMs: 25_000,
  });
  expect(took()).toBeLessThan(10_000);
  for (const [, operation] of guarded)
    for (const token of revoked) expect((await call(operation, token)).status).toBe(401);
  await harness.client.create(serviceAccounts, { metadata });
});

test.each([
  ['the audience windlass', OURS],
  ["the API server's audience", {}],
])('a revoked token for %s is refused also while the API server remembers it', async (_for, spec) => {
  const metadata = { namespace: NAMESPACE, name: 'leaver' };
  // By now the gateway knows the API server's audience.
  expect((await call(OPERATIONS.readRun, tokens['allowed'])).status).toBe(200);
  const token = await tokenOf(harness.client, NAMESPACE, 'leaver', spec);
  const accepts = async (extra: string[]) => {
    const audiences =
      'audiences' in spec ? [...spec.audiences, ...extra] : extra.length > 0 ? [ISSUER, ...extra] : [];
    const review = await harness.client.create(tokenReviews, {
      metadata: { name: '' },
      spec: { token, audiences },
    });
    return review.status?.authenticated === true;
  };
  expect(await accepts([])).toBe(true);
  await harness.client.delete(serviceAccounts, metadata);
  let asked = 0;
  await pollUntil('the API server knowing it', async () => !(await accepts([`other-${(asked += 1)}`])), {
    timeoutMs: 20_000,
  });
  expect(await accepts([])).toBe(true);
  expect((await call(OPERATIONS.readRun, token)).status).toBe(401);
  await harness.client.create(serviceAccounts, { metadata });
});

const FLOOD = 900;

const isTokenReview = ({ path }: { path: string }) => path.endsWith('/tokenreviews');

test('forged tokens are reviewed at a bounded rate, and exclude no other caller', async () => {
  const allowed = tokens['allowed'] ?? '';
  const [head = '', body = ''] = allowed.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
  const garbage = [
    (at: number) => `garbage-${at}`,
    (at: number) => `${encode({ alg: 'RS256', kid: 'mine' })}.${encode({ ...claims, jti: `${at}` })}.AAAA`,
    (at: number) => `${head}.${encode({ ...claims, jti: `${at}` })}.${'A'.repeat(342)}`,
  ];
  // Nobody has shown this one before.
  const newcomer = await tokenOf(harness.client, NAMESPACE, 'allowed', OURS);
  const begin = proxy.seen.length;
  const startedAt = performance.now();
  const recorded = auditTrail(gateway.log).length;
  const codes = new Set<string>();
  for (let first = 0; first < FLOOD; first += 60) {
    const many = Array.from({ length: 60 }, (_, at) => garbage[at % 3]?.(first + at));
    const told = await Promise.all(
      many.map(async (token) => toldBy(await call(OPERATIONS.executeWorkflow, token))),
    );
    for (const { code } of told) codes.add(code);
  }
  const answer = await call(OPERATIONS.readRun, newcomer);
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(answer.status).toBe(200);
  expect([...codes].filter((code) => code !== 'unauthorized' && code !== 'cluster-unavailable')).toEqual([]);
  const reviews = proxy.seen.slice(begin).filter(isTokenReview).length;
  expect(reviews).toBeLessThanOrEqual(50 + 20 * seconds + 1);
  // Those that claim to be signed by a key of the issuer cost nothing, and the newcomer one.
  expect(reviews).toBeLessThanOrEqual((FLOOD * 2) / 3 + 1);
  // Nor can the flood fill a disk: what is left out of the audit trail is counted.
  const trail = auditTrail(gateway.log).slice(recorded);
  expect(trail.length).toBeLessThanOrEqual(50 + 10 * (seconds + 1) + 2);
  await expect.poll(() => auditTrail(gateway.log, 'audit.leftOut'), { timeout: 15_000 }).not.toEqual([]);
});
