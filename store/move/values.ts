/** Reads, writes and compares values by their types, for servers whose dumps differ or cannot be used. */
import { createHash } from 'node:crypto';
import { MoveProblem } from './problem.ts';
import { valueOf, type Answer, type Call, type MoveServer } from './servers.ts';

/**
 * The value of a key. `elements`: members, or fields and values, or members and scores, in turns.
 * `expiresAt`: ms since 1970; -1: never.
 */
export type Value = { type: string; elements: Buffer[]; expiresAt: number };

const READS: Readonly<Record<string, (key: Buffer) => Call>> = {
  string: (key) => ['get', key],
  hash: (key) => ['hgetall', key],
  list: (key) => ['lrange', key, 0, -1],
  set: (key) => ['smembers', key],
  zset: (key) => ['zrange', key, 0, -1, 'withscores'],
};

/** Reads keys of one server; undefined for a key that does not exist. @throws MoveProblem for another type */
export async function readValues(
  server: MoveServer,
  keys: readonly Buffer[],
): Promise<(Value | undefined)[]> {
  const asked = await server.ask(
    keys.flatMap((key): Call[] => [
      ['type', key],
      ['pexpiretime', key],
    ]),
  );
  const known = keys.map((_, index) => ({
    type: String(valueOf(asked[2 * index])),
    expiresAt: Number(valueOf(asked[2 * index + 1])),
  }));
  const calls = keys.map((key, index) => readCall(key, known[index]?.type ?? 'none'));
  const answers = await server.ask(calls);
  return known.map((each, index) => parseValue(each, answers[index]));
}

function readCall(key: Buffer, type: string): Call {
  if (type === 'none') return ['exists', key];
  const read = READS[type];
  if (read) return read(key);
  throw new MoveProblem(
    `the key ${printableKey(key)} has the type ${type}, which Windlass does not use: remove the key, and call the command again`,
  );
}

function parseValue(
  { type, expiresAt }: Omit<Value, 'elements'>,
  answer: Answer | undefined,
): Value | undefined {
  const value = valueOf(answer);
  // The key may have expired since its type was read.
  if (type === 'none' || value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  const parts = Array.isArray(value) ? value.flat() : [value];
  return {
    type,
    expiresAt,
    elements: parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(String(part)))),
  };
}

/** How many elements of a value belong together; default 1. */
const ROW_WIDTH: Readonly<Record<string, number>> = { hash: 2, zset: 2 };

/**
 * The SHA-256 of the key with its value and expiry. Independent of the order in which a server returns the
 * members of hashes and sets.
 */
export function digestOf(key: Buffer, { type, elements, expiresAt }: Value): Buffer {
  const rows: Buffer[] = [];
  const width = ROW_WIDTH[type] ?? 1;
  for (let at = 0; at < elements.length; at += width) {
    const row = elements.slice(at, at + width);
    rows.push(joined(type === 'zset' ? [row[0] ?? Buffer.alloc(0), score(row[1])] : row));
  }
  if (type !== 'list') rows.sort((a, b) => Buffer.compare(a, b));
  return createHash('sha256')
    .update(joined([key, Buffer.from(`${type} ${expiresAt}`), ...rows]))
    .digest();
}

/** A score in one form: servers write the same number as `1e+20` or `100000000000000000000`. */
function score(text: Buffer = Buffer.alloc(0)): Buffer {
  const value = Number(text);
  return Number.isNaN(value) ? text : Buffer.from(String(value));
}

/** The parts with their lengths, so that different lists of parts never have the same bytes. */
function joined(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [Buffer.from(`${part.length}:`), part]));
}

/**
 * The command that replaces a key by a dump. Undefined if the key has expired: before it was dumped, or
 * before its expiry was read (-2).
 */
export function restoreCall(key: Buffer, dump: Buffer | null, expiresAt: number): Call | undefined {
  if (dump === null || expiresAt === -2) return undefined;
  return ['restore', key, Math.max(0, expiresAt), dump, 'replace', 'absttl'];
}

/** The most elements of one command. */
const MAX_ELEMENTS = 1_000;

/** The commands that replace a key, with at most a thousand elements each. */
export function writeCalls(key: Buffer, { type, elements, expiresAt }: Value): Call[] {
  const calls: Call[] = [['unlink', key]];
  for (let at = 0; at < elements.length; at += MAX_ELEMENTS)
    calls.push(writeCall(key, type, elements.slice(at, at + MAX_ELEMENTS)));
  if (expiresAt >= 0) calls.push(['pexpireat', key, expiresAt]);
  return calls;
}

function writeCall(key: Buffer, type: string, elements: readonly Buffer[]): Call {
  if (type === 'zset') return ['zadd', key, ...scoresFirst(elements)];
  const name = { string: 'set', hash: 'hset', list: 'rpush', set: 'sadd' }[type];
  return [name ?? type, key, ...elements];
}

/** `ZRANGE` returns members before their scores, `ZADD` takes them after their scores. */
function scoresFirst(elements: readonly Buffer[]): Buffer[] {
  return elements.map((_, index) => elements[index ^ 1] ?? Buffer.alloc(0));
}

/** The key as text for messages: each byte that is not printable ASCII as `\\xNN`. */
export function printableKey(key: Buffer): string {
  return key
    .toString('latin1')
    .replaceAll(/[^\x21-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
