/** What a call of the move does next, for what it finds. */
import { describe, expect, test } from 'vitest';
import {
  factsIn,
  nextSize,
  planOf,
  programsIn,
  serverProblems,
  whyNotCancelled,
  type SourceMark,
  type TargetMark,
} from './plan.ts';

const source = (state: SourceMark['state']): SourceMark => ({ token: 'a', state, to: 'redis://b:1' });
const target = (state: TargetMark['state'], token = 'a'): TargetMark => ({ token, state });

describe('the next step', () => {
  test.each([
    ['two stores without marks', undefined, undefined, true, 'begin'],
    ['an interruption before the target was marked', source('moving'), undefined, true, 'begin'],
    ['a move that was cancelled before the target was marked', source('cancelled'), undefined, true, 'begin'],
    ['an interruption of the copy', source('moving'), target('copying'), false, 'continue'],
    ['a move that was cancelled', source('cancelled'), target('copying'), false, 'continue'],
    ['an interruption after the comparison', source('moving'), target('verified'), false, 'open'],
    ['an interruption before the source was marked', source('moving'), target('done'), false, 'open'],
    ['a move that ended', source('moved'), target('done'), false, 'nothing'],
    ['another target after the end', source('moved'), undefined, true, 'refuse'],
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
    ['a move whose target was never marked', source('moving'), undefined, undefined],
    ['a comparison that ended', source('moving'), target('verified'), 'finish the move'],
    ['a target of another move', source('moving'), target('done', 'b'), undefined],
    ['a move that ended', source('moved'), target('done'), 'finish the move'],
  ])('whether %s can be cancelled', (_, from, to, why) => {
    expect(whyNotCancelled({ source: from, target: to }) ?? 'it can').toContain(why ?? 'it can');
  });
});

test.each([
  [16, 0, 32],
  [512, 0, 512],
  [512, 5 * 2 ** 20, 512],
  [512, 9 * 2 ** 20, 128],
  [16, 100 * 2 ** 20, 16],
])('after %d keys with %d bytes, %d keys are read', (size, bytes, next) => {
  expect(nextSize(size, bytes)).toBe(next);
});

const INFO =
  'redis_version:7.0.15\r\nrun_id:abc\r\nused_memory:1048576\r\nmaxmemory:0\r\ncluster_enabled:0\r\n';

test('facts of a server are read from INFO', () => {
  expect(factsIn(INFO)).toEqual({
    isMember: false,
    runId: 'abc',
    version: 'Redis 7.0.15',
    used: 1_048_576,
    max: 0,
  });
  expect(factsIn(`valkey_version:8.1.0\r\n${INFO}`).version).toBe('Valkey 8.1.0');
  expect(factsIn('')).toEqual({ isMember: false, runId: '', version: 'Redis ', used: 0, max: 0 });
});

describe('servers that cannot be source and target', () => {
  const server = factsIn(INFO);
  test.each([
    ['old ones', server, { ...server, runId: 'b', version: 'Redis 6.2.14' }, ['Redis 6.2.14 is too old']],
    ['the same one', server, server, ['source and target are the same server']],
    [
      'a full target',
      { ...server, used: 5 * 2 ** 20 },
      { ...server, runId: 'b', max: 4 * 2 ** 20 },
      ['the source uses 5 MiB, and the target has room for 3 MiB'],
    ],
    ['none: without a version', server, factsIn(''), []],
    ['none: with room', server, { ...server, runId: 'b', max: 9 * 2 ** 20 }, []],
  ])('%s', (_, from, to, problems) => {
    const found = serverProblems([from], [to]);
    expect(found).toHaveLength(problems.length);
    problems.forEach((problem, index) => expect(found[index]).toContain(problem));
  });
});

test('programs are the named connections of others', () => {
  const lines = [
    'id=1 addr=10.0.0.1:5000 laddr=10.0.0.9:6379 name=windlass-gateway-7 flags=N cmd=ping',
    'id=2 addr=10.0.0.2:5000 name= flags=N cmd=info',
    'id=3 addr=10.0.0.3:5000 name=own flags=N',
    'id=4 addr=10.0.0.4:5000 name=sentinel-1234-cmd flags=N',
    'id=5 addr=10.0.0.5:5000 name=replica flags=S',
    '',
  ];
  expect(programsIn(lines.join('\n'), 'own')).toEqual(['windlass-gateway-7 (10.0.0.1:5000)']);
});
