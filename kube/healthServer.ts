/**
 * The HTTP server of a program for Kubernetes and Prometheus: `/healthz`, `/readyz`, `/metrics`, and paths of
 * the program itself.
 */
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

// An import of the module reads all that it exports, and with it loads fetch and WebSocket of Node.
const { createServer } = process.getBuiltinModule('node:http');

export type HealthServerOptions = {
  /** 0: any free port. */
  port: number;
  /** Why the program is not ready; undefined if it is. */
  unready: () => string | undefined;
  registry: Registry;
  /** Answers a path of the program; undefined for all others. */
  answerPath?: (path: string) => HealthAnswer | undefined;
};

export type HealthAnswer = { status: number; text: string; headers?: Record<string, string> };

/** Serves the paths until the server is closed. `/healthz` is 200 as long as the process responds. */
export async function serveHealth(options: HealthServerOptions): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    answer(request.url ?? '', response, options).catch(() =>
      send(response, 500, 'cannot read the metrics\n'),
    );
  });
  // Every pod of the cluster may connect: pipelined requests without reading the answers would fill the
  // memory.
  server.maxRequestsPerSocket = 1;
  server.on('dropRequest', (_request, socket) => socket.destroy());
  server.listen(options.port);
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function answer(url: string, response: ServerResponse, options: HealthServerOptions): Promise<void> {
  const [path] = url.split('?', 1);
  if (path === '/healthz') return send(response, 200, 'ok\n');
  if (path === '/readyz') {
    const reason = options.unready();
    return send(response, reason === undefined ? 200 : 503, `${reason ?? 'ok'}\n`);
  }
  if (path === '/metrics')
    return send(response, 200, await options.registry.metrics(), {
      'content-type': options.registry.contentType,
    });
  const { status, text, headers } = options.answerPath?.(path ?? '') ?? NOT_FOUND;
  send(response, status, text, headers);
}

const NOT_FOUND: HealthAnswer = { status: 404, text: 'not found\n' };

function send(response: ServerResponse, status: number, text: string, headers = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers });
  response.end(text);
}
