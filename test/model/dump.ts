/** Reads all keys of a project at one moment. */
import type { RunStoreConnection } from '../../runs/connection.ts';
import { defineScript } from '../../runs/script.ts';
import type { DumpedKey } from './state.ts';

/** As JSON, so that a project of which nothing has changed is told by one comparison. */
const DUMP = defineScript({
  flags: 'reads',
  keys: [],
  args: ['prefix'],
  body: `
    local read = {
      hash = function(key) return redis.call('HGETALL', key) end,
      zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
      set = function(key) return redis.call('SMEMBERS', key) end,
      list = function(key) return {tostring(redis.call('LLEN', key))} end,
      string = function(key) return {redis.call('GET', key)} end,
    }
    local keys = redis.call('KEYS', prefix .. '*')
    table.sort(keys)
    local dump = {}
    for index, key in ipairs(keys) do
      local type = redis.call('TYPE', key).ok
      dump[index] = {key = key, type = type, value = read[type](key), kept = redis.call('PTTL', key) == -1}
    end
    return cjson.encode(dump)
  `,
});

/** The keys as text; `[]` or `{}` where there are none. */
export async function dumpText(conn: RunStoreConnection, prefix: string): Promise<string> {
  return (await conn.script(DUMP, [], [prefix])) as string;
}

/** The keys of a text of `dumpText`. */
export function dumpOf(text: string): DumpedKey[] {
  const keys = JSON.parse(text) as DumpedKey[] | Record<string, never>;
  return Array.isArray(keys) ? keys : [];
}
