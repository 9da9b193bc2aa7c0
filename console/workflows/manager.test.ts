import { expect, test } from 'vitest';
import type { ObjectMeta } from '../kube/resources.ts';
import { managerOf, managerText, ownerOfField } from './manager.ts';

const meta = (parts: Omit<ObjectMeta, 'name'>): ObjectMeta => ({ name: 'orders', ...parts });
const label = (name: string, value: string) => meta({ labels: { [name]: value } });
const note = (name: string, value: string) => meta({ annotations: { [name]: value } });

test.each([
  [note('argocd.argoproj.io/tracking-id', 'shop:windlass.dev/Workflow:shop/orders'), 'Argo CD (shop)'],
  [label('argocd.argoproj.io/instance', 'shop'), 'Argo CD (shop)'],
  [label('kustomize.toolkit.fluxcd.io/name', 'apps'), 'Flux (apps)'],
  [label('helm.toolkit.fluxcd.io/name', 'shop'), 'Flux (shop)'],
  [note('meta.helm.sh/release-name', 'shop'), 'Helm (shop)'],
  [label('app.kubernetes.io/managed-by', 'Helm'), 'Helm'],
])('%j is managed by %s', (metadata, text) => {
  const manager = managerOf(metadata);
  expect(manager && managerText(manager)).toBe(text);
});

test('an object without such labels is not managed', () => {
  expect(managerOf(label('app.kubernetes.io/managed-by', 'ada'))).toBeUndefined();
});

const active = { 'f:spec': { 'f:active': {} } };
const flux = { 'kustomize.toolkit.fluxcd.io/name': 'apps' };

test.each([
  ['its own fields', { managedFields: [{ manager: 'kustomize-controller', fieldsV1: active }] }, true],
  [
    'no field that was left out',
    { managedFields: [{ manager: 'kustomize-controller', fieldsV1: {} }] },
    false,
  ],
  [
    'no field that a person set',
    { managedFields: [{ manager: 'windlass-console', fieldsV1: active }] },
    false,
  ],
  [
    'nothing of the status',
    { managedFields: [{ manager: 'flux', subresource: 'status', fieldsV1: active }] },
    false,
  ],
])('a tool owns %s', (_what, parts, isTheirs) => {
  expect(ownerOfField(meta({ labels: flux, ...parts }), ['spec', 'active']) !== undefined).toBe(isTheirs);
});

test('a tool that sends the whole object owns the fields of its manifest, not the defaults', () => {
  const managedFields = [{ manager: 'argocd-controller', fieldsV1: active }];
  const applied = (spec: object) =>
    meta({
      labels: flux,
      managedFields,
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ spec }) },
    });
  expect(ownerOfField(applied({}), ['spec', 'active'])).toBeUndefined();
  expect(ownerOfField(applied({ active: true }), ['spec', 'active'])).toEqual({
    tool: 'Flux',
    source: 'apps',
  });
});

test('no field of an unmanaged object is owned', () => {
  const managedFields = [{ manager: 'helm', fieldsV1: active }];
  expect(ownerOfField(meta({ managedFields }), ['spec', 'active'])).toBeUndefined();
});
