import crypto, { createHmac } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, test, vi } from 'vitest';
import type { RouteSpec, Verification } from '../../api/route.ts';
import type { KeyScheme } from '../../api/webhookAuth.ts';
import { authPolicyOf, checkCaller, type CallerRefusal } from './authPolicy.ts';
import { SCHEMES } from './register.ts';
import type { Verifier } from './verifier.ts';

type Headers = [name: string, value: string][];

const NOW = 1_614_265_330;
const REFS = [{ name: 'hooks', key: 'secret' }];
const settings = (over: Partial<Verification> = {}): Verification => ({
  secretRefs: REFS,
  toleranceSeconds: 300,
  ...over,
});
const bytes = (text: string) => Buffer.from(text);

/** What comes of a request; `true` if the caller is verified. */
function judge(verify: Verifier, headers: Headers, body: string | Buffer, now = NOW): boolean | string {
  const verdict = verify({ rawHeaders: headers.flat() }, now);
  return typeof verdict === 'string' ? verdict : verdict(Buffer.from(body));
}

type Case = {
  scheme: KeyScheme;
  verification: Verification;
  keys: Buffer[];
  headers: Headers;
  body: string;
  /** The header that proves who calls. */
  proof: string;
  /** When it was signed. */
  now?: number;
};

const GITHUB: Case = {
  scheme: 'github',
  verification: settings(),
  // docs.github.com, "Validating webhook deliveries", "Testing the webhook payload validation".
  keys: [bytes("It's a Secret to Everybody")],
  headers: [
    ['X-Hub-Signature-256', 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'],
  ],
  body: 'Hello, World!',
  proof: 'X-Hub-Signature-256',
};

const STANDARD: Case = {
  scheme: 'standardWebhooks',
  verification: settings(),
  // The vector that the libraries of standard-webhooks/standard-webhooks test with.
  keys: [Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')],
  headers: [
    ['webhook-id', 'msg_p5jXN8AQM9LWM0D4loKWxJek'],
    ['webhook-timestamp', String(NOW)],
    ['webhook-signature', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
  ],
  body: '{"test": 2432232314}',
  proof: 'webhook-signature',
};

const timedBody = '{"type":"charge.succeeded"}';
const TIMED: Case = {
  scheme: 'hmac',
  verification: settings({
    hmac: {
      header: 'x-signature',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: 'v1=',
      timestampHeader: 'x-time',
    },
  }),
  keys: [bytes('whsec_test_secret')],
  headers: [
    ['X-Time', String(NOW)],
    [
      'X-Signature',
      `v1=${createHmac('sha256', 'whsec_test_secret').update(`${NOW}.${timedBody}`).digest('hex')}`,
    ],
  ],
  body: timedBody,
  proof: 'X-Signature',
};

/** RFC 4231, test case 2, and RFC 2202, test case 2. */
const RFC_BODY = 'what do ya want for nothing?';
const plain = (
  algorithm: 'sha256' | 'sha512' | 'sha1',
  encoding: 'hex' | 'base64',
  signature: string,
): Case => ({
  scheme: 'hmac',
  verification: settings({ hmac: { header: 'x-signature', algorithm, encoding, prefix: '' } }),
  keys: [bytes('Jefe')],
  headers: [['X-Signature', signature]],
  body: RFC_BODY,
  proof: 'X-Signature',
});
const SHA256 = plain('sha256', 'hex', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
const SHA512 = plain(
  'sha512',
  'hex',
  '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
);
const SHA1 = plain(
  'sha1',
  'base64',
  Buffer.from('effcdf6ae5eb2fa2d27416d5f184df9c259a7c79', 'hex').toString('base64'),
);

const BEARER: Case = {
  scheme: 'bearer',
  verification: settings(),
  keys: [bytes('a-fixed-token')],
  headers: [['Authorization', 'Bearer a-fixed-token']],
  body: '{}',
  proof: 'Authorization',
};

const BASIC: Case = {
  scheme: 'basic',
  verification: settings({ username: 'Aladdin' }),
  // RFC 7617, section 2.
  keys: [bytes('open sesame')],
  headers: [['Authorization', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==']],
  body: '{}',
  proof: 'Authorization',
};

const TELEGRAM: Case = {
  scheme: 'telegram',
  verification: settings(),
  keys: [bytes('kc1nYpC7vVZ_-8Zw4zqUu4r1wE9gq2b5n5Lr0fW1xYk')],
  headers: [['X-Telegram-Bot-Api-Secret-Token', 'kc1nYpC7vVZ_-8Zw4zqUu4r1wE9gq2b5n5Lr0fW1xYk']],
  body: '{"update_id":1}',
  proof: 'X-Telegram-Bot-Api-Secret-Token',
};

const SLACK: Case = {
  scheme: 'slack',
  verification: settings(),
  // docs.slack.dev, "Verifying requests from Slack": secret, time, body and signature of its example.
  keys: [bytes('8f742231b10e8888abcd99yyyzzz85a5')],
  headers: [
    ['X-Slack-Request-Timestamp', '1531420618'],
    ['X-Slack-Signature', 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'],
  ],
  body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  proof: 'X-Slack-Signature',
  now: 1_531_420_618,
};

const VECTORS: [what: string, vector: Case][] = [
  ["GitHub's vector", GITHUB],
  ['the vector of Standard Webhooks', STANDARD],
  ['an HMAC with a time of signing', TIMED],
  ['HMAC-SHA256 of RFC 4231', SHA256],
  ['HMAC-SHA512 of RFC 4231', SHA512],
  ['HMAC-SHA1 of RFC 2202 in base64', SHA1],
  ['a bearer token', BEARER],
  ['the user and password of RFC 7617', BASIC],
  ["Telegram's secret", TELEGRAM],
  ["Slack's vector", SLACK],
];
const BY_HEADER: KeyScheme[] = ['bearer', 'basic', 'telegram'];
const SIGNED = VECTORS.filter(([, { scheme }]) => !BY_HEADER.includes(scheme));

const verifierOf = ({ scheme, verification, keys }: Case): Verifier =>
  SCHEMES[scheme].create(verification, keys);
const without = (headers: Headers, name: string): Headers => headers.filter(([known]) => known !== name);
const withProof = ({ headers, proof }: Case, change: (value: string) => string): Headers =>
  headers.map(([name, value]) => [name, name === proof ? change(value) : value]);
const flip = (text: string, at: number): string => {
  const changed = Buffer.from(text, 'latin1');
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed.toString('latin1');
};

test.each(VECTORS)('%s is verified', (_what, vector) => {
  expect(judge(verifierOf(vector), vector.headers, vector.body, vector.now)).toBe(true);
});

test.each(VECTORS)('%s refuses every flipped bit of the proof', (_what, vector) => {
  const verify = verifierOf(vector);
  const proof = vector.headers.find(([name]) => name === vector.proof)?.[1] ?? '';
  // The name of the scheme in an Authorization header is compared without regard to case, nothing else is.
  const admitted = Array.from(proof, (_character, at) =>
    withProof(vector, (value) => flip(value, at)),
  ).filter((headers) => judge(verify, headers, vector.body, vector.now) === true);
  expect(admitted).toEqual([]);
});

test.each(SIGNED)('%s refuses every flipped bit of the body, and added or missing bytes', (_what, vector) => {
  const verify = verifierOf(vector);
  const { headers, body, now } = vector;
  const others = [
    ...Array.from(body, (_character, at) => flip(body, at)),
    '',
    `${body} `,
    ` ${body}`,
    body.slice(1),
  ];
  expect(others.filter((other) => judge(verify, headers, other, now) !== false)).toEqual([]);
});

test.each(VECTORS)('%s requires each header exactly once', (_what, vector) => {
  const verify = verifierOf(vector);
  for (const [name, value] of vector.headers) {
    expect(judge(verify, without(vector.headers, name), vector.body)).toBe('missing');
    expect(judge(verify, [...vector.headers, [name.toUpperCase(), value]], vector.body)).toBe('malformed');
    const empty = vector.headers.map(([known, kept]): [string, string] => [
      known,
      known === name ? '' : kept,
    ]);
    expect(judge(verify, empty, vector.body)).toBe('malformed');
  }
});

test.each(VECTORS)('%s is verified by each of the secrets, and by no other', (_what, vector) => {
  const others = ['one', 'two', 'three', 'four'].map(bytes);
  const verify = (keys: Buffer[]) =>
    judge(verifierOf({ ...vector, keys }), vector.headers, vector.body, vector.now);
  expect(verify([...others, ...vector.keys])).toBe(true);
  expect(verify([...vector.keys, ...others])).toBe(true);
  expect(verify(others)).not.toBe(true);
});

/** How often the work has bytes compared in constant time. */
function safeComparisons(work: () => void): number {
  const spy = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  work();
  const count = spy.mock.calls.length;
  spy.mockRestore();
  syncBuiltinESMExports();
  return count;
}

test.each(VECTORS)('%s is compared in constant time with each secret', (_what, vector) => {
  const others = ['one', 'two'].map(bytes);
  for (const keys of [
    [...vector.keys, ...others],
    [...others, ...vector.keys],
    others.concat(bytes('three')),
  ]) {
    const verify = verifierOf({ ...vector, keys });
    expect(safeComparisons(() => judge(verify, vector.headers, vector.body, vector.now))).toBe(3);
  }
});

test.each(VECTORS)('the proof of %s is refused by every other scheme', (_what, vector) => {
  const hmac = { header: 'x-other', algorithm: 'sha256', encoding: 'hex', prefix: '' } as const;
  const verification = settings({ hmac, username: 'Aladdin' });
  const others = (Object.keys(SCHEMES) as KeyScheme[])
    .filter((scheme) => scheme !== vector.scheme)
    .map((scheme) => SCHEMES[scheme].create(verification, vector.keys));
  const sameHeaders = others.map((verify) => judge(verify, vector.headers, vector.body, vector.now));
  expect(sameHeaders.every((said) => said === 'missing' || said === 'malformed')).toBe(true);
});

test.each([
  [0, true],
  [300, true],
  [-300, true],
  [301, 'stale'],
  [-301, 'stale'],
  [86_400 * 365, 'stale'],
])('a request signed %i s ago is judged by the tolerance', (ago, expected) => {
  expect(judge(verifierOf(STANDARD), STANDARD.headers, STANDARD.body, NOW + ago)).toBe(expected);
  expect(judge(verifierOf(TIMED), TIMED.headers, TIMED.body, NOW + ago)).toBe(expected);
  expect(judge(verifierOf(SLACK), SLACK.headers, SLACK.body, (SLACK.now ?? 0) + ago)).toBe(expected);
});

test('the workflow sets the tolerance', () => {
  const strict = { ...TIMED, verification: { ...TIMED.verification, toleranceSeconds: 1 } };
  expect(judge(verifierOf(strict), TIMED.headers, TIMED.body, NOW + 1)).toBe(true);
  expect(judge(verifierOf(strict), TIMED.headers, TIMED.body, NOW + 2)).toBe('stale');
});

test.each(['now', '1e9', '-1', '0x6037', ' 1614265330', '1614265330.0', '+1614265330', '9'.repeat(13)])(
  '"%s" is an invalid time of signing',
  (time) => {
    const timed: Headers = [['X-Time', time], ...without(TIMED.headers, 'X-Time')];
    expect(judge(verifierOf(TIMED), timed, TIMED.body)).toBe('malformed');
  },
);

test('a fresh time that was not signed is refused', () => {
  const timed: Headers = [['X-Time', String(NOW + 1)], ...without(TIMED.headers, 'X-Time')];
  expect(judge(verifierOf(TIMED), timed, TIMED.body)).toBe(false);
});

test('the ID of Standard Webhooks is signed, and cannot extend into the time', () => {
  const withId = (id: string): Headers => [['webhook-id', id], ...without(STANDARD.headers, 'webhook-id')];
  expect(judge(verifierOf(STANDARD), withId('msg_other'), STANDARD.body)).toBe(false);
  expect(judge(verifierOf(STANDARD), withId('msg.1614265330'), STANDARD.body)).toBe('malformed');
});

test('one of several signatures of Standard Webhooks must match, with version 1', () => {
  const verify = verifierOf(STANDARD);
  const right = STANDARD.headers[2]?.[1] ?? '';
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`;
  const judged = (signatures: string) =>
    judge(
      verify,
      withProof(STANDARD, () => signatures),
      STANDARD.body,
    );
  expect(judged(`${wrong} ${right}`)).toBe(true);
  expect(judged(`v1a,${'A'.repeat(86)}== ${right}`)).toBe(true);
  expect(judged(`${wrong} ${wrong}`)).toBe(false);
  expect(judged(right.replace('v1,', 'v2,'))).toBe('malformed');
  expect(judged(right.replace('v1,', ''))).toBe('malformed');
  expect(judged(`${right},`)).toBe('malformed');
});

test.each([
  ['another user', `Basic ${btoa('Jafar:open sesame')}`, 'mismatch'],
  ['another password', `Basic ${btoa('Aladdin:open')}`, 'mismatch'],
  ['no password', `Basic ${btoa('Aladdin:')}`, 'mismatch'],
  ['no colon', `Basic ${btoa('Aladdinopen sesame')}`, 'mismatch'],
  ['no base64', 'Basic Aladdin:open sesame', 'malformed'],
  ['a bearer token', 'Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'malformed'],
  ['the name of the scheme alone', 'Basic', 'malformed'],
  ['the scheme in another case', 'basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', true],
])('basic: %s', (_what, value, expected) => {
  expect(judge(verifierOf(BASIC), [['Authorization', value]], '{}')).toBe(expected);
});

test.each([
  ['a part of the token', 'Bearer a-fixed', 'mismatch'],
  ['more than the token', 'Bearer a-fixed-token2', 'mismatch'],
  ['nothing', 'Bearer ', 'mismatch'],
  ['the token alone', 'a-fixed-token', 'malformed'],
  ['another scheme', 'Token a-fixed-token', 'malformed'],
])('bearer: %s is refused', (_what, value, expected) => {
  expect(judge(verifierOf(BEARER), [['Authorization', value]], '{}')).toBe(expected);
});

type Webhook = NonNullable<RouteSpec['webhook']>;
const webhook = (over: Partial<Webhook>): Webhook => ({
  path: 'new',
  reply: false,
  replyTimeoutSeconds: 30,
  ...over,
});
const stopped = (over: Partial<Webhook>, keys?: Buffer[]): CallerRefusal | undefined =>
  checkCaller(authPolicyOf({ webhook: webhook(over) }, keys), { rawHeaders: BEARER.headers.flat() });

test.each([
  ['github', 'x-github-delivery'],
  ['standardWebhooks', 'webhook-id'],
  ['hmac', undefined],
  ['bearer', undefined],
  ['basic', undefined],
] as const)('the header with the dedupe key of %s is %s', (access, name) => {
  const auth = authPolicyOf({ webhook: webhook({ access, verify: settings({ material: '1' }) }) }, [
    bytes('a key'),
  ]);
  expect(auth.kind === 'verified' && [auth.deliveryHeader]).toEqual([name]);
});

test('without auth anybody may call', () => {
  expect(stopped({})).toBeUndefined();
  expect(stopped({ access: 'Public' })).toBeUndefined();
  expect(stopped({ access: 'Exposed' })).toBeUndefined();
});

test.each([
  ['no keys', { access: 'bearer', verify: settings({ material: '1' }) }, undefined],
  ['an empty list of keys', { access: 'bearer', verify: settings({ material: '1' }) }, []],
  [
    'an empty key',
    { access: 'bearer', verify: settings({ material: '1' }) },
    [bytes('a-fixed-token'), Buffer.alloc(0)],
  ],
  ['no settings', { access: 'bearer' }, [bytes('a-fixed-token')]],
  ['a route that names no keys', { access: 'bearer', verify: settings() }, [bytes('a-fixed-token')]],
  ['settings and no scheme', { verify: settings({ material: '1' }) }, [bytes('a-fixed-token')]],
] as const)('with %s every call is refused', (_what, over, keys) => {
  expect(stopped(over as Partial<Webhook>, keys as Buffer[] | undefined)).toBe('unavailable');
});

test('hmac without settings, and basic without a user name, refuse every call', () => {
  expect(judge(SCHEMES.hmac.create(settings(), SHA256.keys), SHA256.headers, RFC_BODY)).toBe('malformed');
  expect(judge(SCHEMES.basic.create(settings(), BASIC.keys), BASIC.headers, '{}')).toBe('malformed');
});
