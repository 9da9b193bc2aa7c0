/**
 * `examples/bot-answer` as it lies there, from a message to the answer: with every program, a model and a
 * Telegram that speak the protocols.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer } from '../../support/providers/model/modelServer.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startTelegramServer, type TelegramServer } from '../../support/providers/telegram/telegramServer.ts';
import { startWholeSystem, type WholeSystem } from '../../support/system/wholeSystem.ts';

const folder = join(import.meta.dirname, '../../../examples/bot-answer');

let system: WholeSystem;
let model: Awaited<ReturnType<typeof startModelServer>>;
let telegram: TelegramServer;

beforeAll(async () => {
  [system, model, telegram] = await Promise.all([
    startWholeSystem({ triesCredentials: true }),
    startModelServer({ port: 0, host: '127.0.0.1', delayMs: 0 }),
    startTelegramServer({ isLocal: true }),
  ]);
}, 600_000);
afterAll(() => Promise.all([system?.stop(), model?.close(), telegram?.close()]));

test('a message to the bot is answered into its chat, and switched off nothing is left at Telegram', async () => {
  const { harness, gateway, namespace } = system;
  const texts = await Promise.all(
    ['accounts.yaml', 'workflow.yaml'].map((name) => readFile(join(folder, name), 'utf8')),
  );
  const manifest = texts
    .join('\n---\n')
    .replace('http://telegram.windlass-demo.svc:8081', telegram.url)
    .replace('http://model.windlass-demo.svc:8080', `http://127.0.0.1:${model.port}`);
  await harness.apply(namespace, manifest);
  await harness.waitFor(namespace, 'bot-answer', { type: 'Ready', status: 'True' }, 60_000);
  const { url, secretToken = '' } = telegram.webhook();
  const chat = { id: 1_001, type: 'private', first_name: 'Ada' };
  const message = { message_id: 1, date: 1_700_000_000, chat, from: chat, text: 'Where is my lamp?' };
  for (let times = 0; times < 2; times += 1) {
    const answer = await fetch(gateway.publicURL + new URL(url).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secretToken },
      body: JSON.stringify({ update_id: 1, message }),
    });
    expect(answer.status).toBe(200);
  }
  await pollUntil('an answer of the bot', () => telegram.sent.length > 0, { timeoutMs: 60_000 });
  await harness.apply(namespace, manifest.replace('active: true', 'active: false'));
  await pollUntil('the webhook being deleted', () => telegram.webhook().url === '', { timeoutMs: 60_000 });
  expect(telegram.sent).toEqual([{ chatId: 1_001, text: expect.stringMatching(/\S/), parseMode: undefined }]);
}, 180_000);
