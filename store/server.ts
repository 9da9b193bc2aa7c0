/** Which process of the server answers: one that was started anew may have less than the one before it. For the operator alone. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from './connection.ts';

/** Names the process that answers; another one has another name. */
export function serverProcess(conn: RunStoreConnection): Promise<string | Unavailable> {
  return orUnavailable(async () => {
    const text = String(await conn.command('info', 'server'));
    return /^run_id:(\w+)/m.exec(text)?.[1] ?? '';
  });
}
