/** The identity of the server and its data: another one may have less data. For the operator alone. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from './connection.ts';

/**
 * Identifies the server process and its history of writes. Another process has another identity, and so does
 * the same process after it has copied the data of another one and was promoted.
 */
export function serverIdentity(conn: RunStoreConnection): Promise<string | Unavailable> {
  return orUnavailable(async () => {
    const text = String(await conn.command('info', 'server', 'replication'));
    const found = ['run_id', 'master_replid'].map(
      (name) => new RegExp(`^${name}:(\\w+)`, 'm').exec(text)?.[1],
    );
    return found.join(' ');
  });
}
