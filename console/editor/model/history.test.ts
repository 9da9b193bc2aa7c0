import { expect, test } from 'vitest';
import { rebaseHistory, historyOf, recorded, redone, undone } from './history.ts';

test('changes can be undone and redone', () => {
  const two = recorded(recorded(historyOf('a'), 'b', { at: 0 }), 'c', { at: 10 });
  const one = undone(two);
  expect(one?.present).toBe('b');
  expect(one && undone(one)?.present).toBe('a');
  expect(one && redone(one)?.present).toBe('c');
});

test('at the ends there is nothing to undo or redo', () => {
  expect(undone(historyOf('a'))).toBeUndefined();
  expect(redone(historyOf('a'))).toBeUndefined();
});

test('a change after undo drops the redo steps', () => {
  const back = undone(recorded(historyOf('a'), 'b', { at: 0 }));
  expect(back && recorded(back, 'c', { at: 5 }).future).toEqual([]);
});

test.each([
  ['typing in one field is one step', 'name', 500, 1],
  ['typing after a pause is another step', 'name', 1_500, 2],
  ['typing in another field is another step', 'prompt', 500, 2],
])('%s', (_what, key, at, steps) => {
  const first = recorded(historyOf('a'), 'ab', { key: 'name', at: 0 });
  expect(recorded(first, 'abc', { key, at }).past).toHaveLength(steps);
});

test('a change without effect is no step', () => {
  const history = historyOf('a');
  expect(recorded(history, 'a', { at: 0 })).toBe(history);
});

test('a change from elsewhere applies to every step, and steps that it does not fit are dropped', () => {
  const history = { past: ['a', 'odd', 'b'], present: 'c', future: ['d', 'odd', 'e'] };
  expect(rebaseHistory(history, 'c!', (step) => (step === 'odd' ? undefined : `${step}!`))).toEqual({
    past: ['b!'],
    present: 'c!',
    future: ['d!'],
  });
});
