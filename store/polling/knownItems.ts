/**
 * Known items of a polled trigger: bytes beside the cursor that are too large for a status, such as the rows
 * of a sheet. A poll stores them under a new name, and they come into force together with its cursor, so that
 * the two never disagree. They count as bytes of the project.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { keysOf } from '../keys.ts';
import { randomText } from '../random.ts';
import { defineScript } from '../script.ts';
import { DROP_OTHER_ITEMS, POLL_FENCE } from './lua.ts';
import type { PollRef } from './triggers.ts';

const KEEP = defineScript({
  keys: ['meta', 'poll', 'knownItems'],
  args: ['token', 'name', 'value'],
  answers: { done: 'stored', fenced: "the poll is not the caller's", full: 'the project has no room' },
  body: `
    ${POLL_FENCE}
    local in_force = redis.call('HGET', poll, 'memory')
    ${DROP_OTHER_ITEMS}
    local bytes, quota = unpack(redis.call('HMGET', meta, 'bytes', 'quota'))
    bytes = tonumber(bytes or 0) + #value
    if quota and bytes > tonumber(quota) then return 'full' end
    redis.call('HSET', knownItems, name, value)
    redis.call('HSET', meta, 'bytes', bytes)
    return 'done'
  `,
});

/** `full`: the project has no room. */
export type StoredKnownItems =
  | { outcome: 'kept'; name: string }
  | { outcome: 'fenced' }
  | { outcome: 'full' }
  | Unavailable;

/**
 * Stores the bytes for `movePoll`, which brings them into force by name. Bytes that never came into force are
 * dropped.
 */
export function storeKnownItems(
  conn: RunStoreConnection,
  ref: PollRef,
  bytes: Buffer,
): Promise<StoredKnownItems> {
  const name = randomText(12);
  return orUnavailable(async (): Promise<StoredKnownItems> => {
    const answer = await conn.script(KEEP, keysOfKnownItems(ref), [
      ref.token,
      name,
      bytes.toString('base64'),
    ]);
    if (answer === 'fenced' || answer === 'full') return { outcome: answer };
    return { outcome: 'kept', name };
  });
}

const READ = defineScript({
  flags: 'reads',
  keys: ['poll', 'knownItems'],
  answers: 'the known items in force',
  body: `
    local in_force = redis.call('HGET', poll, 'memory')
    return in_force and redis.call('HGET', knownItems, in_force)
  `,
});

/** The known items in force; undefined where there are none, or the store has lost them. */
export function readKnownItems(
  conn: RunStoreConnection,
  { project, workflowUid }: PollRef,
): Promise<{ bytes: Buffer | undefined } | Unavailable> {
  const { poll, knownItems } = keysOf(project);
  return orUnavailable(async () => {
    const text = (await conn.script(READ, [poll(workflowUid), knownItems(workflowUid)], [])) as string | null;
    return { bytes: text ? Buffer.from(text, 'base64') : undefined };
  });
}

/** The keys `meta`, `poll` and `knownItems` of the trigger. */
export function keysOfKnownItems({ project, workflowUid }: PollRef): string[] {
  const { meta, poll, knownItems } = keysOf(project);
  return [meta, poll(workflowUid), knownItems(workflowUid)];
}
