/**
 * The scripts of the run store against the reference of `test/model`: the same histories each time. `npm run
 * test:model` plays others.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkHistories, openServer } from '../../model/check.ts';
import { startCluster } from '../../support/runStore/cluster.ts';
import { startRedis } from '../../support/runStore/redis.ts';

/**
 * Six seeds of fifty histories. Ten seconds where nothing else is done; a finding takes longer, since it is
 * shortened.
 */
const HISTORIES = { seed: 1, count: 300, size: 50, width: 6 };
/** The scripts are the same: what may differ is where they execute. */
const FEWER = { seed: 101, count: 60, size: 20, width: 3 };
const LONGEST_MS = 300_000;

const QUICK = { config: ['appendonly no'] };

let redis: { stop: () => Promise<void> };
let cluster: { stop: () => Promise<void> };
let server: Awaited<ReturnType<typeof openServer>>;
let members: Awaited<ReturnType<typeof openServer>>;
beforeAll(async () => {
  const single = await startRedis(QUICK);
  redis = single;
  server = await openServer(single.url);
  const primaries = await startCluster({ ...QUICK, replicas: 0 });
  cluster = primaries;
  members = await openServer(primaries.url(0));
});
afterAll(async () => {
  await Promise.all([server?.close(), members?.close()]);
  await Promise.all([redis?.stop(), cluster?.stop()]);
});

test(
  'a Redis Cluster does what the reference says, whichever primary has the project',
  async () => {
    expect(await checkHistories(members, FEWER)).toEqual({ played: 60 });
  },
  LONGEST_MS,
);

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
