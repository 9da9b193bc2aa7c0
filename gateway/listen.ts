/**
 * Starts and stops listeners. A replica that shuts down finishes every request that it has started to answer.
 */
import type { FastifyInstance } from 'fastify';
import { sleep } from '../kube/clock.ts';

/**
 * Listens on an address or on all: IPv6 with IPv4, or IPv4 alone if the kernel has no IPv6. Returns the port.
 */
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
  /** How long requests are still accepted. Each answer closes its connection. */
  drainMs: number;
  /** How long answers in progress are awaited after that. */
  closeMs: number;
  /** Called between the two: ends what would not end by itself. */
  onDrained: () => void;
};

const CHECK_INTERVAL_MS = 50;

/**
 * Serves on during the drain, while clients learn to go elsewhere: an aborted `GatewayDeps.draining` closes
 * each connection with its next answer. Then closes idle connections at once, and the others when they are
 * answered or the time is over.
 */
export async function closeGracefully(apps: FastifyInstance[], options: CloseOptions): Promise<void> {
  await sleep(options.drainMs);
  options.onDrained();
  const overdue = setTimeout(
    () => apps.forEach(({ server }) => server.closeAllConnections()),
    options.closeMs,
  );
  // An answer that started before the drain may leave its connection open.
  const answered = setInterval(
    () => apps.forEach(({ server }) => server.closeIdleConnections()),
    CHECK_INTERVAL_MS,
  );
  await Promise.all(apps.map((app) => app.close()));
  clearInterval(answered);
  clearTimeout(overdue);
}
