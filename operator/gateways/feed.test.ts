import { expect, test } from 'vitest';
import { ANNOTATION } from '../../api/group.ts';
import type { EndpointSlice, Lease } from '../../kube/resource.ts';
import { readyReplicas, reportOf } from './feed.ts';

function slice(service: string, endpoints: EndpointSlice['endpoints']): EndpointSlice {
  const metadata = { name: `${service}-1`, labels: { 'kubernetes.io/service-name': service } };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    addressType: 'IPv4',
    endpoints,
  };
}

const pod = (name: string, ready?: boolean) => ({
  addresses: ['10.0.0.1'],
  conditions: ready === undefined ? {} : { ready },
  targetRef: { kind: 'Pod', name },
});

test('replicas are the pods that are ready behind the Services of the gateway, each once', () => {
  const slices = [
    slice('windlass-gateway', [pod('g1', true), pod('g2', false), pod('g3')]),
    slice('windlass-gateway-internal', [pod('g1', true)]),
    slice('other', [pod('x', true)]),
    slice('windlass-gateway', null),
  ];
  expect(readyReplicas(slices, ['windlass-gateway', 'windlass-gateway-internal'])).toEqual(
    new Set(['g1', 'g3']),
  );
});

function lease(annotations: Record<string, string>, holderIdentity?: string): Lease {
  const metadata = { name: 'windlass-gateway-g1', annotations };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: holderIdentity === undefined ? {} : { holderIdentity },
  };
}

test("a replica's Lease names its pod and the process in it", () => {
  expect(reportOf(lease({ [ANNOTATION.routes]: 'digest' }, 'gateway-1_42'))).toEqual({
    replica: 'gateway-1',
    process: 'gateway-1_42',
    digest: 'digest',
    waiting: new Set(),
  });
});

test("a replica's Lease names the routes that wait there for what verifies their callers", () => {
  const annotations = { [ANNOTATION.routes]: 'digest', [ANNOTATION.waiting]: 'u1,u2' };
  expect(reportOf(lease(annotations, 'gateway-1_42'))?.waiting).toEqual(new Set(['u1', 'u2']));
});

test('a Lease that says nothing of routes is no replica', () => {
  expect(reportOf(lease({}, 'windlass-operator'))).toBeUndefined();
});
