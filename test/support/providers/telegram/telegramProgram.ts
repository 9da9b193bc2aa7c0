/**
 * A program that is Telegram to the demo, and people who write to its bots: `POST /messages` with `{"text":
 * …}` is a message that Ada writes to the bot, answered with the status that the bot's webhook answered with
 * (null: there is none); `GET /messages` lists what bots wrote. `"bot"` is the number of another bot than
 * that of the example, and `"update"` that of the update: with the same one it is sent again.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson } from '../../network/listen.ts';
import { startTelegramServer, TELEGRAM_TOKEN, tokenOf, type TelegramServer } from './telegramServer.ts';

type Chat = { telegram: TelegramServer; gatewayURL: string | undefined; updates: number };

async function main(env: Record<string, string | undefined>): Promise<void> {
  const { PORT: port = '8081', MESSAGES_PORT: messagesPort = '8082', HOST: host = '0.0.0.0' } = env;
  const telegram = await startTelegramServer({ isLocal: true, anyNumber: true, port: Number(port), host });
  const chat: Chat = { telegram, gatewayURL: env['GATEWAY_URL'], updates: 0 };
  await listen((request, response) => use(chat, request, response), { port: Number(messagesPort), host });
  console.log(JSON.stringify({ msg: 'Telegram server listens', port }));
  process.once('SIGTERM', () => process.exit(0));
}

async function use(chat: Chat, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url } = request;
  if (url === '/healthz') response.writeHead(200).end('ok');
  else if (url !== '/messages') response.writeHead(404).end();
  else if (method === 'GET') sendJson(response, 200, chat.telegram.sent);
  else await write(chat, await readBody(request), response);
}

async function write(chat: Chat, body: string, response: ServerResponse): Promise<void> {
  const { text, bot, update } = JSON.parse(body) as { text: string; bot?: number; update?: number };
  const token = bot === undefined ? TELEGRAM_TOKEN : tokenOf(bot);
  const { url, secretToken = '' } = chat.telegram.webhook(token);
  if (url === '') return sendJson(response, 200, { status: null });
  chat.updates += 1;
  // The address of a node is not one of this machine where this is a pod.
  const reached = chat.gatewayURL === undefined ? url : chat.gatewayURL + new URL(url).pathname;
  const { status } = await fetch(reached, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secretToken },
    body: JSON.stringify(updateOf(text, update ?? seconds() * 100 + chat.updates)),
  });
  sendJson(response, 200, { status });
}

const seconds = () => Math.floor(Date.now() / 1_000);

/** https://core.telegram.org/bots/api#update */
function updateOf(text: string, id: number): object {
  const from = { id: 1_001, is_bot: false, first_name: 'Ada', username: 'ada' };
  const chat = { id: 1_001, type: 'private', first_name: 'Ada', username: 'ada' };
  const message = { message_id: id % 1_000_000, from, chat, date: seconds(), text };
  return { update_id: id, message };
}

if (import.meta.main) await main(process.env);
