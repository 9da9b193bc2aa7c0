/** Listening and closing: a replica that goes away drops no request that it has begun to answer. */
import type { FastifyInstance } from 'fastify';
import { sleep } from '../kube/clock.ts';

/** Listens on an address, or on all: IPv6 with IPv4, or IPv4 alone where the kernel has no IPv6. Returns the port. */
export async function listen(app: FastifyInstance, port: number, host: string | undefined): Promise<number> {
  try {
    await app.listen({ port, host: host ?? '::' });
  } catch (error) {
    if (host !== undefined || (error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error;
    await app.listen({ port, host: '0.0.0.0' });
  }
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

export type CloseOptions = {
  /** How long requests are still taken. */
  drainMs: number;
  /** How long answers that are under way are waited for after that. */
  closeMs: number;
  /** Called between the two: ends what would never end by itself. */
  onDrained: () => void;
};

/**
 * Tells every client that is served to close its connection, goes on serving for the drain, then closes: idle connections
 * at once, the others when they are answered, or when the time is over.
 */
export async function closeGently(apps: FastifyInstance[], options: CloseOptions): Promise<void> {
  for (const { server } of apps) {
    server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  }
  await sleep(options.drainMs);
  options.onDrained();
  const overdue = setTimeout(
    () => apps.forEach(({ server }) => server.closeAllConnections()),
    options.closeMs,
  );
  await Promise.all(apps.map((app) => app.close()));
  clearTimeout(overdue);
}
