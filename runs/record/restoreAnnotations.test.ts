import { expect, test } from 'vitest';
import { ANNOTATION } from '../../api/group.ts';
import type { RunState } from '../types/run.ts';
import { RECORD_LIMITS } from './record.ts';
import { dedupeMarkOf, parentRefOf, restoreAnnotationsOf } from './restoreAnnotations.ts';

const annotations = ({ input = '', ...state }: Partial<RunState>) =>
  restoreAnnotationsOf(state, input, RECORD_LIMITS);

test('a record keeps the hashes that identify its event', () => {
  const kept = annotations({ dedupeHash: 'hash', bodyHash: 'body' });
  expect(dedupeMarkOf(kept)).toEqual({ hash: 'hash', body: 'body' });
  expect(dedupeMarkOf(annotations({ dedupeHash: 'hash' }))).toEqual({ hash: 'hash', body: '' });
  expect(annotations({})).toEqual({});
  expect(dedupeMarkOf({})).toBeUndefined();
});

test.each([
  ['is all there', '{"text_content":"","data_content":{"a":1}}', false],
  ['of a test run without one', '', false],
  ['has headers', '{"text_content":"","data_content":{},"headers":{"x-a":"b"}}', true],
  ['has the URL of a callback', '{"data_content":{"url":"https://a.example/callback/wlc.p.k.t.s"}}', true],
  ['is too large', JSON.stringify({ text_content: 'x'.repeat(70_000), data_content: null }), true],
  [
    'is too large as the API server writes it',
    JSON.stringify({ text_content: '<'.repeat(20_000), data_content: null }),
    true,
  ],
])('an input that %s', (_what, input, isPartial) => {
  expect(ANNOTATION.partialInput in annotations({ input })).toBe(isPartial);
});

test('a record keeps the ancestors of a child run, and an invalid annotation says nothing', () => {
  const own = { run: 'caller-1', node: 'call' };
  const parent = { ...own, group: 'w', root: 'caller-1', path: ['caller'], waits: true };
  expect(parentRefOf(annotations({ parent }), own)).toEqual(parent);
  expect(parentRefOf(annotations({ parent }), undefined)).toBeUndefined();
  for (const text of ['', 'x', 'null', '[]', '{"waits":true}'])
    expect(parentRefOf({ [ANNOTATION.ancestors]: text }, own)).toBeUndefined();
});
