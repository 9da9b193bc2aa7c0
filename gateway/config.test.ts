import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const LEAST = { POD_NAME: 'gateway-1', POD_NAMESPACE: 'windlass', REDIS_URL: 'redis://redis:6379' };

test('missing and empty variables have defaults', () => {
  expect(readConfig({ ...LEAST, PUBLIC_PORT: '', WATCH_NAMESPACES: undefined })).toMatchObject({
    PUBLIC_PORT: 8080,
    INTERNAL_PORT: 8081,
    METRICS_PORT: 9090,
    WATCH_NAMESPACES: [],
    LIMITS: { bodyBytes: 1_048_576, jsonDepth: 64, perAddress: { requestsPerSecond: 0 } },
    TRUSTED_PROXIES: [],
    AUDIT_ENABLED: true,
    ACCESS_LOG_ENABLED: false,
    ACCESS_LOG_SAMPLE: 1,
  });
});

test('the sample of the access log is a number from 0 to 1', () => {
  const read = (ACCESS_LOG_SAMPLE: string) => () => readConfig({ ...LEAST, ACCESS_LOG_SAMPLE });
  expect(read('0.01')().ACCESS_LOG_SAMPLE).toBe(0.01);
  for (const sample of ['1.5', '-1', 'all']) expect(read(sample)).toThrow(/ACCESS_LOG_SAMPLE/);
});

test('namespaces are comma-separated', () => {
  expect(readConfig({ ...LEAST, WATCH_NAMESPACES: 'shop, blog,' }).WATCH_NAMESPACES).toEqual([
    'shop',
    'blog',
  ]);
});

test('an invalid or unknown limit is named with its path', () => {
  const read = (LIMITS: string) => () => readConfig({ ...LEAST, LIMITS });
  expect(read('{"bodyBytes":2048,"perRoute":{"requestsPerSecond":5}}')().LIMITS).toMatchObject({
    bodyBytes: 2_048,
    perRoute: { requestsPerSecond: 5, burst: 0 },
    connections: 4_000,
  });
  expect(read('{"perRoute":{"burst":-1}}')).toThrow(/LIMITS\.perRoute\.burst/);
  expect(read('{"bodybytes":2048}')).toThrow(/LIMITS/);
  expect(read('4')).toThrow(/LIMITS/);
  expect(read('{')).toThrow(/LIMITS/);
});

test('proxies are addresses and networks', () => {
  const read = (TRUSTED_PROXIES: string) => () => readConfig({ ...LEAST, TRUSTED_PROXIES });
  expect(read('10.0.0.0/8, fd00::/8')().TRUSTED_PROXIES).toEqual(['10.0.0.0/8', 'fd00::/8']);
  expect(read('ingress')).toThrow(/TRUSTED_PROXIES/);
});

test('a sign-in provider needs a client ID other than the audience, and the scope openid', () => {
  const provider = { CONSOLE_OIDC_ISSUER: 'https://issuer.example.com', CONSOLE_OIDC_CLIENT_ID: 'console' };
  const read = (over: Record<string, string | undefined>) => () =>
    readConfig({ ...LEAST, ...provider, ...over });
  const { CONSOLE_ENABLED, CONSOLE_OIDC_SCOPES } = read({
    CONSOLE_ENABLED: 'false',
    CONSOLE_OIDC_SCOPES: ' openid  groups ',
  })();
  expect([CONSOLE_ENABLED, CONSOLE_OIDC_SCOPES]).toEqual([false, ['openid', 'groups']]);
  expect(read({})().CONSOLE_OIDC_SCOPES).toEqual(['openid', 'email', 'profile', 'offline_access']);
  for (const over of [
    { CONSOLE_OIDC_ISSUER: '' },
    { CONSOLE_OIDC_CLIENT_ID: '' },
    { CONSOLE_OIDC_CLIENT_ID: 'windlass' },
    { CONSOLE_OIDC_SCOPES: 'email' },
    { CONSOLE_OIDC_ISSUER: 'issuer' },
    { CONSOLE_ENABLED: 'maybe' },
  ])
    expect(read(over)).toThrow(new RegExp(`CONSOLE_(${over.CONSOLE_ENABLED ? 'ENABLED' : 'OIDC_\\w+'}):`));
});

test('every invalid variable is named, without its value', () => {
  const env = {
    POD_NAME: 'gateway-1',
    REDIS_URL: 'http://s3cret',
    PUBLIC_PORT: '99999',
    REDIS_PASSWORD: 's3cret',
  };
  const read = () => readConfig(env);
  expect(read).toThrow(/POD_NAMESPACE[^]*REDIS_URL[^]*PUBLIC_PORT/);
  expect(read).not.toThrow(/s3cret/);
});

test('the console URL is an origin, and the idle timeout a duration from a minute to a week', () => {
  const read = (over: Record<string, string>) => () => readConfig({ ...LEAST, ...over });
  const { CONSOLE_URL, CONSOLE_IDLE_TIMEOUT } = read({
    CONSOLE_URL: 'https://Windlass.example.com:443/',
    CONSOLE_IDLE_TIMEOUT: '30m',
  })();
  expect([CONSOLE_URL, CONSOLE_IDLE_TIMEOUT]).toEqual(['https://windlass.example.com', 1_800_000]);
  expect([read({})().CONSOLE_URL, read({})().CONSOLE_IDLE_TIMEOUT]).toEqual([undefined, 3_600_000]);
  for (const odd of ['windlass.example.com', 'https://a/console', 'https://a?b', 'https://a@b', 'ftp://a'])
    expect(read({ CONSOLE_URL: odd })).toThrow(/CONSOLE_URL/);
  for (const odd of ['30', 'soon', '59s', '8d'])
    expect(read({ CONSOLE_IDLE_TIMEOUT: odd })).toThrow(/CONSOLE_IDLE_TIMEOUT/);
});
