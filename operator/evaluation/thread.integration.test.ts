/** Work of hostile authors in the thread of Evaluations. The main thread goes on meanwhile. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, expect, test } from 'vitest';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { Expectation } from './cases.ts';
import { createEvaluationThread, TooExpensive } from './thread.ts';

const thread = createEvaluationThread();
afterAll(() => thread.close());

const run = (text: string): WorkflowRun => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'WorkflowRun',
  metadata: { name: 'r-0', namespace: 'shop' },
  spec: { workflow: 'refunds', test: true },
  status: {
    phase: 'Succeeded',
    nodes: [{ id: 'a', phase: 'Succeeded', output: { text_content: text, data_content: { text } } }],
  },
});
const judge = (expectation: Expectation, text: string) =>
  thread.judge({ phase: 'Succeeded', expect: [expectation] }, run(text));
const matching = (pattern: string): Expectation => ({
  schema: { type: 'object', properties: { text: { type: 'string', pattern } } },
});
const HOSTILE = `${'a'.repeat(40)}!`;

test('a verdict, the cases of a text and their problem come from the thread', async () => {
  expect((await judge({ contains: 'Refunded' }, 'Refunded.')).findings).toEqual([]);
  expect((await judge({ contains: 'Refunded' }, 'No.')).findings).toEqual([
    { expectation: 'contains: Refunded', got: 'No.' },
  ]);
  const read = await thread.readCases('- name: one');
  expect(read).toMatchObject({ cases: [{ name: 'one', mocks: [], phase: 'Succeeded' }] });
  expect(await thread.readCases('a: [')).toMatchObject({ problem: expect.stringContaining('is neither') });
});

test('a pattern that takes exponential time is ended, and delays neither the event loop nor the next verdict', async () => {
  await judge({ contains: 'a' }, 'a');
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const slow = judge(matching('^(a+)+$'), HOSTILE);
  const next = judge({ contains: 'a' }, 'a');
  await expect(slow).rejects.toThrow(new TooExpensive('judging run r-0 takes more than 1 s'));
  delays.disable();
  // In nanoseconds. Alone it is below 20 ms; other tests share the processor.
  expect(delays.max / 1e6).toBeLessThan(400);
  expect((await next).findings).toEqual([]);
}, 60_000);

test('cases that take too much memory are ended, and the next ones are read', async () => {
  const small = createEvaluationThread({ memoryMiB: 64 });
  const many = `- name: one\n  data: [${'0,'.repeat(126_000)}0]`;
  // A slow machine reaches the limit of time before.
  await expect(small.readCases(many)).rejects.toThrow(
    /^reading the cases takes (too much memory|more than 5 s)$/,
  );
  expect(await small.readCases('- name: one')).toMatchObject({ cases: [{ name: 'one' }] });
  await small.close();
}, 60_000);

test('work that fails in the thread is not tried again, and the next verdict is given', async () => {
  const failed = await judge({ schema: { $ref: '#' } }, 'a').catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(TooExpensive);
  expect(failed).toMatchObject({ message: 'judging run r-0 fails (Maximum call stack size exceeded)' });
  expect((await judge({ contains: 'a' }, 'a')).findings).toEqual([]);
}, 60_000);

test('after it was closed the thread starts again with the next work', async () => {
  const ended = judge(matching('^(a+)+$'), HOSTILE).catch((error: unknown) => error);
  await thread.close();
  expect(await ended).toEqual(new Error('the operator stops'));
  expect((await judge({ contains: 'a' }, 'a')).findings).toEqual([]);
}, 60_000);
