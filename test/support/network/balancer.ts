/**
 * A balancer of connections, as a Service is one: new connections go to replicas that are ready, one after
 * the other; connections that are there stay where they are, whatever becomes of the readiness.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { resetSocket } from './resetSocket.ts';

/** `internalURL`: any listener that answers /readyz. */
export type Replica = { publicPort: number; internalURL: string };

export type Balancer = {
  port: number;
  /** Sends connections to a replica from when it is ready. */
  add: (replica: Replica) => void;
  remove: (replica: Replica) => void;
  close: () => Promise<void>;
};

/** How long it may take until a change of readiness is seen. */
const CHECK_MS = 200;
const READY_WITHIN_MS = 5_000;

export async function startBalancer(): Promise<Balancer> {
  const replicas = new Map<Replica, { ready: boolean; check: NodeJS.Timeout }>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const ready = [...replicas].filter(([, { ready: isReady }]) => isReady).map(([replica]) => replica);
    turn += 1;
    const replica = ready[turn % ready.length];
    if (replica === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect(replica.publicPort, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      // What was reset on one side is reset on the other: nothing is repaired.
      from.on('error', () => resetSocket(to));
      from.on('close', () => sockets.delete(from));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const checkOnce = async (replica: Replica): Promise<void> => {
    const ready = await isReady(replica);
    const known = replicas.get(replica);
    if (known !== undefined) known.ready = ready;
  };
  const remove = (replica: Replica): void => {
    clearInterval(replicas.get(replica)?.check);
    replicas.delete(replica);
  };
  return {
    port: (server.address() as AddressInfo).port,
    add: (replica) => {
      const check = setInterval(() => {
        void checkOnce(replica);
      }, CHECK_MS);
      replicas.set(replica, { ready: true, check });
    },
    remove,
    close: async () => {
      for (const replica of replicas.keys()) remove(replica);
      for (const socket of sockets) socket.destroy();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

/** The same in a thread of its own, for a process that also sends many events a second. */
export async function startBalancerThread(): Promise<Omit<Balancer, 'remove'>> {
  const thread = new Worker(new URL('balancerWorker.ts', import.meta.url));
  const [port] = (await once(thread, 'message')) as [number];
  return {
    port,
    add: (replica) => thread.postMessage(replica, []),
    close: async () => {
      await thread.terminate();
    },
  };
}

async function isReady({ internalURL }: Replica): Promise<boolean> {
  try {
    // One that stands still says nothing, and is not ready either.
    return (await fetch(`${internalURL}/readyz`, { signal: AbortSignal.timeout(READY_WITHIN_MS) })).ok;
  } catch {
    return false;
  }
}
