import { expect, test } from 'vitest';
import { decidePrimary, type SentinelAnswer } from './sentinel.ts';

const a = { host: '10.0.0.1', port: 6379 };
const b = { host: '10.0.0.2', port: 6379 };
const names = (address: typeof a): SentinelAnswer => ({ outcome: 'primary', address });
const unreachable: SentinelAnswer = { outcome: 'unreachable' };
const unknown: SentinelAnswer = { outcome: 'unknown' };
const refused: SentinelAnswer = { outcome: 'refused' };

test.each<[string, SentinelAnswer[], ReturnType<typeof decidePrimary>]>([
  ['all name the same server', [names(a), names(a), names(a)], { primary: a }],
  ['one of three is unreachable', [unreachable, names(a), names(a)], { primary: a }],
  ['one of three names the former primary', [names(a), names(b), names(b)], { primary: b }],
  ['one sentinel', [names(a)], { primary: a }],
  [
    'two of two disagree',
    [names(a), names(b), unreachable],
    { problem: 'sentinels disagree about the primary' },
  ],
  [
    'one of three knows one',
    [names(a), unknown, unknown],
    { problem: 'sentinels disagree about the primary' },
  ],
  ['a minority answers', [names(a), unreachable, unreachable], { problem: 'too few sentinels answer' }],
  ['half of them answer', [names(a), unreachable], { problem: 'too few sentinels answer' }],
  [
    'nobody knows the name',
    [unknown, unreachable, unknown],
    { problem: 'sentinels do not know the primary' },
  ],
  ['they are no sentinels', [refused, refused, unreachable], { problem: 'sentinels refuse the question' }],
  ['nobody answers', [unreachable, unreachable], { problem: 'too few sentinels answer' }],
])('%s', (_name, answers, located) => {
  expect(decidePrimary(answers)).toEqual(located);
});
