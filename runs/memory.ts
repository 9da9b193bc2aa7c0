/** How full the run store is: the server's memory, and what the runs of each project take of it. For the operator alone. */
import { orUnavailable, type RunStoreConnection } from './connection.ts';
import { keysOf } from './keys.ts';
import type { ProjectUid, Unavailable } from './types.ts';

/** Bytes. `max` is 0 where the server has no limit. */
export type Memory = { used: number; max: number };

/** The server's memory, and above how much it accepts nothing. */
export function readMemory(conn: RunStoreConnection): Promise<Memory | Unavailable> {
  return orUnavailable(async () => {
    const text = String(await conn.command('info', 'memory'));
    const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    return { used: field('used_memory'), max: field('maxmemory') };
  });
}

/** What runs of the project take, and above how much `submit` refuses more; undefined where the project is not open. */
export function readUse(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<{ bytes: number; quota: number } | undefined | Unavailable> {
  return orUnavailable(async () => {
    const fields = await conn.command('hmget', keysOf(project).meta, 'id', 'bytes', 'quota');
    const [id, bytes, quota] = fields as (string | null)[];
    return id ? { bytes: Number(bytes ?? 0), quota: Number(quota ?? 0) } : undefined;
  });
}
