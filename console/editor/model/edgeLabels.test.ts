import { expect, test } from 'vitest';
import { fittingLabel, LABEL_WIDTH, labelsOf } from './edgeLabels.ts';

test('labels of connections out of one node leave out what they have in common', () => {
  const edge = (to: string, when?: string, after?: 'Failure') => ({
    from: 'ask',
    to,
    ...(when !== undefined && { when }),
    ...(after && { after }),
  });
  const edges = [
    edge('a', 'nodes.for_each.item.quantity > 0.0'),
    edge('b', 'nodes.for_each.item.quantity == 0.0'),
    edge('c', undefined, 'Failure'),
    { from: 'a', to: 'd', when: 'nodes.a.data_content.total > 1000.0' },
  ];
  expect([...labelsOf(edges)].map(([id, { short }]) => [id, short])).toEqual([
    ['ask>a', 'if …> 0'],
    ['ask>b', 'if …== 0'],
    ['ask>c', 'on failure'],
    ['a>d', 'if total > 1000'],
  ]);
});

test.each([
  ['a > 1', 'b > 1', 'if a > 1', 'if b > 1'],
  ['x > 1', 'x > 2', 'if x > 1', 'if x > 2'],
  ['order.total > 100.0', 'order.total > 1000.0', 'if …100', 'if …1000'],
  ['order.paid', 'order.paid && order.big', 'if …paid', 'if …paid && order.big'],
  ['order.total > 100.0', 'order.total > 100.0', 'if order.total > 100', 'if order.total > 100'],
])('%s and %s are different in their labels', (one, other, first, second) => {
  const edges = [
    { from: 'a', to: 'b', when: one },
    { from: 'a', to: 'c', when: other },
  ];
  expect([...labelsOf(edges).values()].map(({ short }) => short)).toEqual([first, second]);
});

test('a label is shortened only where there is no room for all of it', () => {
  const edges = [
    { from: 'ask', to: 'a', when: 'nodes.order.data_content.total > 100.0' },
    { from: 'ask', to: 'b', when: 'nodes.order.data_content.total > 10.0' },
  ];
  const label = labelsOf(edges).get('ask>a') ?? { full: '', short: '' };
  expect(fittingLabel(label, LABEL_WIDTH.most)).toBe('if order.total > 100');
  expect(fittingLabel(label, LABEL_WIDTH.least)).toBe('if …100');
});

test('a connection that is taken otherwise says that', () => {
  const when = 'nodes.a.data_content.total > 3';
  const edges = [
    { from: 'a', to: 'b', when },
    { from: 'a', to: 'c', when: `!(${when})` },
  ];
  expect(labelsOf(edges).get('a>c')).toEqual({ full: 'otherwise', short: 'otherwise' });
});
