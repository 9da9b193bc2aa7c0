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
  /** How long requests are still taken, each with an answer that ends its connection. */
  drainMs: number;
  /** How long answers that are under way are waited for after that. */
  closeMs: number;
  /** Called between the two: ends what would never end by itself. */
  onDrained: () => void;
};

/** How often connections that were answered are looked for. */
const LOOK_MS = 50;

/**
 * Goes on serving for the drain, while whoever sends requests here learns that it should not (an aborted
 * `GatewayDeps.draining` ends each connection with its next answer). Then closes: idle connections at once, the others when
 * they are answered, or when the time is over.
 */
export async function closeGently(apps: FastifyInstance[], options: CloseOptions): Promise<void> {
  await sleep(options.drainMs);
  options.onDrained();
  const overdue = setTimeout(
    () => apps.forEach(({ server }) => server.closeAllConnections()),
    options.closeMs,
  );
  // An answer that had begun before may leave its connection open.
  const answered = setInterval(() => apps.forEach(({ server }) => server.closeIdleConnections()), LOOK_MS);
  await Promise.all(apps.map((app) => app.close()));
  clearInterval(answered);
  clearTimeout(overdue);
}
