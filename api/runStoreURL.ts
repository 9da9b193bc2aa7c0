/**
 * The URL of the run store says where its servers are, how a client finds the one that takes writes, and how
 * many replicas have to confirm a write. Pure, without a schema library: poll pods and ticks read it, too.
 *
 * - `redis://host:port`: one server
 * - `redis+sentinel://host:port,host:port,host:port/<primary>?replicas=<n>`: the server that these sentinels
 *   know as the primary of that name. `replicas`: how many have to confirm, 0 to 9
 * - `redis+cluster://host:port,host:port?replicas=<n>`: the Redis Cluster that these servers belong to.
 *   `replicas`: how many of each primary have to confirm
 *
 * `rediss` in the place of `redis`: TLS, for the connections to sentinels, too.
 */

export type ServerAddress = { host: string; port: number };

export type RunStoreURL =
  | { topology: 'single'; isTLS: boolean }
  | {
      topology: 'sentinel';
      isTLS: boolean;
      sentinels: readonly ServerAddress[];
      primary: string;
      replicas: number;
    }
  | { topology: 'cluster'; isTLS: boolean; members: readonly ServerAddress[]; replicas: number };

const SCHEME = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(.*)$/;
const HOST = /^(?:\[([0-9a-f:]+)\]|([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)):([1-9]\d{0,4})$/i;
/** The names that Sentinel accepts (Redis, `sentinelRedisInstance`). */
const PRIMARY = /^[A-Za-z0-9._-]{1,63}$/;
const REPLICAS = /^replicas=(\d)$/;

/** The URL of one server. */
export function urlOf(address: ServerAddress, isTLS: boolean): string {
  return `${isTLS ? 'rediss' : 'redis'}://${nameOf(address)}`;
}

/** The address as one text, `host:port`. */
export function nameOf({ host, port }: ServerAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether a client can connect to this address. Other servers name addresses, and those may be anything. */
export function isAddress({ host, port }: ServerAddress): boolean {
  return /^[\w.:-]{1,255}$/.test(host) && Number.isInteger(port) && port > 0 && port <= 65_535;
}

/** Parses the URL. @throws Error that says what is wrong, without any part of the URL */
export function parseRunStoreURL(text: string): RunStoreURL {
  const [, scheme, topology, rest = ''] = SCHEME.exec(text) ?? [];
  if (scheme === undefined)
    throw new Error('must begin with redis://, redis+sentinel:// or redis+cluster://, or rediss for TLS');
  if (rest.includes('@')) throw new Error('must not contain a user or password');
  const isTLS = scheme === 'rediss';
  // Its parts would be options of the client library, such as a password, or other rules for certificates.
  if (topology === undefined && rest.includes('?')) throw new Error('must not contain a query');
  if (topology === undefined) return parseSingle(text, isTLS);
  return topology === 'sentinel' ? parseSentinel(rest, isTLS) : parseCluster(rest, isTLS);
}

function parseSingle(text: string, isTLS: boolean): RunStoreURL {
  const { hostname } = URL.parse(text) ?? {};
  if (hostname === undefined || hostname === '') throw new Error('must name a host and a port');
  return { topology: 'single', isTLS };
}

function parseSentinel(rest: string, isTLS: boolean): RunStoreURL {
  const [, hosts = '', primary = '', query = ''] = /^([^/?]*)\/?([^/?]*)\??(.*)$/.exec(rest) ?? [];
  const sentinels = parseAddresses(hosts, 'sentinel');
  if (!PRIMARY.test(primary)) throw new Error('must end with /NAME, by which the sentinels know the primary');
  return { topology: 'sentinel', isTLS, sentinels, primary, replicas: parseReplicas(query) };
}

function parseCluster(rest: string, isTLS: boolean): RunStoreURL {
  const [, hosts = '', query = ''] = /^([^?]*)\??(.*)$/.exec(rest) ?? [];
  const members = parseAddresses(hosts, 'server');
  return { topology: 'cluster', isTLS, members, replicas: parseReplicas(query) };
}

function parseReplicas(query: string): number {
  const [, replicas] = REPLICAS.exec(query) ?? [];
  if (replicas === undefined) throw new Error('must end with ?replicas=N, N from 0 to 9');
  return Number(replicas);
}

function parseAddresses(hosts: string, kind: 'sentinel' | 'server'): ServerAddress[] {
  const addresses = hosts.split(',').map((text) => parseAddress(text, kind));
  if (new Set(addresses.map(nameOf)).size < addresses.length) throw new Error(`must name each ${kind} once`);
  return addresses;
}

function parseAddress(text: string, kind: string): ServerAddress {
  const [, address, name, port] = HOST.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new Error(`must name each ${kind} as host:port, separated by commas`);
  return { host: address ?? name ?? '', port: Number(port) };
}
