/** Labels of workflows. */
import { expect, test } from 'vitest';
import { labelsIn, labelsOf } from './labels.ts';

const item = (labels?: Record<string, string>) => ({ metadata: { ...(labels && { labels }) } });

test('labels are written as for kubectl, without those that tools write for themselves', () => {
  const labels = {
    team: 'billing',
    'example.com/tier': '1',
    urgent: '',
    'app.kubernetes.io/part-of': 'shop',
    'app.kubernetes.io/managed-by': 'Helm',
    'app.kubernetes.io/instance': 'shop',
    'helm.sh/chart': 'a',
    'kustomize.toolkit.fluxcd.io/name': 'a',
    'argocd.argoproj.io/instance': 'a',
  };
  expect(labelsOf(item(labels))).toEqual([
    'team=billing',
    'example.com/tier=1',
    'urgent',
    'app.kubernetes.io/part-of=shop',
  ]);
});

test('the labels of several workflows are offered once each, in order', () => {
  expect(labelsIn([item({ b: '1' }), item(), item({ a: '2', b: '1' })])).toEqual(['a=2', 'b=1']);
});
