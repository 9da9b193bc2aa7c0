/** What an upgrade does to what runs: callers notice nothing of it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { offendersOf } from '../faults/report.ts';
import { startHarness, type Harness } from '../faults/harness.ts';
import { podsOf, runUpgrade } from '../faults/upgrading.ts';
import { cluster } from './environment.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness(cluster);
});
afterAll(() => harness.remove());

const tell = (line: string) => console.log(`upgrade: ${line}`);

test('while chart and image are upgraded, and thus all programs restarted, each of 1,500 requests at up to 100/s gets its 2xx, each run ends once, and Redis stays', async () => {
  const before = { redis: await podsOf(harness, 'redis'), gateway: await podsOf(harness, 'gateway') };
  const { violations, evidence } = await runUpgrade({ harness, requests: 1_500, rate: 100, tell });
  expect(violations.length === 0 ? '' : JSON.stringify(offendersOf(violations, evidence), undefined, 2)).toBe(
    '',
  );
  expect(evidence.events.length).toBeGreaterThanOrEqual(1_500);
  expect(await podsOf(harness, 'redis')).toEqual(before.redis);
  const uids = before.gateway.map(([uid]) => uid);
  expect((await podsOf(harness, 'gateway')).filter(([uid]) => uids.includes(uid))).toEqual([]);
}, 300_000);
