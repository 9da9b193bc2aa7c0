/**
 * An HTTP service for tests that does as it is asked and remembers it: every request to another path is answered with
 * `{"ok": true}` and listed by `GET /calls` with its body and its `Idempotency-Key`. A request counts from the moment its body is in.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson } from './listen.ts';

export type ReceivedCall = {
  method: string;
  path: string;
  body: string;
  idempotencyKey: string | undefined;
};

async function take(request: IncomingMessage, response: ServerResponse, calls: ReceivedCall[]) {
  const { method = '', url: path = '' } = request;
  if (path === '/healthz') return void response.writeHead(200).end('ok');
  if (method === 'GET' && path === '/calls') return sendJson(response, 200, calls);
  const idempotencyKey = request.headers['idempotency-key'] as string | undefined;
  calls.push({ method, path, body: await readBody(request), idempotencyKey });
  return sendJson(response, 200, { ok: true });
}

async function main(env: Record<string, string | undefined>): Promise<void> {
  const calls: ReceivedCall[] = [];
  const { port } = await listen((request, response) => take(request, response, calls), {
    port: Number(env['PORT'] ?? 8081),
    host: env['HOST'] ?? '0.0.0.0',
  });
  console.log(JSON.stringify({ msg: 'HTTP sink listens', port }));
  process.once('SIGTERM', () => process.exit(0));
}

if (import.meta.main) await main(process.env);
