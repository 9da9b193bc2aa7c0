import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { sourcesOf } from './sources.ts';

const spec: WorkflowSpec = {
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    { id: 'a', skill: { name: 'read_rows' }, onError: 'Continue' },
    { id: 'b', skill: { name: 'send_email' }, forEach: "{{ $('a').data_content.rows }}" },
    { id: 'aside', skill: { name: 'set' } },
  ],
  edges: [
    { from: 'trigger', to: 'a' },
    { from: 'a', to: 'b' },
    { from: 'trigger', to: 'aside' },
  ],
};
const outputs = new Map([['a', { text_content: 'two rows', data_content: { rows: [{ name: 'Ada' }] } }]]);

test('only earlier nodes can be referred to', () => {
  expect(sourcesOf(spec, 'b', outputs).nodes.map(({ id }) => id)).toEqual(['trigger', 'a']);
  expect(sourcesOf(spec, 'aside', outputs).nodes.map(({ id }) => id)).toEqual(['trigger']);
});

test('the element of forEach is the first of the last output, or unknown', () => {
  expect(sourcesOf(spec, 'b', outputs).element).toEqual({ item: { name: 'Ada' }, isReal: true });
  expect(sourcesOf(spec, 'b', new Map()).element).toEqual({ item: {}, isReal: false });
  expect(sourcesOf(spec, 'a', outputs).element).toBeUndefined();
});

test('the error of a node can be referred to if its failure does not end the run', () => {
  const [, a] = sourcesOf(spec, 'b', outputs).nodes;
  expect(a?.members).toEqual(['text_content', 'data_content', 'error']);
});
