/** Resetting TCP connections. */
import type { Socket } from 'node:net';

/**
 * Resets the connection, so that the peer sees ECONNRESET. One that this side has ended is closed instead:
 * libuv refuses to reset it then, Node leaves it open for ever, and the process never ends.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded || socket.connecting) socket.destroy();
  else socket.resetAndDestroy();
}
