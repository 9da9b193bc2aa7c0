import { expect, test } from 'vitest';
import { createSingleFlight } from './singleFlight.ts';

/** Answers when it is told to, with how often it was asked. */
function createQuestion() {
  const answers: (() => void)[] = [];
  let asked = 0;
  return {
    ask: () => {
      asked += 1;
      const answer = asked;
      return new Promise<number>((resolve) => answers.push(() => resolve(answer)));
    },
    answer: () => answers.shift()?.(),
    asked: () => asked,
  };
}

test('those who ask while it is being asked share the next answer', async () => {
  const shared = createSingleFlight<number>();
  const { ask, answer, asked } = createQuestion();
  const first = shared('a', ask);
  const later = [shared('a', ask), shared('a', ask)];
  answer();
  expect(await first).toBe(1);
  answer();
  expect(await Promise.all(later)).toEqual([2, 2]);
  expect(asked()).toBe(2);
});

test('another question is asked at once, and an answered one again', async () => {
  const shared = createSingleFlight<number>();
  const { ask, answer } = createQuestion();
  const both = [shared('a', ask), shared('b', ask)];
  answer();
  answer();
  expect(await Promise.all(both)).toEqual([1, 2]);
  const again = shared('a', ask);
  answer();
  expect(await again).toBe(3);
});

test('whoever asks beside one that fails is answered', async () => {
  const shared = createSingleFlight<string>();
  const failing = shared('a', () => Promise.reject(new Error('away')));
  const next = shared('a', () => Promise.resolve('here'));
  await expect(failing).rejects.toThrow('away');
  expect(await next).toBe('here');
});
