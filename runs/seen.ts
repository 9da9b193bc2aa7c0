/**
 * Seen keys: what a node remembers across the runs of its workflow. Guarantees: keys are stored in the script
 * that stores the output of the node, and only if no other run has stored one of them since they were read;
 * so each key is new in exactly one run, whatever crashes, unless that run is retried. A run sees what it, or
 * the run that it repeats, has stored as new.
 */
import { createHash } from 'node:crypto';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { workflowOfGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { READ_NOW, REQUIRE_STORE } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { groupOfToken } from './claimToken.ts';
import type { Remembered } from './types/advance.ts';
import type { ClaimRef } from './types/claim.ts';

/** Bytes of a seen key in Redis; measured in `test/integration/runs/seen.test.ts`. */
export const SEEN_KEY_BYTES = 140;

/** A member is 12 bytes of the SHA-256 of its key, in base64. */
const MEMBER_LENGTH = 16;
/** The score is the minute at which the key expires, times this, plus the tag of the run. */
const TAGS = 2 ** 26;
const MINUTE_MS = 60_000;
/** Values of one command: Lua unpacks few at a time. */
const AT_ONCE = 1_000;

/**
 * The rows of a script that remembers keys: `members` of all keys together, `also` the tag of another run.
 */
export const REMEMBER_ROW = {
  args: ['node', 'members', 'minutes', 'limit', 'tag', 'also'],
  keys: ['seen'],
} as const;

/** `is_seen(score, tag, also)`: whether a key with this score was seen by another run and has not expired. */
export const IS_SEEN = defineFragment({
  needs: ['now'],
  gives: ['minute', 'is_seen'],
  lua: `
local minute = math.floor(now / ${MINUTE_MS})
local function is_seen(score, tag, also)
  if not score then return false end
  local expires = math.floor(tonumber(score) / ${TAGS})
  local by = tonumber(score) - expires * ${TAGS}
  return expires > minute and by ~= tonumber(tag) and by ~= tonumber(also)
end
`,
});

/** Ends the script where another run has seen one of the keys. */
export const REFUSE_SEEN = defineFragment({
  needs: ['is_seen', 'remembered'],
  lua: `
for _, _, members, _, _, tag, also, seen in remembered() do
  for at = 1, #members, ${MEMBER_LENGTH} do
    local score = redis.call('ZSCORE', seen, string.sub(members, at, at + ${MEMBER_LENGTH - 1}))
    if is_seen(score, tag, also) then return 'seen' end
  end
end
`,
});

/** Stores the keys, removes those that have expired and those beyond the limit, and counts the bytes. */
export const REMEMBER = defineFragment({
  needs: ['meta', 'seenNodes', 'minute', 'remembered'],
  lua: `
for _, node, members, minutes, limit, tag, _, seen in remembered() do
  local score, added, rows = (minute + 1 + minutes) * ${TAGS} + tag, 0, {}
  for at = 1, #members, ${MEMBER_LENGTH} do
    rows[#rows + 1] = score
    rows[#rows + 1] = string.sub(members, at, at + ${MEMBER_LENGTH - 1})
    if #rows == ${AT_ONCE} or at + ${MEMBER_LENGTH} > #members then
      added = added + redis.call('ZADD', seen, unpack(rows))
      rows = {}
    end
  end
  local present = string.format('(%.0f', (minute + 1) * ${TAGS})
  local old
  repeat
    old = redis.call('ZRANGE', seen, '-inf', present, 'BYSCORE', 'LIMIT', 0, ${AT_ONCE})
    if #old == 0 then
      local beyond = math.min(redis.call('ZCARD', seen) - limit, ${AT_ONCE})
      old = beyond > 0 and redis.call('ZRANGE', seen, 0, beyond - 1) or {}
    end
    if #old > 0 then added = added - redis.call('ZREM', seen, unpack(old)) end
  until #old == 0
  redis.call('SADD', seenNodes, node)
  redis.call('HINCRBY', meta, 'bytes', added * ${SEEN_KEY_BYTES})
end
`,
});

const READ_SEEN = defineScript({
  flags: 'reads',
  keys: ['meta', 'seen'],
  args: ['members', 'tag', 'also'],
  answers: 'a text with 1 for each key that another run has seen, else 0',
  body: `
    ${REQUIRE_STORE}
    ${READ_NOW}
    ${IS_SEEN}
    local found = {}
    for at = 1, #members, ${MEMBER_LENGTH} do
      local score = redis.call('ZSCORE', seen, string.sub(members, at, at + ${MEMBER_LENGTH - 1}))
      found[#found + 1] = is_seen(score, tag, also) and '1' or '0'
    end
    return table.concat(found)
  `,
});

const FORGET_SEEN = defineScript({
  flags: 'drains',
  keys: ['meta', 'seenNodes'],
  lists: { forgotten: { args: ['node'], keys: ['seen'] } },
  answers: { done: 'the seen keys of these nodes are removed' },
  body: `
    ${REQUIRE_STORE}
    for _, _, seen in forgotten() do
      redis.call('HINCRBY', meta, 'bytes', 0 - ${SEEN_KEY_BYTES} * redis.call('ZCARD', seen))
      redis.call('UNLINK', seen)
    end
    redis.call('UNLINK', seenNodes)
    return 'done'
  `,
});

type Reader = {
  project: ProjectUid;
  workflowUid: string;
  node: string;
  run: string;
  retryOf?: string | undefined;
};

/** For each key whether another run has seen it. */
export function readSeen(
  conn: RunStoreConnection,
  { project, workflowUid, node, run, retryOf }: Reader,
  keys: readonly string[],
): Promise<{ outcome: 'done'; seen: boolean[] } | Unavailable> {
  const { meta, seen } = keysOf(project);
  return orUnavailable(async () => {
    const args = argumentsOf(READ_SEEN, { members: membersOf(keys), tag: tagOf(run), also: tagOf(retryOf) });
    const found = await conn.script(READ_SEEN, [meta, seen(workflowUid, node)], args);
    return { outcome: 'done', seen: Array.from(String(found), (digit) => digit === '1') };
  });
}

/** Removes the seen keys of a workflow. */
export async function forgetSeen(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<void> {
  const { meta, seen, seenNodes } = keysOf(project);
  const nodes = (await conn.command('smembers', seenNodes(workflowUid))) as string[];
  if (nodes.length === 0) return;
  const keys = nodes.map((node) => seen(workflowUid, node));
  const args = argumentsOf(FORGET_SEEN, { forgotten: nodes.map((node) => [node]) });
  await conn.script(FORGET_SEEN, [meta, seenNodes(workflowUid), ...keys], args);
}

/** The arguments of a `REMEMBER_ROW`. */
export function rememberedRow(run: string, { node, keys, ttlMs, limit, retryOf }: Remembered) {
  return [node, membersOf(keys), Math.ceil(ttlMs / MINUTE_MS), limit, tagOf(run), tagOf(retryOf)];
}

/** The key of a `REMEMBER_ROW`. */
export function seenKey({ project, token }: ClaimRef, node: string): string {
  return keysOf(project).seen(workflowOfGroup(groupOfToken(token)), node);
}

function membersOf(keys: readonly string[]): string {
  return keys.map((key) => hashOf(key).toString('base64').slice(0, MEMBER_LENGTH)).join('');
}

function tagOf(run: string | undefined): number | '' {
  return run === undefined ? '' : hashOf(run).readUInt32BE() % TAGS;
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
