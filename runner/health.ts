/** What Kubernetes and Prometheus ask a runner: /healthz, /readyz and /metrics, on a port of their own. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';

export type HealthOptions = {
  port: number;
  registry: Registry;
  /** Why the runner cannot execute runs now; undefined when it can. */
  unready: () => string | undefined;
};

/**
 * Serves until the server is closed. The process lives, so /healthz says so: a hung one is ended by its beat.
 */
export async function serveHealth({ port, registry, unready }: HealthOptions): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/healthz') response.end('ok\n');
    else if (request.url === '/readyz') {
      const reason = unready();
      response.writeHead(reason ? 503 : 200).end(`${reason ?? 'ok'}\n`);
    } else if (request.url === '/metrics') {
      registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    } else response.writeHead(404).end();
  });
  // Whoever asks many times and reads no answer would fill the memory: every pod of the cluster may ask.
  server.maxRequestsPerSocket = 1;
  server.on('dropRequest', (_request, socket) => socket.destroy());
  server.listen(port);
  await once(server, 'listening');
  return server;
}
