/** Identifiers and digests, which the sandbox of code nodes does not have. */
import type { ShimPart } from './part.ts';

const RANDOM: ShimPart = {
  name: 'randomText',
  needs: /\brandomText\(/,
  source: String.raw`const randomText = (kind, length) => {
  const bytes = Array.from({ length: kind === 'uuid' ? 16 : length }, () => Math.floor(Math.random() * 256));
  const hex = (list) => list.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  if (kind === 'hex') return hex(bytes).slice(0, length);
  if (kind === 'base64') return btoa(bytes.map((byte) => String.fromCharCode(byte)).join('')).replace(/\W/g, '').slice(0, length);
  if (kind === 'ascii') return bytes.map((byte) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'[byte % 62]).join('');
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  return [bytes.slice(0, 4), bytes.slice(4, 6), bytes.slice(6, 8), bytes.slice(8, 10), bytes.slice(10)].map(hex).join('-');
};`,
};

/** SHA-256 (FIPS 180-4) and HMAC (RFC 2104). */
const SHA256: ShimPart = {
  name: 'sha256',
  needs: /\b(?:sha256|hmacSha256)\(/,
  source: String.raw`const primes = [];
for (let candidate = 2; primes.length < 64; candidate += 1) if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
const fraction = (value) => Math.floor((value - Math.floor(value)) * 4294967296) | 0;
const roundConstants = primes.map((prime) => fraction(Math.cbrt(prime)));
const bytesOf = (value) => (typeof value === 'string' ? [...new TextEncoder().encode(value)] : value);
const sha256Bytes = (value) => {
  const bytes = bytesOf(value);
  const padded = [...bytes, 128];
  while (padded.length % 64 !== 56) padded.push(0);
  for (let shift = 56; shift >= 0; shift -= 8) padded.push(Math.floor((bytes.length * 8) / 2 ** shift) % 256);
  const state = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const rotate = (word, by) => (word >>> by) | (word << (32 - by));
  for (let start = 0; start < padded.length; start += 64) {
    const words = Array.from({ length: 16 }, (_, at) => padded.slice(start + at * 4, start + at * 4 + 4).reduce((word, byte) => (word << 8) | byte, 0));
    for (let at = 16; at < 64; at += 1) {
      const [before, last] = [words[at - 15], words[at - 2]];
      words.push((words[at - 16] + (rotate(before, 7) ^ rotate(before, 18) ^ (before >>> 3)) + words[at - 7] + (rotate(last, 17) ^ rotate(last, 19) ^ (last >>> 10))) | 0);
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let at = 0; at < 64; at += 1) {
      const first = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + roundConstants[at] + words[at]) | 0;
      const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => { state[at] = (state[at] + word) | 0; });
  }
  return state.flatMap((word) => [24, 16, 8, 0].map((shift) => (word >>> shift) & 255));
};
const encodedBytes = (bytes, encoding) => encoding === 'base64' ? btoa(bytes.map((byte) => String.fromCharCode(byte)).join('')) : bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
const sha256 = (value, encoding) => encodedBytes(sha256Bytes(String(value)), encoding);
const hmacSha256 = (secret, value, encoding) => {
  const given = bytesOf(String(secret));
  const key = given.length > 64 ? sha256Bytes(given) : given;
  const padded = (by) => Array.from({ length: 64 }, (_, at) => (key[at] ?? 0) ^ by);
  return encodedBytes(sha256Bytes([...padded(92), ...sha256Bytes([...padded(54), ...bytesOf(String(value))])]), encoding);
};`,
};

export const CRYPTO: readonly ShimPart[] = [RANDOM, SHA256];
