import { expect, test } from 'vitest';
import { isAddress, parseRunStoreURL, urlOf } from './runStoreURL.ts';

const sentinels = [
  { host: 'a.example', port: 26379 },
  { host: 'b.example', port: 26380 },
];

test.each([
  ['redis://redis:6379', { topology: 'single', isTLS: false }],
  ['rediss://redis.example.com', { topology: 'single', isTLS: true }],
  [
    'redis+sentinel://a.example:26379,b.example:26380/windlass?replicas=2',
    { topology: 'sentinel', isTLS: false, sentinels, primary: 'windlass', replicas: 2 },
  ],
  [
    'rediss+sentinel://[fd00::1]:26379/my.primary-1?replicas=0',
    {
      topology: 'sentinel',
      isTLS: true,
      sentinels: [{ host: 'fd00::1', port: 26379 }],
      primary: 'my.primary-1',
      replicas: 0,
    },
  ],
  [
    'rediss+cluster://a.example:26379,b.example:26380?replicas=1',
    { topology: 'cluster', isTLS: true, members: sentinels, replicas: 1 },
  ],
])('parses %s', (url, parsed) => {
  expect(parseRunStoreURL(url)).toEqual(parsed);
});

test.each([
  [{ host: 'redis', port: 6379 }, false, 'redis://redis:6379'],
  [{ host: 'fd00::1', port: 6380 }, true, 'rediss://[fd00::1]:6380'],
])('the URL of one server', (address, isTLS, url) => {
  expect(urlOf(address, isTLS)).toBe(url);
  expect(parseRunStoreURL(url)).toEqual({ topology: 'single', isTLS });
});

test.each([
  ['redis_1.example', 6379, true],
  ['fd00::1', 65_535, true],
  ['', 6379, false],
  ['user@redis', 6379, false],
  ['redis?tls=x', 6379, false],
  ['redis', 0, false],
  ['redis', 65_536, false],
  ['redis', Number.NaN, false],
])('whether a server can be at %s, port %d: %s', (host, port, is) => {
  expect(isAddress({ host, port })).toBe(is);
});

test.each([
  ['http://redis:6379', 'must begin with redis://'],
  ['redis://', 'must name a host'],
  ['redis://user:s3cret@redis', 'must not contain a user'],
  ['redis://redis:6379?password=s3cret', 'must not contain a query'],
  ['rediss://redis:6379/?tls=RedisCloudFixed', 'must not contain a query'],
  ['redis+sentinel://:s3cret@a:1/windlass?replicas=1', 'must not contain a user'],
  ['redis+sentinel://a:26379?replicas=1', 'must end with /NAME'],
  ['redis+sentinel://a:26379/a b?replicas=1', 'must end with /NAME'],
  ['redis+sentinel:///windlass?replicas=1', 'must name each sentinel as host:port'],
  ['redis+sentinel://a:26379,b/windlass?replicas=1', 'must name each sentinel as host:port'],
  ['redis+sentinel://a:70000/windlass?replicas=1', 'must name each sentinel as host:port'],
  ['redis+sentinel://a:1,a:1/windlass?replicas=1', 'must name each sentinel once'],
  ['redis+sentinel://a:26379/windlass', 'must end with ?replicas=N'],
  ['redis+sentinel://a:26379/windlass?replicas=many', 'must end with ?replicas=N'],
  ['redis+cluster://a:6379', 'must end with ?replicas=N'],
  ['redis+cluster://?replicas=1', 'must name each server as host:port'],
  ['redis+cluster://a:6379,a:6379?replicas=1', 'must name each server once'],
  ['redis+cluster://a:6379/orders?replicas=1', 'must name each server as host:port'],
  ['redis+cluster://:s3cret@a:6379?replicas=1', 'must not contain a user'],
])('refuses %s, and tells why without a part of it', (url, why) => {
  expect(() => parseRunStoreURL(url)).toThrow(why);
  expect(() => parseRunStoreURL(url)).not.toThrow(/s3cret/);
});
