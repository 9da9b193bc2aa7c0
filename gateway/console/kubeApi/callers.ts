/**
 * Authenticates callers of the pass-through. A token that the cluster accepted recently is forwarded at once.
 * Others are reviewed first, within the gateway's limits, so that garbage costs the API server no more here
 * than elsewhere.
 */
import type { Clock } from '../../../kube/clock.ts';
import type { Access, CallerCredentials } from '../../access/access.ts';
import { createExpiringMap } from '../../limits/boundedMaps.ts';
import { bearerToken, tokenKey, type Identity } from '../../access/identity.ts';
import type { ProblemCode } from '../../contract/problems.ts';

/** `key` is a hash of the token. `user` is its owner at the time of the review. */
export type Caller = { token: string; key: string; user: Pick<Identity, 'username' | 'uid' | 'groups'> };

export type Callers = {
  /** The caller, or the problem. A known caller needs no review. */
  admit: (shown: CallerCredentials) => Promise<Caller | ProblemCode>;
  /** Call with the status of each answer: the API server decides about the token each time. */
  answered: (caller: Caller, status: number) => void;
};

const ACCEPTED_MS = 600_000;
const MAX_ACCEPTED = 8_192;

export function createCallers(access: Pick<Access, 'identify'>, clock: Clock): Callers {
  const accepted = createExpiringMap<Caller['user']>(MAX_ACCEPTED, clock);
  return {
    admit: async (shown) => {
      const token = bearerToken(shown.authorization);
      if (token === undefined) return 'unauthorized';
      const key = tokenKey(token);
      const known = accepted.get(key);
      if (known !== undefined) return { token, key, user: known };
      const identified = await access.identify(shown);
      if (identified.outcome === 'unauthorized') return 'unauthorized';
      if (identified.outcome !== 'known') return 'cluster-unavailable';
      const { username, uid, groups } = identified.identity;
      const user = { username, ...(uid !== undefined && { uid }), ...(groups && { groups }) };
      accepted.set(key, user, clock.now() + ACCEPTED_MS);
      return { token, key, user };
    },
    answered: ({ key }, status) => {
      if (status === 401) accepted.delete(key);
    },
  };
}
