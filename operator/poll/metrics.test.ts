import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createLabelBound } from '../shared/metricLabels.ts';
import { createPollMetrics } from './metrics.ts';

const counts = { events: 0, lost: 0, polls: {} };
const reading = (lateMs: number) => ({ kind: 'mail', status: 'True' as const, lateMs, counts });

async function lags(registry: Registry): Promise<[string, number][]> {
  const { values } = (await registry.getSingleMetric('windlass_workflow_poll_lag_seconds')?.get()) ?? {
    values: [],
  };
  return values.map(({ labels, value }) => [`${labels['namespace']}/${labels['workflow']}`, value]);
}

test('the lag of polls is shown by workflow, beyond the bound the longest one', async () => {
  const registry = new Registry();
  const metrics = createPollMetrics([registry], { now: () => 0 }, createLabelBound(1));
  metrics.seen('shop/orders', reading(61_500));
  metrics.seen('shop/mails', reading(9_000));
  metrics.seen('shop/files', reading(7_000));
  expect(await lags(registry)).toEqual([
    ['shop/orders', 61],
    ['_other/_other', 9],
  ]);
  metrics.gone('shop/orders');
  expect(await lags(registry)).toEqual([['_other/_other', 9]]);
});

test('the lag of a trigger without readings grows', async () => {
  const registry = new Registry();
  let now = 0;
  const metrics = createPollMetrics([registry], { now: () => now }, createLabelBound(1));
  metrics.seen('shop/orders', reading(1_000));
  now = 200_000;
  expect(await lags(registry)).toEqual([['shop/orders', 201]]);
});
