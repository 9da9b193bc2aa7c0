/** Labels of workflows. */
import { expect, test } from 'vitest';
import { labelChange, labelProblem, labelsIn, labelsOf, ownLabels } from './labels.ts';

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

const OF_TOOLS = { 'app.kubernetes.io/part-of': 'shop', 'argocd.argoproj.io/instance': 'a' };

test('the settings show and change the labels that people set, and no others', () => {
  const before = item({ team: 'billing', urgent: '', ...OF_TOOLS });
  expect(ownLabels(before)).toEqual(['team=billing', 'urgent']);
  expect(labelChange(before, ['team=sales', 'tier = 1'])).toEqual({ urgent: null, team: 'sales', tier: '1' });
  expect(labelChange(before, ownLabels(before))).toEqual({ team: 'billing', urgent: '' });
});

test.each([
  ['team=billing', /^nothing$/],
  ['urgent', /^nothing$/],
  ['example.com/tier=1', /^nothing$/],
  ['two words', /is not a label/],
  ['a=b=c', /is not a label/],
  ['a/b/c=d', /is not a label/],
  ['=x', /is not a label/],
  ['a='.padEnd(70, 'x'), /is not a label/],
  ['app.kubernetes.io/name=x', /belongs to Kubernetes or a tool/],
  ['windlass.dev/x=y', /belongs to Kubernetes or a tool/],
])('of the label "%s" is told %s', (text, told) => {
  expect(labelProblem(text) ?? 'nothing').toMatch(told);
});
