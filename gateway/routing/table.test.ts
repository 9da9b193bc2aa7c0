import { expect, test } from 'vitest';
import type { KubeObject } from '../../kube/resource.ts';
import { createRouteTable } from './table.ts';

type Over = {
  uid?: string;
  generation?: number;
  active?: boolean;
  path?: string;
  namespace?: string;
  name?: string;
};

function route({
  uid = 'u1',
  generation = 1,
  active = true,
  path = 'new',
  namespace = 'shop',
  name = 'orders',
}: Over): KubeObject {
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WebhookRoute',
    metadata: { name, namespace, uid, generation },
    spec: {
      workflow: name,
      workflowUID: `workflow-of-${uid}`,
      projectUID: `project-of-${namespace}`,
      revision: 'orders-1',
      trigger: 'webhook',
      active,
      webhook: { path, reply: false, replyTimeoutSeconds: 30 },
    },
  };
}

test('a route is found by workflow ID, and by ID and path', () => {
  const table = createRouteTable();
  table.put(route({}));
  expect(table.webhook('shop.orders/new')?.uid).toBe('u1');
  expect(table.workflow('shop.orders')?.uid).toBe('u1');
  expect(table.workflowOfUid('workflow-of-u1')?.id).toBe('shop.orders');
  expect(table.project('shop')).toBe('project-of-shop');
  expect(table.size()).toBe(1);
});

test.each([
  'shop.orders/old',
  'shop.orders',
  'shop.orders/',
  'shop.orders/new/',
  'shop.Orders/new',
  'shop.orders/%6eew',
  '',
  '__proto__',
])('there is no webhook at "%s"', (key) => {
  const table = createRouteTable();
  table.put(route({}));
  expect(table.webhook(key)).toBeUndefined();
});

test('an inactive workflow has no webhook, but can be found for test runs', () => {
  const table = createRouteTable();
  table.put(route({ active: false }));
  expect(table.webhook('shop.orders/new')).toBeUndefined();
  expect(table.workflow('shop.orders')?.spec.active).toBe(false);
});

test('a changed route replaces the previous one', () => {
  const table = createRouteTable();
  table.put(route({ path: 'old' }));
  table.put(route({ path: 'new', generation: 2 }));
  expect(table.webhook('shop.orders/old')).toBeUndefined();
  expect(table.webhook('shop.orders/new')?.generation).toBe(2);
  expect(table.size()).toBe(1);
});

test('the digest depends only on the served routes, not on their history', () => {
  const grown = createRouteTable();
  grown.put(route({ uid: 'u1' }));
  grown.put(route({ uid: 'u2', name: 'returns' }));
  grown.put(route({ uid: 'u2', name: 'returns', generation: 2 }));
  grown.put(route({ uid: 'u3', name: 'gone' }));
  grown.remove(route({ uid: 'u3', name: 'gone' }));
  const fresh = createRouteTable();
  fresh.put(route({ uid: 'u2', name: 'returns', generation: 2 }));
  fresh.put(route({ uid: 'u1' }));
  expect(grown.digest()).toBe(fresh.digest());
  fresh.remove(route({ uid: 'u1' }));
  expect(grown.digest()).not.toBe(fresh.digest());
});

test('a removed route is gone from table, project and digest', () => {
  const table = createRouteTable();
  const empty = table.digest();
  table.put(route({}));
  table.remove(route({}));
  table.remove(route({}));
  expect(table.webhook('shop.orders/new')).toBeUndefined();
  expect(table.workflow('shop.orders')).toBeUndefined();
  expect(table.project('shop')).toBeUndefined();
  expect(table.digest()).toBe(empty);
});

test('an invalid object is neither served nor acknowledged, and replaces its valid version', () => {
  const table = createRouteTable();
  const empty = table.digest();
  expect(table.put(route({}))).toBe(true);
  expect(table.put({ ...route({ generation: 2 }), spec: { workflow: 'orders' } })).toBe(false);
  expect(table.size()).toBe(0);
  expect(table.digest()).toBe(empty);
});

const verify = {
  material: '0123456789abcdef',
  secretRefs: [{ name: 'hooks', key: 'token' }],
  toleranceSeconds: 300,
};

function guarded(over: Over, material: string | undefined = verify.material): KubeObject {
  const object = route(over);
  const { material: _material, ...rest } = verify;
  const webhook = {
    path: 'new',
    reply: false,
    replyTimeoutSeconds: 30,
    access: 'bearer',
    verify: { ...rest, ...(material !== '' && { material }) },
  };
  return { ...object, spec: { ...(object.spec as object), webhook } };
}

test('a route that waits for its keys refuses everybody and is reported, and other routes are not affected', () => {
  const table = createRouteTable();
  table.put(guarded({}));
  expect(table.webhook('shop.orders/new')?.auth.kind).toBe('closed');
  expect(table.waiting()).toEqual(['u1']);
  const waiting = table.digest();
  table.put(guarded({}), [Buffer.from('token')]);
  expect(table.webhook('shop.orders/new')?.auth.kind).toBe('verified');
  expect(table.waiting()).toEqual([]);
  expect(table.digest()).toBe(waiting);
  table.put(guarded({}));
  table.remove(guarded({}));
  expect(table.waiting()).toEqual([]);
  expect(table.digest()).toBe(createRouteTable().digest());
});

test('a route without a secret refuses everybody and waits for nothing', () => {
  const table = createRouteTable();
  table.put(guarded({}, ''));
  expect(table.webhook('shop.orders/new')?.auth.kind).toBe('closed');
  expect(table.waiting()).toEqual([]);
});

test('beyond a thousand waiting routes, further ones are not acknowledged', () => {
  const table = createRouteTable();
  const objects = Array.from({ length: 1_001 }, (_, index) =>
    guarded({ uid: `u${index}`, name: `w${index}` }),
  );
  for (const object of objects.slice(0, 1_000)) table.put(object);
  const before = table.digest();
  table.put(objects[1_000] ?? guarded({}));
  expect(table.digest()).toBe(before);
  expect(table.waiting()).toHaveLength(1_000);
  for (const object of objects) table.remove(object);
  expect(table.digest()).toBe(createRouteTable().digest());
});

test('each namespace with a served route is listed once', () => {
  const table = createRouteTable();
  const objects = [guarded({ uid: 'a', name: 'a' }), guarded({ uid: 'b', name: 'b' })];
  for (const object of objects) table.put(object);
  expect(table.namespaces()).toEqual(['shop']);
  for (const object of objects) table.remove(object);
  expect(table.namespaces()).toEqual([]);
});
