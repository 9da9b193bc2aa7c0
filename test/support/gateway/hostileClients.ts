/**
 * Clients that mean no good: connections that stay open, bodies without end, and what that costs the process
 * they call.
 */
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

export type Attack = {
  /** Connections that are open now. */
  open: () => number;
  /** How many of them the server has ended so far. */
  ended: () => number;
  /** Bytes that were sent. */
  sent: () => number;
  stop: () => void;
};

export type AttackOptions = {
  port: number;
  connections: number;
  /** Milliseconds after which a connection that has ended is made again; left out: it is not. */
  againMs?: number;
  /** What each connection does with its socket once it is there; `send` counts what is sent. */
  behave: (socket: Socket, send: (bytes: Buffer) => boolean) => void;
};

/** Holds that many connections. */
export function attack({ port, connections, againMs, behave }: AttackOptions): Attack {
  const sockets = new Set<Socket>();
  let [stopped, ended, sent] = [false, 0, 0];
  const begin = (): void => {
    if (stopped) return;
    const socket = connect(port, '127.0.0.1', () => {
      behave(socket, (bytes) => {
        sent += bytes.length;
        return socket.write(bytes);
      });
    });
    sockets.add(socket);
    socket.resume();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      ended += 1;
      if (againMs !== undefined) setTimeout(begin, againMs * (0.5 + Math.random())).unref();
    });
  };
  for (let count = 0; count < connections; count += 1) begin();
  return {
    open: () => sockets.size,
    ended: () => ended,
    sent: () => sent,
    stop: () => {
      stopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Sends the text a byte a second. */
export function dripping(text: string): AttackOptions['behave'] {
  return (socket, send) => {
    let at = 0;
    const drip = setInterval(() => {
      send(Buffer.from(text[at % text.length] ?? '', 'latin1'));
      at += 1;
    }, 1_000);
    socket.on('close', () => clearInterval(drip));
  };
}

/** Sends the head, and then the piece over and over, up to so many bytes, as fast as it is taken. */
export function flooding(head: string, piece: Buffer, bytes: number): AttackOptions['behave'] {
  return (socket, send) => {
    let left = bytes;
    const pour = (): void => {
      while (left > 0 && !socket.destroyed && socket.writable) {
        left -= piece.length;
        if (!send(piece)) return;
      }
    };
    socket.on('drain', pour);
    send(Buffer.from(head, 'latin1'));
    pour();
  };
}

/** The memory that a process has now, and the most it ever had, in MiB. */
export async function memoryOf(pid: number): Promise<{ nowMiB: number; mostMiB: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024;
  return { nowMiB: field('VmRSS'), mostMiB: field('VmHWM') };
}
