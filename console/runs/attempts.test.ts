import { expect, test } from 'vitest';
import { createAttempts, type Attempt } from './attempts.ts';

test('a second click in the same instant sends nothing', async () => {
  const attempts = createAttempts();
  const sent: Attempt[] = [];
  const click = () =>
    attempts.run('resume', async (attempt) => {
      sent.push(attempt);
      return 'orders-2';
    });
  expect(await Promise.all([click(), click()])).toEqual(['orders-2', undefined]);
  expect(sent).toHaveLength(1);
});

test('a request that is sent again after a failure has the same key; one after a success has another', async () => {
  const attempts = createAttempts();
  const sent: string[] = [];
  const click = (action: string, fails = false) =>
    attempts.run(action, async ({ id }) => {
      sent.push(id);
      if (fails) throw new Error('no answer');
    });
  await expect(click('resume', true)).rejects.toThrow('no answer');
  await click('again');
  await click('resume');
  await click('resume');
  const [failed, other, repeated, next] = sent;
  expect(repeated).toBe(failed);
  expect(new Set([failed, other, next]).size).toBe(3);
});
