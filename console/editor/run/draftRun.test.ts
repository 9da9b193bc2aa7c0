import { expect, test } from 'vitest';
import { parseExact } from '../../../api/exact/exactNumber.ts';
import { draftRunSpec, type DraftRun } from './draftRun.ts';

const nodes = [{ id: 'start', manual: {} }];
const run: DraftRun = {
  workflow: 'orders',
  spec: { active: true, suspend: false, nodes },
  event: { a: 1 },
  isOutput: false,
};

test.each<[string, Partial<DraftRun>, object]>([
  ['the data of a manual trigger', {}, { input: { text_content: '', data_content: { a: 1 } } }],
  [
    'the output of another trigger',
    { isOutput: true, event: { text_content: 'hello', data_content: [1] } },
    { input: { text_content: 'hello', data_content: [1] } },
  ],
  [
    'an output without data',
    { isOutput: true, event: { text_content: 'hello' } },
    { input: { text_content: 'hello', data_content: null } },
  ],
  [
    'a number that the API server would round',
    { event: parseExact('{"a":12345678901234567890123}') as object },
    {
      input: {
        data_content: { a: 1.2345678901234568e22 },
        exact: { '/data_content/a': '12345678901234567890123' },
      },
    },
  ],
  ['the last node', { until: 'start' }, { until: 'start' }],
  ['who asked', { requestedBy: 'ada' }, { requestedBy: 'ada' }],
])('a test run of a draft has %s', (_what, given, expected) => {
  expect(draftRunSpec({ ...run, ...given })).toMatchObject({ workflow: 'orders', test: true, ...expected });
});

test('the switches of a workflow are no part of a draft', () => {
  expect(draftRunSpec(run).draft).toEqual({ nodes });
});
