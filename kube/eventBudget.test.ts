import { expect, test } from 'vitest';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { createEventBudget } from './eventBudget.ts';

function start() {
  const clock = createManualClock();
  const budget = createEventBudget(clock);
  let last = 0;
  /** How many of so many different Events of the namespace are written. */
  const written = (namespace: string, count: number): number =>
    Array.from({ length: count }, () => budget.take(namespace, `${(last += 1)}`)).filter(
      (answer) => answer === 'write',
    ).length;
  return { clock, budget, written };
}

test('a namespace that floods leaves the others half of what may come at once, and nine tenths of the rate', async () => {
  const { clock, written } = start();
  expect(written('flood', 500)).toBe(25);
  expect(written('shop', 20)).toBe(20);
  await clock.advance(100_000);
  expect(written('flood', 500)).toBe(10);
  expect(written('shop', 500)).toBe(15);
  expect(written('bank', 500)).toBe(25);
});

test('all namespaces together write fifty at once, and one a second after that', async () => {
  const { clock, written } = start();
  const flood = (): number => {
    const namespaces = Array.from({ length: 20 }, (_, index) => `project-${index}`);
    return namespaces.reduce((sum, namespace) => sum + written(namespace, 20), 0);
  };
  expect(flood()).toBe(50);
  await clock.advance(10_000);
  expect(flood()).toBe(10);
});

test('the same Event is written once in two minutes, and repeats take no room of others', async () => {
  const { clock, budget, written } = start();
  const answers = Array.from({ length: 100 }, () => budget.take('shop', 'same'));
  expect(new Set(answers.slice(1))).toEqual(new Set(['repeated']));
  expect(written('shop', 24)).toBe(24);
  await clock.advance(120_000);
  expect(budget.take('shop', 'same')).toBe('write');
});

test('an Event that was left out is not remembered as written', async () => {
  const { clock, budget, written } = start();
  written('shop', 25);
  expect(budget.take('shop', 'late')).toBe('drop');
  await clock.advance(10_000);
  expect(budget.take('shop', 'late')).toBe('write');
});

test('what the bound of all namespaces drops takes nothing of the namespace', async () => {
  const { clock, written } = start();
  for (const namespace of ['a', 'b']) written(namespace, 25);
  expect(written('shop', 10)).toBe(0);
  await clock.advance(25_000);
  expect(written('shop', 500)).toBe(25);
});
