/** The run store of an installed Windlass, as its operator sees it. */
import { OPERATOR_ACCOUNT } from '../../../store/accounts.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { forward } from './installedGateway.ts';
import { windlassNamespace } from './install.ts';
import { getJson, type ClusterAccess } from '../cluster/kubectl.ts';

/** User and password of the operator. */
export async function operatorAccount(
  cluster: ClusterAccess,
): Promise<{ username: string; password: string }> {
  type Passwords = { data: Record<string, string> };
  const name = 'secret/windlass-run-store';
  const { data } = await getJson<Passwords>(cluster, name, '-n', windlassNamespace);
  const password = Buffer.from(data['operator-password'] ?? '', 'base64').toString();
  return { username: OPERATOR_ACCOUNT, password };
}

/** A connection through a forwarded port, which does not outlive the pod of the store. */
export async function openRunStore(
  cluster: ClusterAccess,
): Promise<{ conn: RunStoreConnection; close: () => Promise<void> }> {
  const [account, port] = await Promise.all([
    operatorAccount(cluster),
    forward(cluster, windlassNamespace, 'windlass-redis', 'redis'),
  ]);
  const url = port.url.replace(/^http/, 'redis');
  const conn = connectRunStore({ url, name: 'tests', ...account });
  await conn.ready(AbortSignal.timeout(20_000));
  return {
    conn,
    close: async () => {
      await conn.close();
      port.close();
    },
  };
}
