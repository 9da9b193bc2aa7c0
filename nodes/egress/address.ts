/**
 * IP addresses and ranges. An IPv4 address inside an IPv6 one (`::ffff:a.b.c.d`, RFC 4291 section 2.5.5.2) is
 * the IPv4 address that the operating system would connect to, so that no way of writing one hides it.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The addresses whose first `bits` bits are those of `start`. */
export type Range = { readonly start: Address; readonly bits: number };

const WIDTH = { ipv4: 32, ipv6: 128 } as const;
/** 64:ff9b::/96, by which IPv6-only networks reach IPv4 (RFC 6052). */
const NAT64 = rangeFrom('64:ff9b::', 96);
/** 2002::/16 (RFC 3056). */
const SIX_TO_FOUR = rangeFrom('2002::', 16);

/**
 * The address that a text in the usual notation names, with or without a zone; undefined for any other text.
 */
export function parseAddress(text: string): Address | undefined {
  const [plain = ''] = text.split('%', 1);
  // The library also reads octal, hexadecimal and shortened IPv4 addresses.
  return isIP(plain) === 0 ? undefined : ipaddr.process(plain);
}

/** The range that `a.b.c.d/n`, `x::/n` or a single address names; undefined for any other text. */
export function parseRange(text: string): Range | undefined {
  const [, written = text, length] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
  const start = written.includes('%') ? undefined : parseAddress(written);
  if (!start) return undefined;
  const width = WIDTH[start.kind()];
  const writtenWidth = written.includes(':') ? WIDTH.ipv6 : WIDTH.ipv4;
  const bits = Number(length ?? writtenWidth) - (writtenWidth - width);
  return bits >= 0 && bits <= width ? { start, bits } : undefined;
}

/** Whether the address lies in the range. */
export function isWithin(address: Address, { start, bits }: Range): boolean {
  return address.kind() === start.kind() && address.match(start, bits);
}

export function isSameAddress(one: Address, other: Address): boolean {
  return one.toNormalizedString() === other.toNormalizedString();
}

/** The address, and the IPv4 address to which a translator on the way would turn it. */
export function withTranslated(address: Address): Address[] {
  const bytes = address.toByteArray();
  if (isWithin(address, NAT64)) return [address, ipaddr.fromByteArray(bytes.slice(12))];
  if (isWithin(address, SIX_TO_FOUR)) return [address, ipaddr.fromByteArray(bytes.slice(2, 6))];
  return [address];
}

function rangeFrom(start: string, bits: number): Range {
  return { start: ipaddr.parse(start), bits };
}
