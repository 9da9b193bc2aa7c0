/** Labels of workflows. */
import { expect, test } from 'vitest';
import {
  labelChange,
  labelProblem,
  labelsAfter,
  labelsIn,
  labelsOf,
  ownLabels,
  readLabels,
  removedBy,
  type LabelChange,
} from './labels.ts';

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
    'kapp.k14s.io/app': '1',
    'operators.coreos.com/a.b': '',
    'olm.owner': 'a',
    'fleet.cattle.io/bundle-name': 'a',
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

const OF_TOOLS = {
  'app.kubernetes.io/part-of': 'shop',
  'argocd.argoproj.io/instance': 'a',
  'kapp.k14s.io/app': '1',
  'olm.owner': 'a',
};

test('the settings show and change the labels that people set, and no others', () => {
  const before = item({ team: 'billing', urgent: '', ...OF_TOOLS });
  expect(ownLabels(before)).toEqual(['team=billing', 'urgent']);
  expect(labelChange(ownLabels(before), ['team=sales', 'tier=1'])).toEqual({
    urgent: null,
    team: 'sales',
    tier: '1',
  });
});

test('a change has the labels that differ alone, so that those which others change stay', () => {
  const shown = ['team=billing', 'urgent'];
  expect(labelChange(shown, [...shown, 'tier=1'])).toEqual({ tier: '1' });
  expect(labelChange(shown, ['urgent'])).toEqual({ team: null });
  expect(removedBy({ team: null, tier: '1' }, shown)).toEqual(['team=billing']);
  expect(labelChange([], ['team=billing'])).toEqual({ team: 'billing' });
  expect(labelChange(shown, [...shown, 'team=sales'])).toEqual({ team: 'sales' });
  expect(labelChange(shown, shown)).toEqual({});
});

test('a label that is entered while others are on their way comes after them', () => {
  const before = item({ team: 'billing', ...OF_TOOLS });
  const changes: LabelChange[] = [{ urgent: '' }, { team: null, tier: '1' }];
  const shown = labelsAfter(before, changes);
  expect(shown).toEqual(['urgent', 'tier=1']);
  expect(labelChange(shown, [...shown, 'new'])).toEqual({ new: '' });
  expect(labelsAfter(before, [])).toEqual(ownLabels(before));
});

test.each([
  ['tier = 1', ['tier=1'], '', /^nothing$/],
  ['team=billing, urgent,', ['team=billing', 'urgent'], '', /^nothing$/],
  ['urgent, two words', ['urgent'], 'two words', /"two words" is not a label/],
  ['team=', [], 'team=', /^Write a value after team=, or team alone\.$/],
  ['  ', [], '', /^nothing$/],
])('of the text "%s" the labels are %j, and "%s" stays in the field', (text, labels, rest, told) => {
  const { problem = 'nothing', ...read } = readLabels(text);
  expect(read).toEqual({ labels, rest });
  expect(problem).toMatch(told);
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
  ['app.kubernetes.io/name=x', /belongs to Kubernetes, Windlass or a tool/],
  ['windlass.dev/x=y', /belongs to Kubernetes, Windlass or a tool/],
])('of the label "%s" is told %s', (text, told) => {
  expect(labelProblem(text) ?? 'nothing').toMatch(told);
});
