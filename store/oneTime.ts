/** Values that are taken once, and how many of them somebody was given of late. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from './connection.ts';
import { defineScript } from './script.ts';

const TAKE = defineScript({
  flags: 'drains',
  keys: ['secret'],
  body: `
    local value = redis.call('GET', secret)
    redis.call('UNLINK', secret)
    return value
  `,
});

const COUNT = defineScript({
  keys: ['made'],
  args: ['seconds'],
  body: `
    local count = redis.call('HINCRBY', made, 'links', 1)
    if count == 1 then redis.call('EXPIRE', made, seconds) end
    return count
  `,
});

/** What is under the key, which nobody gets a second time. Rejects while the run store is away. */
export function takeOnce(conn: RunStoreConnection, key: string): Promise<unknown> {
  return conn.script(TAKE, [key], []);
}

/** Counts one more; how many it are since the first one, for so long after which all is forgotten. */
export function countMade(
  conn: RunStoreConnection,
  key: string,
  forMs: number,
): Promise<number | Unavailable> {
  return orUnavailable(async () => Number(await conn.script(COUNT, [key], [Math.ceil(forMs / 1_000)])));
}
