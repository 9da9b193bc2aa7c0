/**
 * Whose requests are passed on: of callers whose token the cluster has accepted lately. A token that nobody knows is asked about first,
 * within the bounds that hold for all of the gateway, so that garbage costs the API server no more here than elsewhere.
 */
import type { Clock } from '../../kube/clock.ts';
import type { Access, Shown } from '../internal/access.ts';
import { createExpiring } from '../internal/expiring.ts';
import { bearerToken } from '../internal/identity.ts';
import type { ProblemCode } from '../problems.ts';
import { tokenKey } from './slots.ts';

/** `key` stands for the token where it is counted or remembered. */
export type Caller = { token: string; key: string };

export type Callers = {
  /** Who calls, or why nothing is passed on for them. Costs nothing for who is known. */
  admit: (shown: Shown) => Promise<Caller | ProblemCode>;
  /** To be told of each answer: the API server itself decides about a token each time. */
  answered: (caller: Caller, status: number) => void;
};

const VOUCHED_MS = 600_000;
const MAX_VOUCHED = 8_192;

export function createCallers(access: Pick<Access, 'identify'>, clock: Clock): Callers {
  const vouched = createExpiring<true>(MAX_VOUCHED, clock);
  return {
    admit: async (shown) => {
      const token = bearerToken(shown.authorization);
      if (token === undefined) return 'unauthorized';
      const caller = { token, key: tokenKey(token) };
      if (vouched.get(caller.key) === true) return caller;
      const { outcome } = await access.identify(shown);
      if (outcome === 'unauthorized') return 'unauthorized';
      if (outcome !== 'known') return 'cluster-unavailable';
      vouched.set(caller.key, true, clock.now() + VOUCHED_MS);
      return caller;
    },
    answered: ({ key }, status) => {
      if (status === 401) vouched.delete(key);
    },
  };
}
