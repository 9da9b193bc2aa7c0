import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { callJson, isPassing } from './call.ts';

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

async function serverThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers).listen(0, '127.0.0.1');
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/kube/`;
}

test.each<[string, RequestListener]>([
  ['without an answer', () => undefined],
  ['with an answer that does not end', (_request, response) => void response.write('{"kind":')],
  [
    'with an answer that breaks off',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"kind":', () => response.destroy());
    },
  ],
])('a call %s fails in time, and may be tried again', async (_what, answers) => {
  const url = await serverThat(answers);
  const failure: unknown = await callJson(url, { timeoutMs: 200 }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 0, title: 'Windlass cannot be reached' });
  expect(isPassing(failure)).toBe(true);
});
