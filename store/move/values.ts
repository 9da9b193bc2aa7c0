/** Values of keys as they are compared and, where `DUMP` does not do, copied: by their types. */
import { createHash } from 'node:crypto';
import { MoveProblem } from './problem.ts';
import { valueOf, type Answer, type Call, type MoveServer } from './servers.ts';

/** A key with its value. `expiresAt`: ms since 1970; -1: never. */
export type Value = { type: string; elements: Buffer[]; expiresAt: number };

const READS: Readonly<Record<string, (key: Buffer) => Call>> = {
  string: (key) => ['get', key],
  hash: (key) => ['hgetall', key],
  list: (key) => ['lrange', key, 0, -1],
  set: (key) => ['smembers', key],
  zset: (key) => ['zrange', key, 0, -1, 'withscores'],
};

/** Reads keys of one server; undefined where there is none. @throws MoveProblem for a type of others */
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
  const calls = keys.map((key, index) => readOf(key, known[index]?.type ?? 'none'));
  const answers = await server.ask(calls);
  return known.map((each, index) => valueIn(each, answers[index]));
}

function readOf(key: Buffer, type: string): Call {
  if (type === 'none') return ['exists', key];
  const read = READS[type];
  if (read) return read(key);
  throw new MoveProblem(
    `the key ${shownKey(key)} is of the type ${type}, which Windlass has none of: remove it, and try again`,
  );
}

function valueIn(
  { type, expiresAt }: Omit<Value, 'elements'>,
  answer: Answer | undefined,
): Value | undefined {
  const value = valueOf(answer);
  // It may have expired since its type was read.
  if (type === 'none' || value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  const parts = Array.isArray(value) ? value.flat() : [value];
  return {
    type,
    expiresAt,
    elements: parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(String(part)))),
  };
}

/** The members of a type with one element, and with two, in each row. */
const ROW: Readonly<Record<string, number>> = { hash: 2, zset: 2 };

/**
 * A digest of the key with its value and expiry (SHA-256), which does not depend on the order in which a
 * server has members.
 */
export function digestOf(key: Buffer, { type, elements, expiresAt }: Value): Buffer {
  const rows: Buffer[] = [];
  const width = ROW[type] ?? 1;
  for (let at = 0; at < elements.length; at += width) {
    const row = elements.slice(at, at + width);
    rows.push(joined(type === 'zset' ? [row[0] ?? Buffer.alloc(0), score(row[1])] : row));
  }
  if (type !== 'list') rows.sort((a, b) => Buffer.compare(a, b));
  return createHash('sha256')
    .update(joined([key, Buffer.from(`${type} ${expiresAt}`), ...rows]))
    .digest();
}

/** Servers write the same number in several ways: `1e+20`, `100000000000000000000`. */
function score(text: Buffer = Buffer.alloc(0)): Buffer {
  const value = Number(text);
  return Number.isNaN(value) ? text : Buffer.from(String(value));
}

/** Parts with their lengths, so that no two lists of parts make the same bytes. */
function joined(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [Buffer.from(`${part.length}:`), part]));
}

/** Elements of one command. */
const AT_ONCE = 1_000;

/** The commands that replace a key, by its type: at most a thousand elements each. */
export function writesOf(key: Buffer, { type, elements, expiresAt }: Value): Call[] {
  const calls: Call[] = [['unlink', key]];
  for (let at = 0; at < elements.length; at += AT_ONCE)
    calls.push(writeOf(key, type, elements.slice(at, at + AT_ONCE)));
  if (expiresAt >= 0) calls.push(['pexpireat', key, expiresAt]);
  return calls;
}

function writeOf(key: Buffer, type: string, elements: readonly Buffer[]): Call {
  if (type === 'zset') return ['zadd', key, ...swapped(elements)];
  const name = { string: 'set', hash: 'hset', list: 'rpush', set: 'sadd' }[type];
  return [name ?? type, key, ...elements];
}

/** Members are read before their scores, and written after them. */
function swapped(elements: readonly Buffer[]): Buffer[] {
  return elements.map((_, index) => elements[index ^ 1] ?? Buffer.alloc(0));
}

/** A key in a message: what is not printable ASCII as `\\xNN`. */
export function shownKey(key: Buffer): string {
  return key
    .toString('latin1')
    .replaceAll(/[^\x21-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
