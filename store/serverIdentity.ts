/** The identity of servers and their data: others may have less data. */
import { isUnavailable, orUnavailable, type RunStoreConnection, type Unavailable } from './connection.ts';
import type { ServerCalls } from './replicas.ts';

/**
 * Identifies each server that takes writes, by its name: the process and its history of writes. Another
 * process has another identity, and so does the same process after it has copied the data of another one and
 * was promoted. Servers that do not answer are left out. For the operator alone.
 */
export function serverIdentities(conn: RunStoreConnection): Promise<Map<string, string> | Unavailable> {
  return orUnavailable(async () => {
    const primaries = await conn.primaries();
    const found = await Promise.all(primaries.map((server) => orUnavailable(() => identityOf(server))));
    const known = primaries.flatMap(({ name }, index) => {
      const identity = found[index];
      return typeof identity === 'string' ? [[name, identity] as const] : [];
    });
    const failed = found.find(isUnavailable);
    return known.length === 0 && failed ? failed : new Map(known);
  });
}

async function identityOf({ command }: ServerCalls): Promise<string> {
  return identityIn(String(await command('info', 'server', 'replication')));
}

/** The identity of the server that gave this answer to `INFO`. */
export function identityIn(info: string): string {
  const found = ['run_id', 'master_replid'].map((name) => new RegExp(`^${name}:(\\w+)`, 'm').exec(info)?.[1]);
  return found.join(' ');
}
