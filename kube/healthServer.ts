/** The HTTP server of a program for Kubernetes and Prometheus: `/healthz`, `/readyz` and `/metrics`. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export type HealthServerOptions = {
  /** 0: any free port. */
  port: number;
  /** Why the program is not ready; undefined if it is. */
  unready: () => string | undefined;
  registry: Registry;
};

/** Serves the three paths until the server is closed. `/healthz` is 200 as long as the process responds. */
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
  if (path !== '/metrics') return send(response, 404, 'not found\n');
  send(response, 200, await options.registry.metrics(), options.registry.contentType);
}

function send(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': type });
  response.end(text);
}
