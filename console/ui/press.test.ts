/** Effects wait for the end of a press. */
import { setImmediate as settled } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { afterPressesIn } from './press.ts';

function pressable() {
  const target = new EventTarget();
  const afterPress = afterPressesIn(target);
  const done: string[] = [];
  return {
    done,
    dispatch: (type: string) => target.dispatchEvent(new Event(type)),
    ask: (name: string) => afterPress(() => done.push(name)),
  };
}

test('an effect without a press is immediate', () => {
  const { ask, done } = pressable();
  ask('left with the Tab key');
  expect(done).toEqual(['left with the Tab key']);
});

test.each(['pointerup', 'pointercancel'])('during a press it follows what %s causes', async (end) => {
  const { ask, done, dispatch } = pressable();
  dispatch('pointerdown');
  ask('left');
  expect(done).toEqual([]);
  dispatch(end);
  done.push('clicked');
  await expect.poll(() => done).toEqual(['clicked', 'left']);
});

test('each effect runs once', async () => {
  const { ask, done, dispatch } = pressable();
  dispatch('pointerdown');
  ask('first');
  dispatch('pointerup');
  dispatch('pointerdown');
  dispatch('pointerup');
  ask('second');
  await settled();
  await expect.poll(() => done.toSorted()).toEqual(['first', 'second']);
});
