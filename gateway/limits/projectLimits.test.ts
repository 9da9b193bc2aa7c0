import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { pollUntil } from '../../test/support/poll.ts';
import { createLanes } from './projectLimits.ts';

test('a project with as many as there may be waits, in order, and others do not', async () => {
  const lanes = createLanes({ most: 2 });
  const entered: string[] = [];
  const enter = (project: string, name: string) =>
    lanes.enter(project).then((mayEnter) => mayEnter && entered.push(name));
  for (const name of ['a1', 'a2', 'a3', 'a4']) void enter('a', name);
  void enter('b', 'b1');
  await nextTurn();
  expect(entered).toEqual(['a1', 'a2', 'b1']);
  lanes.leave('a');
  await nextTurn();
  expect(entered).toEqual(['a1', 'a2', 'b1', 'a3']);
  lanes.leave('a');
  await nextTurn();
  expect(entered.at(-1)).toBe('a4');
});

test('whoever has waited for too long is told so as soon as there is room, and takes none', async () => {
  const lanes = createLanes({ most: 1, maxWaitMs: 20 });
  expect(await lanes.enter('a')).toBe(true);
  const begin = performance.now();
  const late = [lanes.enter('a'), lanes.enter('a')];
  await pollUntil('both being late', () => performance.now() - begin > 20, { timeoutMs: 1_000, everyMs: 5 });
  lanes.leave('a');
  expect(await Promise.all(late)).toEqual([false, false]);
  expect(await lanes.enter('a')).toBe(true);
});
