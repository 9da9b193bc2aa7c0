import { expect, test } from 'vitest';
import { createStartRequests, type StartRequest } from './startRequests.ts';

test('a second click in the same instant sends nothing', async () => {
  const requests = createStartRequests();
  const sent: StartRequest[] = [];
  const click = () =>
    requests.run('resume', async (request) => {
      sent.push(request);
      return 'orders-2';
    });
  expect(await Promise.all([click(), click()])).toEqual(['orders-2', undefined]);
  expect(sent).toHaveLength(1);
});

test('a request that is sent again after a failure has the same key; one after a success has another', async () => {
  const requests = createStartRequests();
  const sent: string[] = [];
  const click = (action: string, fails = false) =>
    requests.run(action, async ({ id }) => {
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
