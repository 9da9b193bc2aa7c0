/** The identity of the server process: a restarted server may have less data. For the operator alone. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from './connection.ts';

/** Identifies the server process; another process has another id. */
export function serverProcess(conn: RunStoreConnection): Promise<string | Unavailable> {
  return orUnavailable(async () => {
    const text = String(await conn.command('info', 'server'));
    return /^run_id:(\w+)/m.exec(text)?.[1] ?? '';
  });
}
