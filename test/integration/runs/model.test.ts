/**
 * The scripts of the run store against the reference of `test/model`: the same histories each time. `npm run
 * test:model` plays others.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkHistories, openServer } from '../../model/check.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';

/**
 * Six seeds of fifty histories. Ten seconds where nothing else is done; a finding takes longer, since it is
 * shortened.
 */
const HISTORIES = { seed: 1, count: 300, size: 50, width: 6 };
const LONGEST_MS = 300_000;

let redis: TestRedis;
let server: Awaited<ReturnType<typeof openServer>>;
beforeAll(async () => {
  redis = await startRedis({ config: ['appendonly no'] });
  server = await openServer(redis.url);
});
afterAll(async () => {
  await server?.close();
  await redis?.stop();
});

test(
  'whatever is lost, delayed or repeated, the scripts do what the reference says and every run ends once',
  async () => {
    expect(await checkHistories(server, HISTORIES)).toEqual({ played: 300 });
  },
  LONGEST_MS,
);

test('the histories reach every script, and most of its answers', () => {
  const seldom = [
    'submit rejected',
    'submit suspended',
    'submit conflict',
    'takeOver poison',
    'restore restored',
    'submit accepted resumed',
    'submit accepted resumed in doubt',
  ];
  const others = [
    'signal stored',
    'signal over',
    'advance fenced',
    'recorded behind',
    'recorded kept',
    'seedKeys done',
    'handBack number',
  ];
  expect([...seldom, ...others].filter((said) => !server.tally.has(said))).toEqual([]);
});
