import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Use } from '../../runs/storeUse.ts';
import { createLabelBound } from '../shared/metricLabels.ts';
import { createStoreMetrics } from './metrics.ts';

const use = (bytes: number): Use => ({
  bytes,
  quota: 100,
  claimQuota: 200,
  keys: 5,
  keyQuota: 50,
  summaries: 6,
  replies: 7,
  isBusy: false,
  recorded: 0,
  unfinished: 10_000,
  beyond: 3,
  isShort: false,
  isPolling: false,
});

async function values(registry: Registry, name: string): Promise<Record<string, number>> {
  const found = (await registry.getSingleMetric(name)?.get())?.values ?? [];
  return Object.fromEntries(
    found.map(({ labels, value }) => [`${labels['namespace']} ${labels['kind'] ?? labels['limit']}`, value]),
  );
}

test('metrics name the use and limits of projects, beyond the bound those of all others together', async () => {
  const registry = new Registry();
  const metrics = createStoreMetrics([registry], createLabelBound(1));
  const projects = [
    { namespace: 'shop', use: use(10) },
    { namespace: 'bank', use: use(20) },
    { namespace: 'club', use: use(30) },
  ];
  metrics.seen({ used: 1, max: 2 }, projects, ['shop', 'bank', 'club']);
  expect(await values(registry, 'windlass_project_run_store_bytes')).toEqual({
    'shop runs': 10,
    'shop keys': 5,
    'shop summaries': 6,
    'shop replies': 7,
    '_other runs': 50,
    '_other keys': 10,
    '_other summaries': 12,
    '_other replies': 14,
  });
  expect(await values(registry, 'windlass_project_run_store_limit_bytes')).toMatchObject({
    'shop quota': 100,
    'shop claims': 200,
    'shop keys': 50,
    '_other quota': 200,
  });
});

test('what was read again replaces what was shown, also among all others together', async () => {
  const registry = new Registry();
  const metrics = createStoreMetrics([registry], createLabelBound(1));
  const [shop, bank, club] = [use(10), use(20), use(30)];
  const names = ['shop', 'bank', 'club'];
  const seen = (...uses: Use[]) =>
    metrics.seen(
      { used: 1, max: 2 },
      uses.map((each, index) => ({ namespace: names[index] ?? '', use: each })),
      names,
    );
  seen(shop, bank, club);
  seen(shop, bank, use(31));
  const shown = await values(registry, 'windlass_project_run_store_bytes');
  expect(shown).toMatchObject({ 'shop runs': 10, '_other runs': 51 });
  seen(use(11), bank);
  const later = await values(registry, 'windlass_project_run_store_bytes');
  expect(later).toMatchObject({ 'shop runs': 11, '_other runs': 20 });
});

test('a deleted project has no series', async () => {
  const registry = new Registry();
  const metrics = createStoreMetrics([registry], createLabelBound(1));
  metrics.seen({ used: 1, max: 2 }, [{ namespace: 'shop', use: use(10) }], ['shop']);
  metrics.seen({ used: 1, max: 2 }, [], []);
  expect(await values(registry, 'windlass_project_run_store_bytes')).toEqual({});
});

test('a project that is being restored is left out, and has its name again afterwards', async () => {
  const registry = new Registry();
  const metrics = createStoreMetrics([registry], createLabelBound(1));
  const [shop, bank] = [
    { namespace: 'shop', use: use(10) },
    { namespace: 'bank', use: use(20) },
  ];
  const shown = async (...projects: (typeof shop)[]) => {
    metrics.seen({ used: 1, max: 2 }, projects, ['bank', 'shop']);
    const bytes = await values(registry, 'windlass_project_run_store_bytes');
    return Object.keys(bytes).filter((name) => name.endsWith('runs'));
  };
  metrics.seen({ used: 1, max: 2 }, [shop], ['shop']);
  expect(await shown(bank)).toEqual(['_other runs']);
  expect(await shown(bank, shop)).toEqual(['_other runs', 'shop runs']);
});
