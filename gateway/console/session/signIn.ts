/** What a token becomes: a session of the user that the API server says it belongs to, until the token ends. */
import type { GatewayDeps } from '../../endpoint/deps.ts';
import { callerCredentials } from '../../endpoint/admit.ts';
import type { Exchange } from '../../http/answers.ts';
import { AUDIENCE, audiencesOf, claimsOf } from '../../access/identity.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { LONGEST_MS } from './keyring.ts';
import { newSessionId, type Session } from './sessions.ts';

/** A user of some companies is in hundreds, and cookies are small: they are shown, and decide nothing. */
const MOST_GROUPS = 20;

const REFUSALS = {
  unauthorized: 'token-refused',
  'too-often': 'too-many-calls',
  unavailable: 'cluster-unavailable',
} as const satisfies Record<string, ProblemCode>;

/** A new session of whoever the token belongs to, or why there is none. */
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

/** The API server must take it from the console: one that is for Windlass alone it refuses. */
function isForApiServer(token: string): boolean {
  const audiences = audiencesOf(token);
  return audiences.length === 0 || audiences.some((name) => name !== AUDIENCE);
}

/** When it ends by its own word, and at the latest after a week. */
export function tokenExpiry(token: string): number {
  const { exp } = claimsOf(token);
  const latest = Date.now() + LONGEST_MS;
  return typeof exp === 'number' ? Math.min(exp * 1_000, latest) : latest;
}
