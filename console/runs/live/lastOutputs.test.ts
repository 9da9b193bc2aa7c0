import { expect, test } from 'vitest';
import { lastOutputsQuery } from './lastOutputs.ts';
import { lacksNode, lastResults, outputOf } from './lastResults.ts';

test.each([
  ['orders', 'orders-1', true],
  ['orders', undefined, false],
  ['', undefined, false],
])('the runs of %j with the revision %s are asked for: %s', (workflow, revision, isAsked) => {
  expect(lastOutputsQuery({ namespace: 'shop', workflow, revision }, '').enabled).toBe(isAsked);
});

const ran = (data_content: unknown) => ({ id: 'ask', phase: 'Succeeded' as const, output: { data_content } });
const failed = (message: string) => ({ id: 'ask', phase: 'Failed' as const, reason: 'Timeout', message });
const skipped = { id: 'ask', phase: 'Skipped' as const };
const timeout = (message: string) => ({ reason: 'Timeout', message });

test.each([
  ['the newest output', [[ran(2)], [ran(1)]], { data_content: 2 }],
  ['the newest error', [[failed('b')], [failed('a')]], { error: timeout('b') }],
  ['an error beside an older output', [[failed('a')], [ran(1)]], { data_content: 1, error: timeout('a') }],
  ['an output beside an older error', [[ran(1)], [failed('a')]], { data_content: 1, error: timeout('a') }],
  ['nothing of a run that skipped it', [[skipped], [ran(1)]], { data_content: 1 }],
])('of a node %s is known', (_what, runs, result) => {
  expect(lastResults(runs).get('ask')).toEqual(result);
});

test('the shown run comes after all others', () => {
  expect(lastResults([[ran(2)]], lastResults([[failed('a')], [ran(1)]])).get('ask')).toEqual({
    data_content: 2,
    error: timeout('a'),
  });
});

test('a node that only failed has no output', () => {
  expect(outputOf({ error: timeout('a') })).toBeUndefined();
  expect(outputOf({ data_content: 1, error: timeout('a') })).toEqual({ data_content: 1 });
});

test.each([
  ['skipped it', [[skipped], [skipped]], true],
  ['executed it once', [[skipped], [ran(1)]], false],
  ['saw it fail', [[skipped], [failed('a')]], false],
  ['have no such node', [[]], false],
])('older runs are read if the newest ones %s: %s', (_what, runs, isRead) => {
  expect(lacksNode(runs)).toBe(isRead);
});
