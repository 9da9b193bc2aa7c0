/** Creates a session from a token: for the user that the API server authenticates, until the token ends. */
import type { GatewayDeps } from '../../endpoint/deps.ts';
import { callerCredentials } from '../../endpoint/admit.ts';
import type { Exchange } from '../../http/answers.ts';
import { AUDIENCE, audiencesOf, claimsOf } from '../../access/identity.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { LONGEST_MS } from './keyring.ts';
import { newSessionId, type Session } from './sessions.ts';

/** Users of some companies are in hundreds of groups, and cookies are small. Groups are only displayed. */
const MOST_GROUPS = 20;

const REFUSALS = {
  unauthorized: 'token-refused',
  'too-often': 'too-many-calls',
  unavailable: 'cluster-unavailable',
} as const satisfies Record<string, ProblemCode>;

/** A new session for the token's user, or the problem. */
export async function createSession(
  deps: Pick<GatewayDeps, 'access' | 'limits'>,
  { token, refresh }: { token: string; refresh?: string | undefined },
  request: Exchange['request'],
): Promise<Session | ProblemCode> {
  if (!isForApiServer(token)) return 'token-refused';
  const identified = await deps.access.identify({
    ...callerCredentials(deps, request),
    authorization: `Bearer ${token}`,
  });
  if (identified.outcome !== 'known') return REFUSALS[identified.outcome];
  const { username, groups = [] } = identified.identity;
  return {
    id: newSessionId(),
    token,
    user: { name: username, groups: groups.slice(0, MOST_GROUPS) },
    tokenEnds: tokenExpiry(token),
    ends: refresh === undefined ? tokenExpiry(token) : Date.now() + LONGEST_MS,
    ...(refresh !== undefined && { refresh }),
  };
}

/** Whether the API server accepts the token: it refuses one for Windlass alone. */
function isForApiServer(token: string): boolean {
  const audiences = audiencesOf(token);
  return audiences.length === 0 || audiences.some((name) => name !== AUDIENCE);
}

/** The token's own expiry, at most a week from now. */
export function tokenExpiry(token: string): number {
  const { exp } = claimsOf(token);
  const latest = Date.now() + LONGEST_MS;
  return typeof exp === 'number' ? Math.min(exp * 1_000, latest) : latest;
}
