/** A model that writes as much and as soon as it is told, and the workflow that asks it. */
import { setTimeout as delay } from 'node:timers/promises';
import { listen, sendJson } from '../support/network/listen.ts';

const PIECE = `${'Thank you for your order of two lamps and a compass. '.repeat(19).slice(0, 1_022)}\n\n`;
const EVERY_MS = 20;

export type Writer = {
  baseURL: string;
  /** Lets the answer begin that waits, or the next one. */
  begin(): void;
  /** Lets that answer end. The one after it waits again. */
  finish(): void;
  close(): Promise<void>;
};

/** A model whose every answer is pieces of 1 kB, from `begin` on; its end waits for `finish`. */
export async function startWriter(pieces: number): Promise<Writer> {
  let gates = newGates();
  const server = await listen(
    async (request, response) => {
      request.resume();
      // What a credential is tried with.
      if (request.method === 'GET') return sendJson(response, 200, { object: 'list', data: [] });
      const { begun, finished } = gates;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (choice: object): void => {
        const chunk = { id: 'w', object: 'chat.completion.chunk', created: 0, model: 'writer' };
        response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, ...choice }] })}\n\n`);
      };
      await begun.promise;
      for (let at = 0; at < pieces; at += 1) {
        send({ delta: { content: PIECE }, finish_reason: null });
        await delay(EVERY_MS);
      }
      await finished.promise;
      send({ delta: {}, finish_reason: 'stop' });
      response.end('data: [DONE]\n\n');
    },
    { port: 0, host: '127.0.0.1' },
  );
  return {
    baseURL: `${server.url}/v1`,
    begin: () => gates.begun.resolve(),
    finish: () => {
      gates.finished.resolve();
      gates = newGates();
    },
    close: () => server.close(),
  };
}

function newGates() {
  return { begun: Promise.withResolvers<void>(), finished: Promise.withResolvers<void>() };
}

/** The workflow `writer`, which asks that model when it is called, and its credential. */
export function writerObjects({ baseURL }: Writer): object[] {
  const object = (kind: string, spec: object) => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind,
    metadata: { name: 'writer' },
    spec,
  });
  const agent = { credential: 'writer', model: 'writer', prompt: 'Write.' };
  return [
    object('Credential', { openai: { baseURL, apiKeyRef: { name: 'accounts', key: 'model-api-key' } } }),
    object('Workflow', {
      active: true,
      nodes: [
        { id: 'trigger', webhook: { path: 'write' } },
        { id: 'agent_1', agent },
      ],
    }),
  ];
}
