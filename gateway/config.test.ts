import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const LEAST = { POD_NAME: 'gateway-1', POD_NAMESPACE: 'windlass', REDIS_URL: 'redis://redis:6379' };

test('what is left out or empty has a default', () => {
  expect(readConfig({ ...LEAST, PUBLIC_PORT: '', WATCH_NAMESPACES: undefined })).toMatchObject({
    PUBLIC_PORT: 8080,
    INTERNAL_PORT: 8081,
    METRICS_PORT: 9090,
    WATCH_NAMESPACES: [],
    BODY_LIMIT: 1_048_576,
  });
});

test('namespaces are a list with commas', () => {
  expect(readConfig({ ...LEAST, WATCH_NAMESPACES: 'shop, blog,' }).WATCH_NAMESPACES).toEqual([
    'shop',
    'blog',
  ]);
});

test('everything that makes no sense is named, and no value is shown', () => {
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
