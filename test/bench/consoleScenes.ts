/** What the console is measured with: long lists, and a model that writes as much and as soon as it is told. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { listen, sendJson } from '../support/listen.ts';

type Row = { cells: unknown[]; object: { metadata: { name: string; uid?: string } } };
type Table = { metadata: { continue?: string }; rows: Row[] };

/** Lists of this kind have that many rows: the real ones, over and over under other names. */
export async function withRows(page: Page, plural: string, total: number): Promise<void> {
  const list = new RegExp(`/kube/[^?]*/${plural}(\\?|$)`);
  await page.route(list, async (route) => {
    const answer = await route.fetch();
    const table = (await answer.json()) as Table;
    if (!Array.isArray(table.rows) || table.rows.length === 0) return route.fulfill({ response: answer });
    const rows = Array.from({ length: total }, (_, at) => copyOf(table.rows, at));
    const metadata = { ...table.metadata, continue: '' };
    await route.fulfill({ response: answer, json: { ...table, metadata, rows } });
  });
}

function copyOf(rows: Row[], at: number): Row {
  const row = rows[at % rows.length];
  if (row === undefined) throw new Error('there is no row to copy');
  const { metadata } = row.object;
  const name = `${metadata.name}-${at}`;
  return {
    cells: [name, ...row.cells.slice(1)],
    object: { ...row.object, metadata: { ...metadata, name, uid: `${metadata.uid}-${at}` } },
  };
}

const PIECE = `${'Thank you for your order of two lamps and a compass. '.repeat(19).slice(0, 1_022)}\n\n`;
const EVERY_MS = 20;

export type Writer = { baseURL: string; begin(): void; finish(): void; close(): Promise<void> };

/** A model whose every answer is pieces of 1 kB, from `begin` on; its end is held back until `finish`. */
export async function startWriter(pieces: number): Promise<Writer> {
  const begun = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const server = await listen(
    async (request, response) => {
      request.resume();
      // What a credential is tried with.
      if (request.method === 'GET') return sendJson(response, 200, { object: 'list', data: [] });
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
    begin: begun.resolve,
    finish: finished.resolve,
    close: () => server.close(),
  };
}
