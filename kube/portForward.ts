/**
 * A connection to a port of a pod through the API server, as `kubectl port-forward` makes one: a WebSocket of
 * the protocol v4.channel.k8s.io, whose messages begin with the number of a channel (0: data, 1: error).
 */
import { Duplex } from 'node:stream';
import { Agent, WebSocket, type MessageEvent } from 'undici';
import type { KubeConnection } from './config.ts';
import { ApiError } from './errors.ts';
import { objectPath } from './paths.ts';
import { pods } from './resource.ts';
import { reachOptions } from './transport.ts';

export type PodPort = { namespace: string; pod: string; port: number };

const PROTOCOL = 'v4.channel.k8s.io';
const DATA = 0;
/** The first message of each channel has the number of the port alone. */
const PORT_BYTES = 2;

/**
 * Opens the connection. Ending or destroying the stream closes it; an error that the node reports destroys
 * it.
 * @throws ApiError with status 0 if the API server does not open it
 */
export async function forwardPort(connection: KubeConnection, to: PodPort): Promise<Duplex> {
  const { auth, server } = connection;
  const agent = new Agent({
    allowH2: false,
    connect: { ...reachOptions(connection), cert: auth.cert, key: auth.key },
  });
  const token = await auth.token?.();
  const path = objectPath(pods, { namespace: to.namespace, name: to.pod }, 'portforward');
  const socket = new WebSocket(`${server.replace(/^http/, 'ws')}${path}?ports=${to.port}`, {
    protocols: [PROTOCOL],
    dispatcher: agent,
    headers: token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` },
  });
  socket.binaryType = 'arraybuffer';
  const stream = streamOf(socket, agent);
  await opened(socket, to, agent);
  return stream;
}

async function opened(socket: WebSocket, { namespace, pod }: PodPort, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.addEventListener('open', () => resolve());
  socket.addEventListener('error', ({ error }) => {
    const message = `the API server opens no connection to pod ${namespace}/${pod}: it needs the right to create pods/portforward`;
    reject(new ApiError({ status: 0, reason: 'NotForwarded', message, cause: error }));
  });
  try {
    await promise;
  } catch (error) {
    await agent.destroy();
    throw error;
  }
}

function streamOf(socket: WebSocket, agent: Agent): Duplex {
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      socket.send(Buffer.concat([Buffer.of(DATA), chunk]));
      done();
    },
    final: (done) => {
      socket.close();
      done();
    },
    destroy: (error, done) => {
      socket.close();
      // Its sockets end by themselves.
      void agent.destroy();
      done(error);
    },
  });
  const begun = new Set<number>();
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    const bytes = Buffer.from(data);
    const channel = bytes[0] ?? DATA;
    const isFirst = !begun.has(channel);
    begun.add(channel);
    const payload = bytes.subarray(isFirst ? 1 + PORT_BYTES : 1);
    if (payload.length === 0) return;
    if (channel === DATA) stream.push(payload);
    else stream.destroy(new Error(`the pod cannot be reached: ${payload.toString('utf8').trim()}`));
  });
  socket.addEventListener('close', () => stream.push(null));
  return stream;
}
