import { expect, test } from 'vitest';
import { API_VERSION } from '../../api/group.ts';
import type { WebhookRoute, Workflow } from '../../api/kinds.ts';
import { limitsOf } from '../store/limits.ts';
import { servedWorkflows } from './source.ts';

const metadata = { name: 'orders', namespace: 'shop', uid: 'uid-orders' };
const workflow: Workflow = {
  apiVersion: API_VERSION,
  kind: 'Workflow',
  metadata,
  spec: { active: true, suspend: true, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }] },
};
const spec = { workflow: 'orders', workflowUID: metadata.uid, projectUID: 'uid-shop', revision: 'orders-1' };
const route = { metadata, spec: { ...spec, trigger: 'webhook', active: true } } as WebhookRoute;

const holding = <T>(object: T) => ({ list: () => [object], get: () => object });
const caches = {
  namespaces: holding({ metadata: { name: 'shop', uid: 'uid-shop' } }),
  routes: holding(route),
  workflows: holding(workflow),
  credentials: holding(undefined),
  settings: holding(undefined),
  variables: holding({ data: { url: 'https://example.com' } }),
} as unknown as Parameters<typeof servedWorkflows>[1];

test('seeding stores the limits and the suspension of a workflow, also if the revision of its route is missing', async () => {
  const client = { find: () => Promise.resolve(undefined) };
  expect(await servedWorkflows(client, caches, 'uid-shop')).toEqual([
    { limits: limitsOf(workflow), variables: { url: 'https://example.com' } },
  ]);
});

test('seeded limits have the defaults of the project', async () => {
  const client = { find: () => Promise.resolve(undefined) };
  const settings = holding({ metadata: {}, spec: { workflowDefaults: { timeout: '5m' } } });
  const [served] = await servedWorkflows(
    client,
    { ...caches, ...({ settings } as unknown as Pick<typeof caches, 'settings'>) },
    'uid-shop',
  );
  expect(served?.limits?.deadlineMs).toBe(300_000);
});
