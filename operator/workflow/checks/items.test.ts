import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { itemsNotes } from './items.ts';

const set = (id: string, items: string): WorkflowNode => ({
  id,
  skill: { name: 'set', parameters: { values: 'item' } },
  forEach: { items },
});
const spec = (trigger: WorkflowNode, ...steps: WorkflowNode[]): WorkflowSpec => ({
  active: true,
  nodes: [trigger, ...steps],
});
const manual = (testData?: Record<string, unknown>): WorkflowNode => ({
  id: 'trigger',
  manual: testData === undefined ? {} : { testData },
});
const webhook: WorkflowNode = {
  id: 'hook',
  webhook: { path: 'orders', testData: { data_content: { lines: 'pen' } } },
};
const lines = "{{ $('trigger').data_content.lines }}";
const note = (id: string, kind: string, trigger = 'trigger') =>
  `node ${id}: forEach.items is ${kind}, not an array, in the testData of ${trigger}: correct the reference or the testData.`;

test.each<[what: string, spec: WorkflowSpec, notes: string[]]>([
  ['an object', spec(manual({ lines: { a: 1 } }), set('each', lines)), [note('each', 'an object')]],
  ['null', spec(manual({ lines: null }), set('each', lines)), [note('each', 'null')]],
  [
    'the whole data',
    spec(manual({ lines: [] }), set('each', '{{ $previous.data_content }}')),
    [note('each', 'an object')],
  ],
  [
    'a text of another trigger',
    spec(webhook, set('each', "{{ $('hook').data_content.lines }}")),
    [note('each', 'a string', 'hook')],
  ],
  ['an array', spec(manual({ lines: [1] }), set('each', lines)), []],
  ['a value that the test data lacks', spec(manual({}), set('each', lines)), []],
  ['no test data', spec(manual(), set('each', lines)), []],
  [
    'the output of a step',
    spec(manual({ lines: [1] }), set('a', lines), set('b', "{{ $('a').data_content.x }}")),
    [],
  ],
])('items that are %s', (_what, given, notes) => {
  expect(itemsNotes(given)).toEqual(notes);
});
