/**
 * IP addresses and ranges as numbers. An IPv4 address inside an IPv6 one (`::ffff:a.b.c.d`, RFC 4291 section 2.5.5.2) is the
 * IPv4 address that the operating system would connect to, so that no way of writing one hides it.
 */
import { isIP } from 'node:net';

export type Address = { readonly family: 4 | 6; readonly value: bigint };

/** The addresses whose first `bits` bits are those of `value`. */
export type Range = Address & { readonly bits: number };

const WIDTH = { 4: 32, 6: 128 } as const;
const LOW_32 = 0xffff_ffffn;
const MAPPED = 0xffffn;
/** 64:ff9b::/96, by which IPv6-only networks reach IPv4 (RFC 6052). */
const NAT64 = 0x64_ff9b_0000_0000_0000_0000n;
/** 2002::/16 (RFC 3056). */
const SIX_TO_FOUR = 0x2002n;

/** The address that a text in the usual notation names, with or without a zone; undefined for any other text. */
export function parseAddress(text: string): Address | undefined {
  const [plain = ''] = text.split('%', 1);
  const family = isIP(plain);
  if (family === 4) return { family: 4, value: number4(plain) };
  if (family !== 6) return undefined;
  const value = number6(plain);
  return value >> 32n === MAPPED ? { family: 4, value: value & LOW_32 } : { family: 6, value };
}

/** The range that `a.b.c.d/n`, `x::/n` or a single address names; undefined for any other text. */
export function parseRange(text: string): Range | undefined {
  const [, start = text, length] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = start.includes('%') ? undefined : parseAddress(start);
  if (!address) return undefined;
  const written = start.includes(':') ? 6 : 4;
  const bits = Number(length ?? WIDTH[written]) - (WIDTH[written] - WIDTH[address.family]);
  return bits >= 0 && bits <= WIDTH[address.family] ? { ...address, bits } : undefined;
}

/** Whether the address lies in the range. */
export function isWithin({ family, value }: Address, range: Range): boolean {
  if (family !== range.family) return false;
  const rest = BigInt(WIDTH[family] - range.bits);
  return value >> rest === range.value >> rest;
}

/** The address, and the IPv4 address to which a translator on the way would turn it. */
export function withTranslated(address: Address): Address[] {
  const { family, value } = address;
  if (family === 6 && value >> 32n === NAT64) return [address, { family: 4, value: value & LOW_32 }];
  if (family === 6 && value >> 112n === SIX_TO_FOUR)
    return [address, { family: 4, value: (value >> 80n) & LOW_32 }];
  return [address];
}

function number4(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function number6(text: string): bigint {
  const [head = '', tail] = withoutDots(text).split('::');
  const [left, right] = [groups(head), groups(tail ?? '')];
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function groups(part: string): string[] {
  return part === '' ? [] : part.split(':');
}

/** `::ffff:1.2.3.4` as `::ffff:102:304`. */
function withoutDots(text: string): string {
  const [, start = '', dotted] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? [];
  if (dotted === undefined) return text;
  const value = number4(dotted);
  return `${start}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
