import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/support/time/manualClock.ts';
import type { Identified, CallerCredentials } from '../../access/access.ts';
import { createCallers } from './callers.ts';

function start() {
  const asked: (string | undefined)[] = [];
  const state = { answer: { outcome: 'known', identity: { username: 'ada' } } as Identified };
  const identify = async ({ authorization }: CallerCredentials) => {
    asked.push(authorization);
    return state.answer;
  };
  const clock = createManualClock();
  const callers = createCallers({ identify }, clock);
  const admit = (authorization: string | undefined) => callers.admit({ authorization, address: '192.0.2.7' });
  return { asked, state, clock, callers: { ...callers, admit } };
}

test('a token is reviewed once, and again after the API server refused it', async () => {
  const { asked, callers } = start();
  const caller = await callers.admit('Bearer good');
  expect(caller).toMatchObject({ token: 'good' });
  await callers.admit('Bearer good');
  expect(asked).toEqual(['Bearer good']);
  if (typeof caller === 'string') throw new Error(caller);
  callers.answered(caller, 403);
  await callers.admit('Bearer good');
  expect(asked).toHaveLength(1);
  callers.answered(caller, 401);
  await callers.admit('Bearer good');
  expect(asked).toHaveLength(2);
});

test.each([
  ['unauthorized', 'unauthorized'],
  ['unavailable', 'cluster-unavailable'],
  ['too-often', 'cluster-unavailable'],
] as const)('a caller that is %s gets the problem %s, after a review each time', async (outcome, code) => {
  const { asked, state, callers } = start();
  state.answer = { outcome };
  expect(await callers.admit('Bearer bad')).toBe(code);
  expect(await callers.admit('Bearer bad')).toBe(code);
  expect(asked).toHaveLength(2);
});

test.each([undefined, '', 'Basic YTpi', 'Bearer', 'Bearer a, Bearer b', 'Bearer a\r\nx: y'])(
  'the header %j has no token, and causes no review',
  async (header) => {
    const { asked, callers } = start();
    expect(await callers.admit(header)).toBe('unauthorized');
    expect(asked).toEqual([]);
  },
);
