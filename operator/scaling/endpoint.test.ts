import { expect, test } from 'vitest';
import type { EndpointSlice, Lease } from '../../kube/resource.ts';
import { answerScaling } from './endpoint.ts';

type Given = { isLeading?: boolean; leader?: string; address?: string };

function answerTo(path: string, { isLeading = true, leader, address = '10.0.0.7' }: Given = {}) {
  const lease = { spec: { holderIdentity: leader } } as Lease;
  const endpoints = [
    { addresses: ['10.0.0.6'], targetRef: { kind: 'Pod', name: 'gateway-1' } },
    { addresses: [address], targetRef: { kind: 'Pod', name: 'operator-2' } },
  ];
  const caches = {
    leases: { get: () => lease },
    slices: { list: () => [{ endpoints: null }, { endpoints }] as EndpointSlice[] },
  } as unknown as Parameters<typeof answerScaling>[1]['caches'];
  return answerScaling(path, {
    caches,
    config: { LEASE_NAME: 'operator', METRICS_PORT: 9090, POD_NAME: 'operator-1' },
    namespace: 'system',
    scaling: { needed: new Map([['shop', 3]]) },
    isLeading: () => isLeading,
  });
}

test('the leader answers with the runners that a project needs', () => {
  expect(answerTo('/scaling/shop')).toMatchObject({ status: 200, text: '{"runners":3}\n' });
});

test('a need that is not known is no number, so that KEDA changes nothing', () => {
  expect(answerTo('/scaling/office')).toMatchObject({ status: 503 });
  expect(answerTo('/scaling/')).toMatchObject({ status: 503 });
});

test('other paths are not answered', () => {
  expect(answerTo('/scaled/shop')).toBeUndefined();
});

test.each([
  ['10.0.0.7', 'http://10.0.0.7:9090/scaling/shop'],
  ['fd00::7', 'http://[fd00::7]:9090/scaling/shop'],
])('a replica that does not lead redirects to the leader at %s', (address, location) => {
  const answer = answerTo('/scaling/shop', { isLeading: false, leader: 'operator-2', address });
  expect(answer).toMatchObject({ status: 307, headers: { location } });
});

test.each([
  ['nobody leads', {}],
  ['the leader has no address yet', { leader: 'operator-3' }],
  ['its own time as leader is over', { leader: 'operator-1' }],
])('a replica that does not lead says so while %s', (_what, given: Given) => {
  expect(answerTo('/scaling/shop', { isLeading: false, ...given })).toMatchObject({ status: 503 });
});
