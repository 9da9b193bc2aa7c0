import { expect, test } from 'vitest';
import { checkInRound, checkWithin, type Watched } from './resting.ts';

const SECOND = 1_000;

function sleeping(checkAt = Infinity): Watched {
  const state = { isAsleep: true, quietSince: undefined, activity: '7' };
  return { uid: 'uid', state, checkAt, messages: undefined, listensAt: 0 };
}

test('projects that were read at different times are read together the next time, within half a minute', () => {
  const times = [0, 3_700, 12_000, 29_800].map((now) => {
    const project = sleeping();
    checkInRound(project, now);
    return project.checkAt;
  });
  expect(times).toEqual([30, 30, 30, 30].map((seconds) => seconds * SECOND));
});

test('a project that a timer read a moment too early is not read twice', () => {
  const project = sleeping();
  checkInRound(project, 29_950);
  expect(project.checkAt).toBe(60 * SECOND);
});

test('what is due before the next round is not put off by it', () => {
  const project = sleeping();
  checkWithin(project, 1_000, 7_000);
  checkInRound(project, 1_000);
  expect(project.checkAt).toBe(8_000);
});
