import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const pod = {
  PROJECT_UID: 'a-1',
  POD_NAMESPACE: 'shop',
  POD_NAME: 'runner-0',
  REDIS_URL: 'redis://store:6379',
};

test('what a pod is given is enough', () => {
  expect(readConfig(pod)).toMatchObject({
    CONCURRENCY: 50,
    GRACE_SECONDS: 60,
    METRICS_PORT: 9090,
    LOG_LEVEL: 'info',
  });
});

test('an empty variable is one that is not set', () => {
  expect(readConfig({ ...pod, CONCURRENCY: '', REDIS_PASSWORD: '' })).toMatchObject({ CONCURRENCY: 50 });
});

test('every variable that makes no sense is named, and no value is shown', () => {
  const read = () =>
    readConfig({ ...pod, REDIS_URL: 'http://user:secret@store', CONCURRENCY: 'many', POD_NAME: undefined });
  expect(read).toThrow(/REDIS_URL[\s\S]*CONCURRENCY|CONCURRENCY[\s\S]*REDIS_URL/);
  expect(read).toThrow(/POD_NAME/);
  expect(read).not.toThrow(/secret/);
});
