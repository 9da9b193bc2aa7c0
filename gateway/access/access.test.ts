import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { KubeClient } from '../../kube/client.ts';
import { ApiError } from '../../kube/errors.ts';
import { createCollectedLog } from '../../test/support/logs/collectedLog.ts';
import { createManualClock } from '../../test/support/time/manualClock.ts';
import { createAccess, type AccessOptions, type Wanted } from './access.ts';
import { tokenKey } from './identity.ts';

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
const OURS = jwt({ aud: ['windlass'] });
const CLUSTERS = jwt({ aud: ['https://kubernetes.default.svc'] });
const WANTED: Wanted = {
  verb: 'create',
  resource: 'workflows',
  subresource: 'execute',
  namespace: 'shop',
  name: 'orders',
};

const ADDRESS = '203.0.113.1';

/** An audience that is another one each time. */
const NONCE = expect.stringMatching(/^none-[0-9a-f-]{36}$/) as string;

type Spec = { token?: string; audiences?: string[]; user?: string; resourceAttributes?: { name?: string } };

/** An API server that knows these tokens by audience, and users who may execute these workflows. */
function apiServer(
  tokens: Record<string, { user: string; audiences?: string[] }>,
  allowed: Record<string, string[]>,
) {
  const asked: { kind: string; spec: Spec }[] = [];
  const state = { down: false, tokens, allowed };
  const create = async ({ kind }: { kind: string }, { spec }: { spec: Spec }) => {
    asked.push({ kind, spec });
    if (state.down) throw new ApiError({ status: 0, reason: 'ECONNREFUSED', message: 'no answer' });
    if (kind === 'SubjectAccessReview') {
      const name = spec.resourceAttributes?.name ?? '';
      return { status: { allowed: state.allowed[spec.user ?? '']?.includes(name) ?? false } };
    }
    const known = state.tokens[spec.token ?? ''];
    return {
      status: {
        authenticated: known !== undefined,
        audiences: known?.audiences,
        user: { username: known?.user },
      },
    };
  };
  const raw = async () => {
    throw new ApiError({ status: 403, reason: 'Forbidden', message: 'the keys are for others' });
  };
  return { state, asked, client: { create: create as unknown as KubeClient['create'], raw } };
}

function setUp(server: ReturnType<typeof apiServer>, provider?: AccessOptions['provider']) {
  const clock = createManualClock();
  const log = createCollectedLog();
  const reviews = new Counter({
    name: 'reviews',
    help: 'reviews',
    labelNames: ['kind', 'outcome'] as const,
    registers: [new Registry()],
  });
  const access = createAccess({ client: server.client, metrics: { reviews }, log, clock, provider });
  const decide = (authorization: string | undefined, wanted: Wanted | undefined, address = ADDRESS) =>
    access.decide({ authorization, address }, wanted);
  return { clock, log, access: { ...access, decide } };
}

test.each([
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Basic dXNlcjpwYXNz',
  'Bearer two words',
  'Bearer a\u00e9',
  `Bearer ${'a'.repeat(9_000)}`,
])('"%s" is not a token, and causes no review', async (header) => {
  const server = apiServer({}, {});
  expect(await setUp(server).access.decide(header, WANTED)).toBe('unauthorized');
  expect(server.asked).toEqual([]);
});

test("a token for the audience windlass is asked about for that audience, another for the API server's", async () => {
  const server = apiServer(
    {
      [OURS]: { user: 'ann', audiences: ['windlass'] },
      [CLUSTERS]: { user: 'bob', audiences: ['https://kubernetes.default.svc'] },
    },
    { ann: ['orders'], bob: ['orders'] },
  );
  const { access } = setUp(server);
  expect(await access.decide(`Bearer ${OURS}`, WANTED)).toBe('allowed');
  expect(await access.decide(`bearer ${CLUSTERS}`, WANTED)).toBe('allowed');
  expect(server.asked.filter(({ kind }) => kind === 'TokenReview').map(({ spec }) => spec.audiences)).toEqual(
    [['windlass', NONCE], undefined, ['https://kubernetes.default.svc', NONCE]],
  );
});

test('a token that was not confirmed for our audience is not accepted', async () => {
  const server = apiServer({ [OURS]: { user: 'ann', audiences: [] } }, { ann: ['orders'] });
  expect(await setUp(server).access.decide(`Bearer ${OURS}`, WANTED)).toBe('unauthorized');
});

