import { expect, test } from 'vitest';
import type { WorkflowObject } from '../kube/resources.ts';
import { copiedSpec, manifestOf } from './manifest.ts';

const spec: WorkflowObject['spec'] = { active: true, nodes: [{ id: 'trigger', manual: {} }] };

test('a manifest has only what people wrote', () => {
  const metadata = {
    name: 'orders',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
    generation: 3,
    creationTimestamp: '2026-01-05T09:30:00Z',
    managedFields: [],
    labels: { team: 'a', 'kustomize.toolkit.fluxcd.io/name': 'apps', 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      'windlass.dev/positions': '{}',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'argocd.argoproj.io/tracking-id': 'shop:x',
      'meta.helm.sh/release-name': 'shop',
    },
  };
  expect(manifestOf({ metadata, spec })).toEqual({
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'orders', labels: { team: 'a' }, annotations: { 'windlass.dev/positions': '{}' } },
    spec,
  });
});

test('empty labels and annotations are left out', () => {
  const metadata = { name: 'orders', labels: { 'helm.sh/chart': 'x' }, annotations: {} };
  expect(manifestOf({ metadata, spec }).metadata).toEqual({ name: 'orders' });
});

test('a copy is inactive and has the given name', () => {
  expect(copiedSpec(spec, 'Orders (copy)')).toEqual({ ...spec, displayName: 'Orders (copy)', active: false });
});
