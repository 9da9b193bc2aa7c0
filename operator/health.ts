/** The operator's own port: `/healthz` (the process turns), `/readyz` (it sees the cluster), `/metrics`. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export type HealthSources = {
  /** Why the operator cannot do its work; undefined if it can, or stands by to do it. */
  unready: () => string | undefined;
  registry: Registry;
};

/** Serves the three paths. Returns the server and the port that it listens on. */
export async function serveHealth(
  port: number,
  sources: HealthSources,
): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    answer(request.url ?? '', response, sources).catch(() =>
      send(response, 500, 'the metrics cannot be read\n'),
    );
  });
  // Whoever asks many times and reads no answer would fill the memory: every pod of the cluster may ask.
  server.maxRequestsPerSocket = 1;
  server.on('dropRequest', (_request, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

async function answer(url: string, response: ServerResponse, sources: HealthSources): Promise<void> {
  const [path] = url.split('?', 1);
  if (path === '/healthz') return send(response, 200, 'ok\n');
  if (path === '/readyz') {
    const why = sources.unready();
    return send(response, why === undefined ? 200 : 503, `${why ?? 'ok'}\n`);
  }
  if (path !== '/metrics') return send(response, 404, 'not found\n');
  send(response, 200, await sources.registry.metrics(), sources.registry.contentType);
}

function send(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': type });
  response.end(text);
}
