/** Arguments of tool calls from a hostile model. */
import { expect, test } from 'vitest';
import { parseExact } from '../../api/exact/exactNumber.ts';
import { argumentsOf } from '../models/arguments.ts';
import { toolsOf } from '../tools.ts';
import { parametersOf } from './tools.ts';

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const callOf = (given: string) => ({ id: '1', name: 'refund', arguments: given });
const [refund] = toolsOf({ tools: [{ workflow: 'refund' }] });

function read(given: string) {
  if (!refund) throw new Error('there is no tool');
  return parametersOf(refund, {}, callOf(given));
}

test.each<[what: string, given: string, says: string]>([
  ['broken JSON', '{"input":', 'the arguments are not valid JSON'],
  ['a list', '[1]', 'the arguments are not a JSON object'],
  ['65 levels', nested(65), 'the arguments are nested more than 64 levels deep'],
  ['15,000 levels in 32 KiB', '['.repeat(15_000) + ']'.repeat(15_000), 'more than 64 levels deep'],
  ['3,000 levels', `{"input":${nested(3_000)}}`, 'more than 64 levels deep'],
  ['a lone surrogate', String.raw`{"input":{"a":"\ud800"}}`, 'unpaired surrogate'],
  ['a lone surrogate that is not escaped', '{"input":{"a":"\ud800"}}', 'unpaired surrogate'],
  ['a lone surrogate in a key', String.raw`{"input":{"\udc00":1}}`, 'unpaired surrogate'],
  ['the key __proto__', '{"input":{"__proto__":{"isAdmin":true}}}', 'The key __proto__'],
  ['constructor.prototype', '{"input":{"constructor":{"prototype":{}}}}', 'prototype inside constructor'],
  ['a key twice', '{"input":{"a":1,"a":2}}', 'the same key twice'],
  ['a number beyond a double', '{"input":{"a":1e999999}}', 'beyond the range of a double'],
])('the model is told what is wrong with %s', (_what, given, says) => {
  expect(read(given)).toEqual({ problem: expect.stringContaining(says) as string });
});

test.each([
  `{"input":${nested(63)}}`,
  '{"input":{"constructor":"Ada","toString":1}}',
  String.raw`{"input":{"id":12345678901234567890,"text":"\ud83d\ude00"}}`,
])('arguments that run are sent back to the model as they were: %#', (given) => {
  expect(read(given)).toHaveProperty('parameters');
  expect(argumentsOf(callOf(given))).toEqual(parseExact(given));
});