test('an authenticated caller without the right is forbidden, whatever other rights it has', async () => {
  const server = apiServer({ opaque: { user: 'ann' } }, { ann: ['returns'] });
  const { access } = setUp(server);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('forbidden');
  expect(await access.decide('Bearer opaque', { ...WANTED, name: 'returns' })).toBe('allowed');
});

test('a decision is cached for eight seconds, and a revoked token is refused after that', async () => {
  const server = apiServer({ opaque: { user: 'ann' } }, { ann: ['orders'] });
  const { access, clock } = setUp(server);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('allowed');
  await clock.advance(7_000);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('allowed');
  expect(server.asked).toHaveLength(2);
  server.state.tokens = {};
  await clock.advance(1_000);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('unauthorized');
});

test('a granted right takes effect within two seconds of a refusal', async () => {
  const server = apiServer({ opaque: { user: 'ann' } }, {});
  const { access, clock } = setUp(server);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('forbidden');
  server.state.allowed = { ann: ['orders'] };
  await clock.advance(2_000);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('allowed');
});

test('a refused token is not reviewed again for two seconds', async () => {
  const server = apiServer({}, {});
  const { access } = setUp(server);
  expect(await access.decide('Bearer garbage', WANTED)).toBe('unauthorized');
  expect(await access.decide('Bearer garbage', WANTED)).toBe('unauthorized');
  expect(server.asked).toHaveLength(1);
});

test('concurrent calls share one review', async () => {
  const server = apiServer({ opaque: { user: 'ann' } }, { ann: ['orders'] });
  const { access } = setUp(server);
  const decisions = await Promise.all(
    Array.from({ length: 20 }, () => access.decide('Bearer opaque', WANTED)),
  );
  expect(new Set(decisions)).toEqual(new Set(['allowed']));
  expect(server.asked).toHaveLength(2);
});

test('while the API server does not answer, only cached decisions allow callers', async () => {
  const server = apiServer({ opaque: { user: 'ann' } }, { ann: ['orders'] });
  const { access, clock, log } = setUp(server);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('allowed');
  server.state.down = true;
  expect(await access.decide('Bearer opaque', WANTED)).toBe('allowed');
  await clock.advance(10_000);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('unavailable');
  expect(log.messages('warn')).toHaveLength(1);
  expect(JSON.stringify(log.entries)).not.toContain('opaque');
  server.state.down = false;
  expect(await access.decide('Bearer opaque', WANTED)).toBe('allowed');
});

test('unknown tokens are reviewed at a bounded rate', async () => {
  const server = apiServer({}, {});
  const { access, clock } = setUp(server);
  const flood = async (round: number) => {
    for (let at = 0; at < 500; at += 1) await access.decide(`Bearer garbage-${round}-${at}`, WANTED);
  };
  await flood(1);
  expect(server.asked).toHaveLength(25);
  await clock.advance(1_000);
  await flood(2);
  expect(server.asked).toHaveLength(35);
});

test('unknown tokens of many addresses are reviewed at a bounded rate, too', async () => {
  const server = apiServer({}, {});
  const { access, clock } = setUp(server);
  const flood = async (round: number) => {
    for (let at = 0; at < 500; at += 1)
      await access.decide(`Bearer ${round}-${at}`, WANTED, `2001:db8:${at}::/64`);
  };
  await flood(1);
  expect(server.asked).toHaveLength(50);
  await clock.advance(1_000);
  await flood(2);
  expect(server.asked).toHaveLength(70);
});

test('garbage of one address, or of a few persistent ones, excludes no other caller', async () => {
  const tokens = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`opaque-${at}`, { user: 'ann' }]));
  const server = apiServer(tokens, { ann: ['orders'] });
  const { access, clock } = setUp(server);
  for (let second = 0; second < 10; second += 1) {
    for (let at = 0; at < 600; at += 1)
      await access.decide(`Bearer garbage-${second}-${at}`, WANTED, `198.51.100.${at % 4}`);
    for (const at of [0, 1, 2, 3])
      expect(await access.decide(`Bearer opaque-${second * 4 + at}`, WANTED, '192.0.2.7')).toBe('allowed');
    await clock.advance(1_000);
  }
});

