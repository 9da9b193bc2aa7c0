/** How full the run store is: the server's memory, and the bytes of each project. For the operator alone. */
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW } from '../store/lua.ts';
import { countOf } from '../store/numbers.ts';
import type { ServerCalls } from '../store/replicas.ts';
import { defineScript } from '../store/script.ts';
import { EXPIRING } from './room.ts';

/** Bytes. `max` is 0 where the server has no limit. */
export type ServerMemory = { used: number; max: number };

/** The memory of each server that takes writes, by its name, without those that do not answer. */
export function readServerMemory(
  conn: RunStoreConnection,
): Promise<ReadonlyMap<string, ServerMemory> | Unavailable> {
  return orUnavailable(async () => {
    const primaries = await conn.primaries();
    const found = await Promise.all(primaries.map((server) => orUnavailable(() => memoryOf(server))));
    const failed = found.find(isUnavailable);
    const known = primaries.flatMap(({ name }, index) => {
      const memory = found[index];
      return memory === undefined || isUnavailable(memory) ? [] : [[name, memory] as const];
    });
    return known.length === 0 && failed ? failed : new Map(known);
  });
}

async function memoryOf({ command }: ServerCalls): Promise<ServerMemory> {
  const text = String(await command('info', 'memory'));
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return { used: field('used_memory'), max: field('maxmemory') };
}

/** Bytes of a project in the run store, its limits for them, and whether it is busy. */
export type Use = {
  /** Bytes of runs, known items and seen keys. */
  bytes: number;
  quota: number;
  claimQuota: number;
  /** Bytes of dedupe keys, also of recorded runs. */
  keys: number;
  keyQuota: number;
  summaries: number;
  replies: number;
  /**
   * Unfinished runs that are recorded, how many may be, and those that are not because there are too many.
   */
  recorded: number;
  unfinished: number;
  beyond: number;
  /** Runs are ready or executing. */
  isBusy: boolean;
  /** A runner polls the accounts of the project. */
  isPolling: boolean;
  /** Ready runs are not claimed, because there is no room for what they would write. */
  isShort: boolean;
};

const FIELDS = [
  'bytes',
  'quota',
  'claimQuota',
  'keys',
  'keyQuota',
  'summaries',
  'replies',
  'unfinished',
] as const;

const READ_USE = defineScript({
  flags: 'drains',
  keys: ['meta', 'ready', 'claims', 'expiring', 'unfinished', 'beyond'],
  answers:
    '1 where the project is busy, 1 where claims wait for room, 1 where a runner polls, unfinished runs with and without a record, then the fields; nothing where the project is not open',
  body: `
    local store_id, settled, short, polled_until = unpack(
      redis.call('HMGET', meta, 'id', 'settled', 'short', 'pollerUntil'))
    if not store_id then return false end
    ${NOW}
    ${EXPIRING}
    subtract_expired(settled)
    local is_busy = redis.call('ZCARD', ready) > 0 or #redis.call('HKEYS', claims) > 0
    local recorded, too_many = redis.call('ZCARD', unfinished), redis.call('ZCARD', beyond)
    local is_polling = (tonumber(polled_until) or 0) > now
    return {is_busy and 1 or 0, tonumber(short or 0), is_polling and 1 or 0, recorded, too_many, unpack(redis.call('HMGET', meta, ${FIELDS.map((name) => `'${name}'`).join(', ')}))}
  `,
});

/** The bytes of the project, without what has expired; undefined where the project is not open. */
export function readUse(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<Use | undefined | Unavailable> {
  const { meta, ready, claims, expiring, unfinished, beyond } = keysOf(project);
  const keys = [meta, ready, claims, expiring, unfinished, beyond];
  return orUnavailable(async () => {
    const answer = (await conn.script(READ_USE, keys, [])) as (string | number | null)[] | null;
    if (answer === null) return undefined;
    const [isBusy, isShort, isPolling, recorded, beyond, ...values] = answer;
    const fields = FIELDS.map((name, index) => [name, countOf(values[index])] as const);
    return {
      ...(Object.fromEntries(fields) as Record<(typeof FIELDS)[number], number>),
      recorded: countOf(recorded),
      beyond: countOf(beyond),
      isBusy: isBusy === 1,
      isShort: isShort === 1,
      isPolling: isPolling === 1,
    };
  });
}
