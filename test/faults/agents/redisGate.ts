/**
 * A way to the run store on which a scene holds one command of our scripts: before it arrives, or after it
 * was executed and before its answer arrives. Everything that follows on that connection is paused as well,
 * as TCP keeps the order.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { encodeCommand, readCommand } from '../../support/runStore/redisProxy.ts';
import { createGate, type Gate } from './gates.ts';

/** A script that is called: its keys and its arguments. */
export type ScriptCall = { keys: readonly string[]; args: readonly string[] };

type Side = 'before' | 'after';
type Paused = { matches: (call: ScriptCall) => boolean; side: Side; gate: ReturnType<typeof createGate> };

export type RedisGate = {
  port: number;
  /** Holds the next such call. `release` ends its connection: the client does not know what became of it. */
  hold(matches: Paused['matches'], side: Side): Gate;
  close(): Promise<void>;
};

/** Executed right after the paused command, so that its answer proves that the command was executed. */
const MARK = 'paused-command-was-executed';

export async function startRedisGate(port: number): Promise<RedisGate> {
  const sockets = new Set<Socket>();
  const holds = new Set<Paused>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    serve(client, upstream, holds);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hold: (matches, side) => {
      const gate = createGate();
      holds.add({ matches, side, gate });
      return gate;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Passes commands and answers on until a command is to be paused. */
function serve(client: Socket, upstream: Socket, holds: Set<Paused>): void {
  let rest = Buffer.alloc(0);
  let paused: Paused | undefined;
  client.on('data', (chunk: Buffer) => {
    if (paused) return;
    rest = Buffer.concat([rest, chunk]);
    for (let read = readCommand(rest); read && !paused; read = readCommand(rest)) {
      const bytes = rest.subarray(0, read.length);
      paused = pausedBy(read.command, holds);
      if (paused) holdBack(paused, bytes, client, upstream);
      else upstream.write(bytes);
      rest = rest.subarray(read.length);
    }
  });
  upstream.on('data', (chunk: Buffer) => {
    if (!paused) client.write(chunk);
    else if (chunk.includes(MARK)) paused.gate.reach();
  });
}

function pausedBy(command: readonly string[], holds: Set<Paused>): Paused | undefined {
  if (!command[0]?.toLowerCase().startsWith('eval')) return undefined;
  const count = Number(command[2]);
  const call = { keys: command.slice(3, 3 + count), args: command.slice(3 + count) };
  const paused = [...holds].find(({ matches }) => matches(call));
  if (paused) holds.delete(paused);
  return paused;
}

function holdBack({ side, gate }: Paused, bytes: Buffer, client: Socket, upstream: Socket): void {
  const mark = encodeCommand(['EVAL', 'return ARGV[1]', '0', MARK]);
  if (side === 'before') gate.reach();
  else upstream.write(Buffer.concat([bytes, mark]));
  const finish = async (): Promise<void> => {
    const isLate = await gate.released;
    // The server executes what came before the end of the connection.
    if (isLate && side === 'before') upstream.end(bytes);
    else client.destroy();
  };
  void finish();
}
