/**
 * The systems outside that the agents reach: a model, an SMTP server and an HTTP service. Each notes every
 * request, also those whose answer nobody gets, and lets scenes hold it (`gates.ts`).
 *
 * Points: `model K arrives`, `model K half` (of its answer), `TOOL arrives` (before its effect), `mail
 * received` (after it, before the answer).
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { listen, readBody, sendJson } from '../../support/network/listen.ts';
import { openaiWire } from '../../support/providers/openai/wire.ts';
import type { Effect, ModelRequest } from './seen.ts';
import type { Gates } from './gates.ts';
import { answerTo, placeOf, type ChatMessage } from './model.ts';

export type Wire = {
  modelURL: string;
  httpURL: string;
  smtpPort: number;
  requests: ModelRequest[];
  effects: Effect[];
  close(): Promise<void>;
};

export async function startWire(gates: Gates): Promise<Wire> {
  const requests: ModelRequest[] = [];
  const effects: Effect[] = [];
  const model = await listen((request, response) => askModel({ gates, requests }, request, response));
  const http = await listen(async (request, response) => {
    const { scene } = JSON.parse(await readBody(request)) as { scene: string };
    const tool = (request.url ?? '').slice(1);
    await gates.pass(scene, `${tool} arrives`);
    effects.push({ scene, tool, key: keyOf(request) });
    sendJson(response, 200, { done: scene });
  });
  const mail = await startMail(gates, effects);
  return {
    modelURL: `${model.url}/v1`,
    httpURL: http.url,
    smtpPort: mail.port,
    requests,
    effects,
    close: async () => {
      await Promise.all([model.close(), http.close(), mail.close()]);
    },
  };
}

const keyOf = ({ headers }: IncomingMessage): string => String(headers['idempotency-key']);

async function askModel(
  { gates, requests }: { gates: Gates; requests: ModelRequest[] },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = JSON.parse(await readBody(request)) as { messages: ChatMessage[]; max_tokens?: number };
  const { scene, step } = placeOf(body.messages);
  const noted: ModelRequest = {
    scene,
    step,
    key: keyOf(request),
    isAnswered: false,
    messages: body.messages,
  };
  requests.push(noted);
  await gates.pass(scene, `model ${step} arrives`);
  const pieces = openaiWire.piecesOf(answerTo(body.messages), body);
  const half = Math.floor(pieces.length / 2);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const piece of pieces.slice(0, half)) response.write(piece);
  await gates.pass(scene, `model ${step} half`);
  if (response.destroyed) return;
  for (const piece of pieces.slice(half)) response.write(piece);
  noted.isAnswered = true;
  response.end();
}

/** The scene is the mailbox. A mail has its effect when all of it has come, before the answer. */
async function startMail(
  gates: Gates,
  effects: Effect[],
): Promise<{ port: number; close: () => Promise<void> }> {
  const smtp = new SMTPServer({
    disableReverseLookup: true,
    authOptional: true,
    closeTimeout: 100,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: ({ address }, _session, done) => {
      const admit = async (): Promise<void> => {
        await gates.pass(sceneOf(address), 'mail arrives');
        done();
      };
      void admit();
    },
    onData: (stream, session, respond) => {
      const receive = async (): Promise<void> => {
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        const scene = sceneOf(session.envelope.rcptTo[0]?.address ?? '');
        const { messageId = '' } = await PostalMime.parse(Buffer.concat(chunks));
        effects.push({ scene, tool: 'mail', key: messageId });
        await gates.pass(scene, 'mail received');
        respond();
      };
      receive().catch(respond);
    },
  });
  // Clients that are killed reset their connections.
  smtp.on('error', () => undefined);
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  return {
    port: (smtp.server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        smtp.close(resolve);
      }),
  };
}

const sceneOf = (address: string): string => address.split('@')[0] ?? '';
