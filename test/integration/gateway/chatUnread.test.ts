/** Clients of a chat that stop reading. */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Runner } from '../../../runner/runner.ts';
import { AGENT, sendMessage, startChatHarness, type ChatHarness } from '../../support/gateway/chatHarness.ts';
import { PROJECT } from '../../support/gateway/gatewayHarness.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { pollUntil } from '../../support/time/poll.ts';

/** One caller of a project may wait at a time. */
const LIMITS = { waiting: 2, unreadSeconds: 1, chatPerAddress: { requestsPerSecond: 0 } };
/** In JSON six bytes each: the texts of all attempts are more than the buffers of a connection take. */
const PIECE = '\u0001'.repeat(60_000);
const PIECES = 8;
const ATTEMPTS = 6;

let harness: ChatHarness;
let runner: Runner;
let page: string;
beforeAll(async () => {
  harness = await startChatHarness({ env: { LIMITS: JSON.stringify(LIMITS) } });
  page = await harness.putChat('support', {}, [
    { ...AGENT, retry: { limit: ATTEMPTS - 1, backoff: { initial: '0s' } } },
  ]);
  harness.model.pause(true);
  runner = startTestRunner(harness.runs, PROJECT, { credentials: harness.credentials });
});
afterAll(async () => {
  await runner?.stop(0);
  await harness?.close();
});

/** Sends a message on a connection that reads nothing of the answer. */
function sendWithoutReading(): Socket {
  const { hostname, port, pathname } = new URL(page);
  const body = JSON.stringify({ message: 'Hello', id: randomUUID() });
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  const lines = [
    `POST ${pathname}/messages HTTP/1.1`,
    'Host: chat',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

test('a client that stops reading is disconnected, and its place is free for another one', async () => {
  const stuck = sendWithoutReading();
  let asked = await harness.model.next();
  const refused = await sendMessage(page);
  expect(refused.status).toBe(503);
  await refused.body?.cancel();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    for (let count = 0; count < PIECES; count += 1) asked.say(PIECE);
    if (attempt === ATTEMPTS) asked.finish();
    else asked.breakOff();
    if (attempt < ATTEMPTS) asked = await harness.model.next();
  }
  harness.model.pause(false);
  const accepted = await pollUntil(
    'a free place',
    async () => {
      const response = await sendMessage(page, { accept: 'application/json' });
      if (response.status !== 503) return response;
      await response.body?.cancel();
      return undefined;
    },
    { timeoutMs: 20_000, everyMs: 100 },
  );
  expect([accepted.status, await accepted.json()]).toEqual([200, { text: 'You said: Hello' }]);
  stuck.destroy();
});
