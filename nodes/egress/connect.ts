/**
 * Outbound connections: a dispatcher of undici for HTTP clients, a socket for everything else. Both resolve
 * hosts through the egress.
 */
import { once } from 'node:events';
import { connect as connectSocket, type LookupFunction, type Socket } from 'node:net';
import type { Agent, buildConnector } from 'undici';
import { StepError } from '../../api/reasons.ts';
import type { Egress, HostAddress } from './egress.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 };

/** Loaded with the first connection: programs that only check workflows make none. */
const loadClient = () => import('./httpLibrary.ts');
type Client = Awaited<ReturnType<typeof loadClient>>;

/**
 * A dispatcher whose connections all go through the egress. It waits for headers and bodies for ever: the
 * step's timeout bounds it.
 */
export async function openDispatcher(egress: Egress): Promise<Agent> {
  return newDispatcher(await loadClient(), egress);
}

function newDispatcher(client: Client, egress: Egress): Agent {
  const connect: buildConnector.connector = (options, callback) => {
    void open(client, { egress, options }, callback);
  };
  return new client.Agent({ connect, headersTimeout: 0, bodyTimeout: 0 });
}

async function open(
  client: Client,
  { egress, options }: { egress: Egress; options: buildConnector.Options },
  callback: buildConnector.Callback,
): Promise<void> {
  const port = Number(options.port) || (DEFAULT_PORTS[options.protocol] ?? 0);
  let addresses: readonly HostAddress[];
  try {
    addresses = await egress.resolve(withoutBrackets(options.hostname), port);
  } catch (error) {
    callback(error as Error, null);
    return;
  }
  const lookup = lookupOf(addresses);
  client.buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false, lookup })(options, callback);
}

const dispatchers = new WeakMap<Egress, Agent>();

/**
 * A dispatcher through the egress that is there for good, so that its connections are kept for the next
 * request.
 */
export async function dispatcherThrough(egress: Egress): Promise<Agent> {
  const client = await loadClient();
  const dispatcher = dispatchers.get(egress) ?? newDispatcher(client, egress);
  dispatchers.set(egress, dispatcher);
  return dispatcher;
}

/** `fetch` through the egress, over connections that are kept for the next request. */
export function fetchThrough(egress: Egress): typeof fetch {
  // The types of undici's own fetch and of the one in Node differ in name only.
  const request = async (url: string, init?: object) => {
    const client = await loadClient();
    return client.fetch(url, { ...init, dispatcher: await dispatcherThrough(egress) });
  };
  return request as unknown as typeof fetch;
}

/**
 * A connected socket.
 * @throws StepError `AddressForbidden` or `Unreachable`, or the reason of the signal
 */
export async function openSocket(
  egress: Egress,
  { host, port, signal }: { host: string; port: number; signal: AbortSignal },
): Promise<Socket> {
  const addresses = await egress.resolve(withoutBrackets(host), port);
  signal.throwIfAborted();
  const socket = connectSocket({ host: withoutBrackets(host), port, lookup: lookupOf(addresses) });
  const bound = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]);
  try {
    await once(socket, 'connect', { signal: bound });
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    signal.throwIfAborted();
    const code = (error as { code?: unknown }).code;
    const why = bound.aborted || typeof code !== 'string' ? 'no answer' : code;
    throw new StepError('Unreachable', `cannot connect to ${host}: ${why}`);
  }
}

/** For a client that makes its connection itself: what was resolved and judged is all that it can lead to. */
export function lookupOf(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else if (first) callback(null, first.address, first.family);
  };
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
