/** What a call of the move does next. */
import { describe, expect, test } from 'vitest';
import { cancelProblem, planOf, type SourceMark, type TargetMark } from './plan.ts';

const source = (state: SourceMark['state']): SourceMark => ({
  token: 'a',
  call: '1',
  state,
  to: 'redis://b:1',
});
const target = (state: TargetMark['state'], token = 'a'): TargetMark => ({ token, call: '1', state });

describe('the next step', () => {
  test.each([
    ['two stores without marks', undefined, undefined, true, 'begin'],
    ['an interruption before the target was marked', source('moving'), undefined, true, 'begin'],
    ['a move that was cancelled before the target was marked', source('cancelled'), undefined, true, 'begin'],
    ['an interruption of the copy', source('moving'), target('copying'), false, 'continue'],
    ['a move that was cancelled', source('cancelled'), target('copying'), false, 'restart'],
    [
      'a move that was cancelled without its target',
      source('cancelled'),
      target('verified'),
      false,
      'restart',
    ],
    ['an interruption after the comparison', source('moving'), target('verified'), false, 'open'],
    ['an interruption while projects were opened', source('moved'), target('verified'), false, 'open'],
    ['a source that lost its last write', source('moving'), target('done'), false, 'open'],
    ['a move that ended', source('moved'), target('done'), false, 'nothing'],
    ['a target that lost its last writes', source('moved'), target('copying'), false, 'refuse'],
    ['another target after the end', source('moved'), undefined, true, 'refuse'],
    ['an abandoned target after the end', source('moved'), target('copying', 'b'), false, 'refuse'],
    ['a target with keys', undefined, undefined, false, 'refuse'],
    ['a target with keys, and a move to another one', source('moving'), undefined, false, 'refuse'],
    ['a target of another move', source('moving'), target('copying', 'b'), false, 'refuse'],
    ['a target of another move, and no mark in the source', undefined, target('done'), true, 'refuse'],
  ])('for %s', (_, from, to, isTargetEmpty, step) => {
    expect(planOf({ source: from, target: to, isTargetEmpty }).step).toBe(step);
  });

  test.each([
    ['no move', undefined, undefined, 'no move of this source has begun'],
    ['a copy', source('moving'), target('copying'), undefined],
    ['a move whose target has no mark, or cannot be reached', source('moving'), undefined, undefined],
    ['a comparison that ended', source('moving'), target('verified'), 'finish the move'],
    ['a target of another move', source('moving'), target('done', 'b'), undefined],
    [
      'a move that is opening projects, with the wrong target',
      source('moved'),
      undefined,
      'redis://b:1 has all data',
    ],
    ['a move that ended', source('moved'), target('done'), 'finish the move'],
    ['a move that is being cancelled', source('cancelled'), target('verified'), undefined],
  ])('whether %s can be cancelled', (_, from, to, problem) => {
    expect(cancelProblem({ source: from, target: to }) ?? 'it can').toContain(problem ?? 'it can');
  });
});
