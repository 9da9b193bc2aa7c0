/**
 * Reads the keys of a project at one moment, but for live events and revisions, which no transition depends
 * on.
 */
import type { RunStoreConnection } from '../../store/connection.ts';
import { defineScript } from '../../store/script.ts';
import type { DumpedKey } from './state.ts';

const REMOVE = defineScript({
  // One of the project: by it the call reaches the server that has them all.
  keys: ['meta'],
  args: ['prefix'],
  body: `
    for _, key in ipairs(redis.call('KEYS', prefix .. '*')) do
      redis.call('UNLINK', key)
    end
  `,
});

/** Removes all keys of a project. */
export async function removeAll(conn: RunStoreConnection, prefix: string): Promise<void> {
  await conn.script(REMOVE, [`${prefix}meta`], [prefix]);
}

/** As JSON, so that a project of which nothing has changed is told by one comparison. */
const DUMP = defineScript({
  flags: 'reads',
  keys: ['meta'],
  args: ['prefix'],
  body: `
    local read = {
      hash = function(key) return redis.call('HGETALL', key) end,
      zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
      set = function(key) return redis.call('SMEMBERS', key) end,
      string = function(key) return {redis.call('GET', key)} end,
    }
    local keys = redis.call('KEYS', prefix .. '*')
    table.sort(keys)
    local dump = {}
    for _, key in ipairs(keys) do
      local kind = string.match(key, '^(%a+)', #prefix + 1)
      if kind ~= 'ev' and kind ~= 'rev' then
        local type = redis.call('TYPE', key).ok
        dump[#dump + 1] = {key = key, type = type, value = read[type](key), kept = redis.call('TTL', key) == -1}
      end
    end
    return cjson.encode(dump)
  `,
});

/** The keys as text; `[]` or `{}` where there are none. */
export async function dumpText(conn: RunStoreConnection, prefix: string): Promise<string> {
  return (await conn.script(DUMP, [`${prefix}meta`], [prefix])) as string;
}

/** The keys of a text of `dumpText`. */
export function dumpOf(text: string): DumpedKey[] {
  const keys = JSON.parse(text) as DumpedKey[] | Record<string, never>;
  return Array.isArray(keys) ? keys : [];
}
