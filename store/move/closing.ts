/**
 * Closes projects in the store that they leave, and opens them in the other one. A closed project has no
 * `id`, so that it accepts no event and gives no claim, and no claims, so that a runner that was forgotten
 * stores nothing more. It has `moved`, so that no operator fills it again.
 */
import { keysOf, type ProjectUid } from '../keys.ts';
import { defineScript, type Script } from '../script.ts';
import { MoveProblem } from './problem.ts';
import type { MoveServers } from './servers.ts';

const CLOSE = defineScript({
  flags: 'drains',
  keys: ['meta', 'claims', 'movedClaims'],
  answers: {
    closed: 'the project is closed, or was before',
    seeding: 'the project is being seeded',
    none: 'the project has keys, and was never opened',
  },
  body: `
    local id, moved = unpack(redis.call('HMGET', meta, 'id', 'moved'))
    if moved then return 'closed' end
    if not id then return redis.call('EXISTS', meta) == 1 and 'seeding' or 'none' end
    redis.call('HSET', meta, 'moved', id)
    redis.call('HDEL', meta, 'id')
    if redis.call('EXISTS', claims) == 1 then redis.call('RENAME', claims, movedClaims) end
    return 'closed'
  `,
});

const OPEN = defineScript({
  flags: 'drains',
  keys: ['meta', 'claims', 'movedClaims'],
  answers: { done: 'the project is not closed any more' },
  body: `
    local id = redis.call('HGET', meta, 'moved')
    if id then
      redis.call('HSET', meta, 'id', id)
      redis.call('HDEL', meta, 'moved')
      if redis.call('EXISTS', movedClaims) == 1 then redis.call('RENAME', movedClaims, claims) end
    end
    return 'done'
  `,
});

/** @throws MoveProblem where the project is being restored, so that its data is incomplete */
export async function closeMoved(source: MoveServers, project: ProjectUid): Promise<void> {
  if ((await execute(source, CLOSE, project)) !== 'seeding') return;
  throw new MoveProblem(
    `the operator was restoring the project ${project} when it was stopped: start it, wait until it is ready, and try again`,
  );
}

/** Opens a project that was closed; does nothing where it was not. */
export async function openMoved(store: MoveServers, project: ProjectUid): Promise<void> {
  await execute(store, OPEN, project);
}

async function execute(store: MoveServers, { lua }: Script, project: ProjectUid): Promise<string> {
  const { meta, claims, movedClaims } = keysOf(project);
  const [answer] = await store.of(Buffer.from(meta)).ask([['eval', lua, 3, meta, claims, movedClaims]]);
  if (answer && 'value' in answer) return String(answer.value);
  throw new MoveProblem(
    `the ${store.side} refuses to close or open the project ${project}: ${answer?.refused}`,
  );
}
