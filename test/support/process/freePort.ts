/** Ports for servers that are told which one to take. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those of clusters. */
const FIRST = 20_000;
const BEYOND = 30_000;
const given = new Set<number>();

/**
 * A port of 127.0.0.1 that is free now and was not given before. It is none that the kernel takes for
 * outgoing connections: a client that tries to reach a server which is away now and then gets connected to
 * itself there, and keeps the port from the server.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, BEYOND);
    if (given.has(port) || !(await isPortFree(port))) continue;
    given.add(port);
    return port;
  }
}

/** Whether nobody listens there now. */
export function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
