/**
 * Closes projects in the source, and opens them in the target. A closed project has no `id`, so that it
 * accepts no events and gives no claims. It has no claims, so that a runner that still executes a run
 * cannot store anything. It has `moved`, so that an operator does not seed it.
 */
import { keysOf, type ProjectUid } from '../keys.ts';
import { defineScript, type Script } from '../script.ts';
import { MoveProblem } from './problem.ts';
import type { MoveServers } from './servers.ts';

const CLOSE = defineScript({
  flags: 'drains',
  keys: ['meta', 'claims', 'movedClaims'],
  answers: {
    closed: 'the project is closed',
    seeding: 'the project is being seeded',
    unopened: 'the project has keys, but was never opened',
  },
  body: `
    local id, moved = unpack(redis.call('HMGET', meta, 'id', 'moved'))
    if moved then return 'closed' end
    if not id then return redis.call('EXISTS', meta) == 1 and 'seeding' or 'unopened' end
    redis.call('HSET', meta, 'moved', id)
    redis.call('HDEL', meta, 'id')
    if redis.call('EXISTS', claims) == 1 then redis.call('RENAME', claims, movedClaims) end
    return 'closed'
  `,
});

const OPEN = defineScript({
  flags: 'drains',
  keys: ['meta', 'claims', 'movedClaims'],
  answers: { open: 'the project is open, or was never opened' },
  body: `
    local id = redis.call('HGET', meta, 'moved')
    if id then
      redis.call('HSET', meta, 'id', id)
      redis.call('HDEL', meta, 'moved')
      if redis.call('EXISTS', movedClaims) == 1 then redis.call('RENAME', movedClaims, claims) end
    end
    return 'open'
  `,
});

/**
 * Closes an open project. @throws MoveProblem if its data is incomplete, because an operator was seeding it
 */
export async function closeProject(source: MoveServers, project: ProjectUid): Promise<void> {
  if ((await execute(source, CLOSE, project)) !== 'seeding') return;
  throw new MoveProblem(
    `the operator was stopped while it restored the project ${project}: start it, wait until it is ready, stop it, and call the command again`,
  );
}

/** Opens a closed project. Does nothing if it is not closed. */
export async function reopenProject(store: MoveServers, project: ProjectUid): Promise<void> {
  await execute(store, OPEN, project);
}

async function execute(store: MoveServers, { lua }: Script, project: ProjectUid): Promise<string> {
  const { meta, claims, movedClaims } = keysOf(project);
  const [answer] = await store.of(Buffer.from(meta)).ask([['eval', lua, 3, meta, claims, movedClaims]]);
  if (answer && 'value' in answer) return String(answer.value);
  throw new MoveProblem(
    `the ${store.side} refuses the script that closes or opens the project ${project}: ${answer?.refused}`,
  );
}
