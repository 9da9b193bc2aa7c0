/** The end of a connection whose client is told why, as the last bytes of it, and has some time to read them. */
import type { Socket } from 'node:net';

const LINGER_MS = 1_000;
const MAX_LINGERING = 500;
let lingering = 0;

/**
 * Sends the bytes and ends the connection, on the side of the client too when that does not do it itself. When too many
 * are being told, the connection just ends: to be refused must cost less than to be served.
 */
export function bidFarewell(socket: Socket, bytes: string): void {
  if (lingering >= MAX_LINGERING) {
    socket.destroy();
    return;
  }
  lingering += 1;
  const overdue = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => {
    lingering -= 1;
    clearTimeout(overdue);
  });
  socket.end(bytes);
}
