/**
 * What a polled trigger remembers beside its cursor: bytes that are too large for the status, such as what each row of a sheet was. They
 * are kept under a name of their own first and are in force from the moment in which the cursor of the same look is, so that the two
 * never disagree. They count as bytes of the project.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../connection.ts';
import { keysOf } from '../keys.ts';
import { defineScript } from '../script.ts';
import { DROP_OTHERS, POLL_FENCE } from './lua.ts';
import type { PollRef } from './triggers.ts';
import { randomText } from '../random.ts';

const KEEP = defineScript({
  keys: ['meta', 'poll', 'kept'],
  args: ['token', 'name', 'value'],
  body: `
    ${POLL_FENCE}
    local memory = redis.call('HGET', poll, 'memory')
    ${DROP_OTHERS}
    local used = redis.call('HMGET', meta, 'bytes', 'quota')
    local bytes = tonumber(used[1] or 0) + #value
    if used[2] and bytes > tonumber(used[2]) then return 'full' end
    redis.call('HSET', kept, name, value)
    redis.call('HSET', meta, 'bytes', bytes)
    return 'done'
  `,
});

/** `full`: the project may hold no more. */
export type KeptMemory =
  | { outcome: 'kept'; name: string }
  | { outcome: 'fenced' }
  | { outcome: 'full' }
  | Unavailable;

/** Keeps the bytes for `movePoll`, which brings them into force by their name. What was kept and not brought into force goes. */
export function keepMemory(conn: RunStoreConnection, ref: PollRef, bytes: Buffer): Promise<KeptMemory> {
  const name = randomText(12);
  return orUnavailable(async (): Promise<KeptMemory> => {
    const answer = await conn.script(KEEP, keysOfMemory(ref), [ref.token, name, bytes.toString('base64')]);
    if (answer === 'fenced' || answer === 'full') return { outcome: answer };
    return { outcome: 'kept', name };
  });
}

const READ = defineScript({
  flags: 'reads',
  keys: ['poll', 'kept'],
  body: `
    local memory = redis.call('HGET', poll, 'memory')
    return memory and redis.call('HGET', kept, memory)
  `,
});

/** What is in force; undefined where nothing is, or where the store has lost it. */
export function readMemory(
  conn: RunStoreConnection,
  { project, workflowUid }: PollRef,
): Promise<{ bytes: Buffer | undefined } | Unavailable> {
  const { poll, kept } = keysOf(project);
  return orUnavailable(async () => {
    const text = (await conn.script(READ, [poll(workflowUid), kept(workflowUid)], [])) as string | null;
    return { bytes: text ? Buffer.from(text, 'base64') : undefined };
  });
}

/** `meta`, `poll` and `kept` of the trigger. */
export function keysOfMemory({ project, workflowUid }: PollRef): string[] {
  const { meta, poll, kept } = keysOf(project);
  return [meta, poll(workflowUid), kept(workflowUid)];
}