test('a flood of unknown tokens excludes neither a token that was accepted before nor a revoked one', async () => {
  const server = apiServer({ opaque: { user: 'ann' } }, { ann: ['orders'] });
  const { access, clock } = setUp(server);
  const flood = async (round: number) => {
    for (let at = 0; at < 300; at += 1) await access.decide(`Bearer garbage-${round}-${at}`, WANTED);
  };
  expect(await access.decide('Bearer opaque', WANTED)).toBe('allowed');
  await clock.advance(10_000);
  await flood(1);
  expect(await access.decide('Bearer unseen', WANTED)).toBe('unavailable');
  expect(await access.decide('Bearer opaque', WANTED)).toBe('allowed');
  server.state.tokens = {};
  await clock.advance(10_000);
  await flood(2);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('unauthorized');
  // From then on it is one of those that nobody knows.
  await clock.advance(2_000);
  await flood(3);
  expect(await access.decide('Bearer opaque', WANTED)).toBe('unavailable');
});

test('access reviews of one user have a bounded rate, whatever the token, and others do not wait', async () => {
  const users = { first: { user: 'ann' }, second: { user: 'ann' }, third: { user: 'bob' } };
  const server = apiServer(users, { ann: ['orders'], bob: ['orders'] });
  const { access, clock } = setUp(server);
  expect(await access.decide('Bearer first', WANTED)).toBe('allowed');
  for (let at = 1; at < 40; at += 1) {
    expect(await access.decide('Bearer first', { ...WANTED, name: `guess-${at}` })).toBe('forbidden');
  }
  expect(await access.decide('Bearer first', { ...WANTED, name: 'next' })).toBe('too-often');
  expect(await access.decide('Bearer second', WANTED)).toBe('too-often');
  expect(await access.decide('Bearer third', WANTED)).toBe('allowed');
  // What was decided just now is still known.
  expect(await access.decide('Bearer first', WANTED)).toBe('allowed');
  await clock.advance(1_000);
  const later: string[] = [];
  for (let at = 0; at < 30; at += 1) {
    later.push(await access.decide('Bearer second', { ...WANTED, name: `later-${at}` }));
  }
  expect(later.filter((decision) => decision === 'forbidden')).toHaveLength(20);
});

test('each token review differs from all previous ones', async () => {
  const server = apiServer({ [OURS]: { user: 'ann', audiences: ['windlass'] } }, { ann: ['orders'] });
  const { access, clock } = setUp(server);
  expect(await access.decide(`Bearer ${OURS}`, WANTED)).toBe('allowed');
  await clock.advance(10_000);
  expect(await access.decide(`Bearer ${OURS}`, WANTED)).toBe('allowed');
  const audiences = server.asked.flatMap(({ kind, spec }) =>
    kind === 'TokenReview' ? [spec.audiences] : [],
  );
  expect(audiences).toHaveLength(2);
  expect(audiences[0]).not.toEqual(audiences[1]);
});

test('a token with an unknown audience is reviewed as it is', async () => {
  const second = jwt({ aud: 'second-name' });
  const server = apiServer(
    {
      [CLUSTERS]: { user: 'bob', audiences: ['https://kubernetes.default.svc'] },
      [second]: { user: 'ann', audiences: ['second-name'] },
    },
    { ann: ['orders'], bob: ['orders'] },
  );
  const { access } = setUp(server);
  expect(await access.decide(`Bearer ${CLUSTERS}`, WANTED)).toBe('allowed');
  expect(await access.decide(`Bearer ${second}`, WANTED)).toBe('allowed');
  expect(await access.decide(`Bearer ${jwt({ aud: 'somebody-else' })}`, WANTED)).toBe('unauthorized');
  const audiences = server.asked.flatMap(({ kind, spec }) =>
    kind === 'TokenReview' ? [spec.audiences] : [],
  );
  const [first, both] = ['https://kubernetes.default.svc', 'second-name'];
  expect(audiences).toEqual([undefined, [first, NONCE], undefined, [first, both, NONCE], undefined]);
});

test('the key of a token does not reveal the token', () => {
  expect(tokenKey('secret-token')).not.toContain('secret');
  expect(tokenKey('a')).not.toBe(tokenKey('b'));
});
