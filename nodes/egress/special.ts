/**
 * The addresses that runners do not connect to unless a rule allows it: addresses that are not globally
 * reachable (IANA special-purpose address registries, 2025), and metadata services of clouds.
 */
import { isWithin, parseRange, withTranslated, type Address, type Range } from './address.ts';

const SPECIAL: readonly (readonly [kind: string, ranges: readonly string[]])[] = [
  ['an unspecified address', ['0.0.0.0/8']],
  ['a loopback address', ['127.0.0.0/8', '::1']],
  ['a private address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10']],
  ['a link-local address', ['169.254.0.0/16', 'fe80::/10']],
  ['an address of a shared network', ['100.64.0.0/10']],
  ["an address of the cloud's own services", ['168.63.129.16']],
  ['a multicast address', ['224.0.0.0/4', 'ff00::/8']],
  ['an address for benchmarks', ['198.18.0.0/15', '2001:2::/48']],
  ['an address of a tunnel', ['192.88.99.0/24', '2001::/32', '2002::/16', '64:ff9b:1::/48']],
  [
    'a reserved address',
    [
      '192.0.0.0/24',
      '192.0.2.0/24',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '240.0.0.0/4',
      '2001::/23',
      '2001:db8::/32',
      '3fff::/20',
    ],
  ],
];

const KINDS = SPECIAL.map(([kind, ranges]) => [kind, ranges.map(rangeOf)] as const);

/** What of IPv6 has been given out for use on the Internet, and the way from there to IPv4. */
const USABLE_6 = ['2000::/3', '64:ff9b::/96'].map(rangeOf);

/**
 * What kind of special address it is, or to which one a translator would turn it; undefined for one of the
 * Internet.
 */
export function specialKind(address: Address): string | undefined {
  for (const each of withTranslated(address)) {
    const [kind] = KINDS.find(([, ranges]) => ranges.some((range) => isWithin(each, range))) ?? [];
    if (kind !== undefined) return kind;
    if (each.kind() === 'ipv6' && !USABLE_6.some((range) => isWithin(each, range)))
      return 'a reserved address';
  }
  return undefined;
}

function rangeOf(text: string): Range {
  const range = parseRange(text);
  if (!range) throw new Error(`${text} is no range`);
  return range;
}
