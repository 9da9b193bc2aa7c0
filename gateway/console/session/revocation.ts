/** Takes a refresh token back at the provider when its session ends, without anybody who waits for it (RFC 7009). */
import type { Log } from '../../../kube/log.ts';
import type { RunStoreConnection } from '../../../runs/connection.ts';
import type { Provider } from './oidc.ts';
import { readRenewed } from './renewal.ts';

/** A token that was renewed meanwhile leads to the next one. */
const MOST_RENEWALS = 3;

type RevocationOptions = { conn: RunStoreConnection; provider: Pick<Provider, 'revoke'>; log: Log };

/** Best effort: what fails is logged, and the token ends at the provider by itself. Never throws. */
export function createRevocation({ conn, provider, log }: RevocationOptions): (refreshToken: string) => void {
  const revoke = async (refreshToken: string): Promise<void> => {
    let newest = refreshToken;
    for (let renewals = 0; renewals < MOST_RENEWALS; renewals += 1) {
      const renewed = (await readRenewed(conn, newest))?.refresh;
      if (renewed === undefined || renewed === newest) break;
      newest = renewed;
    }
    await provider.revoke(newest);
  };
  return (refreshToken) => {
    revoke(refreshToken).catch((error: unknown) =>
      log.warn({ err: error }, 'revoking a refresh token failed'),
    );
  };
}
