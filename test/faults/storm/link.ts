/**
 * A TCP connection between programs that can be put into trouble: silent, deaf, refused or late. Nothing is
 * lost or reordered within a connection, as TCP guarantees; delayed data is delivered when the trouble ends,
 * also what a client sent that has gone since.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { resetSocket } from '../../support/network/resetSocket.ts';

/**
 * - `silent`: nothing arrives, in neither direction.
 * - `deaf`: requests arrive and are executed, and no answer comes back.
 * - `refused`: connections are reset, and new ones refused.
 * - `late`: everything arrives up to so many milliseconds later, on each connection at a pace of its own, so
 * that two connections
 *   overtake each other.
 */
type Trouble = 'silent' | 'deaf' | 'refused' | 'late';

export type Link = {
  port: number;
  /** Begins a trouble; the function that it returns ends it. Several may overlap. */
  begin(trouble: Trouble, lateMs?: number): () => Promise<void>;
  close(): Promise<void>;
};

type Delayed = { data: Buffer | undefined; due: number };
type Pipe = { isAnswer: boolean; to: Socket; queue: Delayed[]; lastDue: number };

/** Leads to `target` on 127.0.0.1, or on another host. */
export async function startLink(target: number, host = '127.0.0.1'): Promise<Link> {
  const troubles = new Map<symbol, { trouble: Trouble; lateMs: number }>();
  const sockets = new Set<Socket>();
  const pipes = new Set<Pipe>();
  const has = (trouble: Trouble) => [...troubles.values()].some((each) => each.trouble === trouble);
  const isBlocked = ({ isAnswer }: Pipe) => has('silent') || (isAnswer && has('deaf'));

  const flush = (pipe: Pipe): void => {
    while (!isBlocked(pipe)) {
      const [next] = pipe.queue;
      if (!next) return;
      const wait = next.due - performance.now();
      // A timer may come a little early.
      if (wait > 0) return void setTimeout(() => flush(pipe), Math.ceil(wait));
      pipe.queue.shift();
      if (next.data) pipe.to.write(next.data);
      else {
        pipes.delete(pipe);
        pipe.to.end();
      }
    }
  };
  const send = (pipe: Pipe, data: Buffer | undefined): void => {
    const late = Math.max(0, ...[...troubles.values()].map(({ lateMs }) => lateMs));
    const due = Math.max(pipe.lastDue, performance.now() + late * Math.random());
    pipe.queue.push({ data, due });
    pipe.lastDue = due;
    if (pipe.queue.length === 1) flush(pipe);
  };
  const join = (from: Socket, to: Socket, isAnswer: boolean): void => {
    const pipe: Pipe = { isAnswer, to, queue: [], lastDue: 0 };
    pipes.add(pipe);
    sockets.add(from);
    from.on('data', (data) => send(pipe, data));
    from.on('end', () => send(pipe, undefined));
    // A reset says nothing while the connection is silent either.
    from.on('error', () => (isBlocked(pipe) ? send(pipe, undefined) : to.destroy()));
    from.on('close', () => {
      sockets.delete(from);
      if (isAnswer && !isBlocked(pipe)) to.end();
    });
  };
  const accept = (client: Socket): void => {
    const upstream = connect(target, host);
    client.setNoDelay();
    upstream.setNoDelay();
    join(client, upstream, false);
    join(upstream, client, true);
    upstream.once('error', () => resetSocket(client));
  };
  let server = await listenOn(0, accept);
  const { port } = server.address() as AddressInfo;
  const shut = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) resetSocket(socket);
    await closed;
  };
  return {
    port,
    begin: (trouble, lateMs = 0) => {
      const id = Symbol(trouble);
      const shutting = trouble === 'refused' && !has('refused') ? shut() : Promise.resolve();
      troubles.set(id, { trouble, lateMs });
      return async () => {
        await shutting;
        troubles.delete(id);
        if (trouble === 'refused' && !has('refused')) server = await listenOn(port, accept);
        for (const pipe of pipes) flush(pipe);
      };
    },
    close: () => (has('refused') ? Promise.resolve() : shut()),
  };
}

async function listenOn(port: number, accept: (client: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, accept);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
