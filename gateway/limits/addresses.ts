/** Addresses of clients, behind trusted proxies too. */
import { BlockList, isIP } from 'node:net';

export type Addresses = {
  isProxy: (address: string) => boolean;
  /** The peer's address, or the client's address that trusted proxies report. */
  addressOf: (peer: string | undefined, forwardedFor: string | string[] | undefined) => string;
  /** What counts as one client: an IPv4 address, or an IPv6 network of 64 bits, which one household has. */
  clientOf: (peer: string | undefined, forwardedFor: string | string[] | undefined) => string;
};

/** At most this many entries are read, from the right. */
const MAX_HOPS = 16;

/**
 * Trusts X-Forwarded-For only from peers in `proxies` (CIDRs or addresses), and reads it from the right: the
 * first address that is not a proxy is the client, since the client can forge everything left of it.
 */
export function createAddresses(proxies: readonly string[]): Addresses {
  const trusted = listOf(proxies);
  const isProxy = (address: string): boolean => {
    const plain = plainAddress(address);
    const version = isIP(plain);
    return version !== 0 && trusted.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  };
  const addressOf: Addresses['addressOf'] = (peer = '', forwardedFor) => {
    if (proxies.length === 0 || forwardedFor === undefined || !isProxy(peer)) return plainAddress(peer);
    const hops = String(forwardedFor).split(',').slice(-MAX_HOPS).toReversed();
    let nearest = peer;
    for (const hop of hops.map((entry) => plainAddress(entry.trim()))) {
      if (isIP(hop) === 0) break;
      nearest = hop;
      if (!isProxy(hop)) break;
    }
    return plainAddress(nearest);
  };
  return {
    isProxy,
    addressOf,
    clientOf: (peer, forwardedFor) => clientKey(addressOf(peer, forwardedFor)),
  };
}

/** Whether the text is an address or a network such as 192.0.2.0/24. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(bits), type);
  }
  return list;
}

/** Dual-stack sockets report IPv4 clients as ::ffff:192.0.2.1; some proxies add ports or brackets. */
function plainAddress(address: string): string {
  const mapped = /^\[?(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)\]?(?::\d+)?$/i.exec(address);
  return mapped?.[1] ?? /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? address;
}

function clientKey(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain;
  const [before = '', after] = (plain.split('%')[0] ?? '').toLowerCase().split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const gap = after === undefined ? [] : Array<string>(Math.max(8 - head.length - tail.length, 0)).fill('0');
  const groups = [...head, ...gap, ...tail]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}
