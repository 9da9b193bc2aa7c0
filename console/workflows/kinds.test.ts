import { expect, test } from 'vitest';
import { refusedOptions } from './kinds.ts';

const NONE: string[] = [];
const OF_CALLS = ['timeout', 'retry', 'effect'];

test.each([
  ['an agent', { agent: { credential: 'model', model: 'm', prompt: 'p' } }, NONE],
  ['a skill', { skill: { name: 'send_email' } }, NONE],
  ['the skill set', { skill: { name: 'set' } }, OF_CALLS],
  ['code', { code: { source: 'return 1;' } }, OF_CALLS],
  ['a response', { response: { body: 'ok' } }, OF_CALLS],
  ['a fail node', { fail: { reason: 'Failed', message: 'no' } }, [...OF_CALLS, 'onError', 'forEach']],
  ['a trigger', { webhook: { path: 'x' } }, [...OF_CALLS, 'onError', 'forEach']],
])('%s is offered no option that the API server refuses', (_sentence, kind, refused) => {
  expect(refusedOptions({ id: 'a', ...kind })).toEqual(refused);
});
