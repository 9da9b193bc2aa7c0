/** The rate limits of chats in a gateway. Nothing executes the runs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  newSession,
  sendMessage,
  startChatHarness,
  type ChatHarness,
} from '../../support/gateway/chatHarness.ts';

const LIMITS = {
  chatPerSession: { requestsPerSecond: 1, burst: 2 },
  chatPerAddress: { requestsPerSecond: 1, burst: 8 },
};

let harness: ChatHarness;
let page: string;
beforeAll(async () => {
  harness = await startChatHarness({ env: { LIMITS: JSON.stringify(LIMITS) } });
  page = await harness.putChat('support');
});
afterAll(() => harness?.close());

/** The status of a message whose answer nobody awaits. */
async function statusOf(session: string): Promise<number> {
  const stop = new AbortController();
  const { status } = await sendMessage(page, { session, signal: stop.signal });
  stop.abort();
  return status;
}

test('a session, and an address with many sessions, may send only so many messages a second', async () => {
  const session = newSession();
  const same = [await statusOf(session), await statusOf(session), await statusOf(session)];
  // The first message is open.
  expect(same).toEqual([200, 409, 429]);
  const others: number[] = [];
  for (let count = 0; count < 12; count += 1) others.push(await statusOf(newSession()));
  expect(others[0]).toBe(200);
  expect(others.at(-1)).toBe(429);
  const refused = await sendMessage(page, { session: newSession() });
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
});
