import { expect, test } from 'vitest';
import { LABEL } from '../../api/group.ts';
import { itemRunsOf } from './itemRunsOf.ts';

test('child runs are those of the nodes of the loop, by their items', () => {
  const child = (name: string, node: string, item?: string) => ({
    metadata: { name, ...(item !== undefined && { labels: { [LABEL.parentItem]: item } }) },
    spec: { workflow: 'receipt', parent: { run: 'parent', node } },
  });
  const runs = [
    child('c', 'each', '10'),
    child('b', 'each', '2'),
    child('x', 'other', '0'),
    child('a', 'each'),
  ];
  expect(itemRunsOf(runs, ['each'])).toEqual([
    { name: 'a', item: undefined },
    { name: 'b', item: 2 },
    { name: 'c', item: 10 },
  ]);
});
