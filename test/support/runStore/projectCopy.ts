/**
 * A project in the run store, put back to how it was: what a failover to a replica that lagged, or an older
 * copy of the volume, does.
 */
import type { RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';

const COPY = `
for _, key in ipairs(redis.call('KEYS', 'copy:*')) do redis.call('UNLINK', key) end
for _, key in ipairs(redis.call('KEYS', '*')) do
  if string.sub(key, 1, #ARGV[1]) == ARGV[1] then redis.call('COPY', key, 'copy:' .. key, 'REPLACE') end
end
`;
const PUT_BACK = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  if string.sub(key, 1, #ARGV[1]) == ARGV[1] then redis.call('UNLINK', key) end
end
for _, key in ipairs(redis.call('KEYS', 'copy:*')) do
  redis.call('COPY', key, string.sub(key, 6))
end
`;
const WIPE = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  if string.sub(key, 1, #ARGV[1]) == ARGV[1] and not string.find(key, ':rev:', 1, true) then redis.call('UNLINK', key) end
end
`;

/**
 * Copies all keys of the project, in place of earlier copies, and answers with a function that puts them back
 * in place of what there is by then.
 */
export async function copyProject(
  conn: RunStoreConnection,
  project: string,
): Promise<() => Promise<unknown>> {
  const { prefix } = keysOf(project);
  await conn.command('eval', COPY, 0, prefix);
  return () => conn.command('eval', PUT_BACK, 0, prefix);
}

/** All keys of the project are gone, but for revisions, which the operator would put back first. */
export async function wipeProject(conn: RunStoreConnection, project: string): Promise<void> {
  await conn.command('eval', WIPE, 0, keysOf(project).prefix);
}
