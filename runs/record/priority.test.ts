import { expect, test } from 'vitest';
import type { RunState } from '../types/run.ts';
import { costOf, byRecordPriority } from './priority.ts';

const run = (name: string, changes: Partial<RunState>) => ({ run: name, ...changes }) as RunState;

test('a create is paid together with the write of the end, which then is free', () => {
  expect(costOf(run('new', { phase: 'Running' }))).toBe(2);
  expect(costOf(run('new and ended', { phase: 'Failed' }))).toBe(2);
  expect(costOf(run('going on', { phase: 'Running', recordedUid: 'uid' }))).toBe(1);
  expect(costOf(run('ended', { phase: 'Succeeded', recordedUid: 'uid' }))).toBe(0);
  expect(costOf(run('of an object', { phase: 'Succeeded', recordUid: 'uid' }))).toBe(0);
});

test('what is paid for comes first, then failures, then what goes on, successes last; equals keep their order', () => {
  const runs = [
    run('success 1', { phase: 'Succeeded' }),
    run('running', { phase: 'Running' }),
    run('success 2', { phase: 'Succeeded' }),
    run('failure', { phase: 'Failed' }),
    run('paid', { phase: 'Succeeded', recordedUid: 'uid' }),
  ];
  expect(byRecordPriority(runs).map((it) => it.run)).toEqual([
    'paid',
    'failure',
    'running',
    'success 1',
    'success 2',
  ]);
});
