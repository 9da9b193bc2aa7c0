/** One-time tokens: values that are used up by their first use, and how many of them a user got lately. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from './connection.ts';
import { defineScript } from './script.ts';

const TAKE = defineScript({
  flags: 'drains',
  keys: ['secret'],
  answers: 'the value',
  body: `
    local value = redis.call('GET', secret)
    redis.call('UNLINK', secret)
    return value
  `,
});

const COUNT = defineScript({
  keys: ['counter'],
  args: ['seconds'],
  answers: 'the count',
  body: `
    local count = redis.call('HINCRBY', counter, 'links', 1)
    if count == 1 then redis.call('EXPIRE', counter, seconds) end
    return count
  `,
});

/** Takes the value of the key: nobody gets it a second time. Rejects while the run store is unavailable. */
export function takeOnce(conn: RunStoreConnection, key: string): Promise<unknown> {
  return conn.script(TAKE, [key], []);
}

/** Counts one more, and answers the count. It starts again `forMs` after the first one. */
export function countTokens(
  conn: RunStoreConnection,
  key: string,
  forMs: number,
): Promise<number | Unavailable> {
  return orUnavailable(async () => Number(await conn.script(COUNT, [key], [Math.ceil(forMs / 1_000)])));
}
