/**
 * An HTTP service for tests that does as it is asked and remembers it: every request to another path is
 * answered with `{"ok": true}` and the run that its `Idempotency-Key` names, and listed by `GET /calls` with
 * its body, that key and its time. A request counts from the moment its body is in.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson, type Listening } from '../../network/listen.ts';

export type ReceivedCall = {
  method: string;
  path: string;
  body: string;
  idempotencyKey: string | undefined;
  /** By the wall clock, in milliseconds. */
  at: number;
};

/** The run in a key of Windlass: `<project>/<run>/<node>/<attempt>`. */
const runIn = (key = ''): string | undefined => key.split('/')[1];

async function take(request: IncomingMessage, response: ServerResponse, calls: ReceivedCall[]) {
  const { method = '', url: path = '' } = request;
  if (path === '/healthz') return void response.writeHead(200).end('ok');
  if (method === 'GET' && path === '/calls') return sendJson(response, 200, calls);
  const idempotencyKey = request.headers['idempotency-key'] as string | undefined;
  const body = await readBody(request);
  calls.push({ method, path, body, idempotencyKey, at: Date.now() });
  return sendJson(response, 200, { ok: true, run: runIn(idempotencyKey) });
}

/** Starts it, on a free port of 127.0.0.1 unless another is named. */
export function startHttpSink(options: { port?: number; host?: string } = {}): Promise<Listening> {
  const calls: ReceivedCall[] = [];
  return listen((request, response) => take(request, response, calls), options);
}

async function main(env: Record<string, string | undefined>): Promise<void> {
  const { port } = await startHttpSink({
    port: Number(env['PORT'] ?? 8081),
    host: env['HOST'] ?? '0.0.0.0',
  });
  console.log(JSON.stringify({ msg: 'HTTP sink listens', port }));
  process.once('SIGTERM', () => process.exit(0));
}

if (import.meta.main) await main(process.env);
