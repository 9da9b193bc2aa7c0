/** What the status of a credential of kind oauth2 says of its connection. Pure. */
import type { Reason } from '../../api/conditions.ts';
import type { CredentialStatus } from '../../api/credential.ts';
import type { Credential } from '../../api/kinds.ts';
import { noticeAt } from './due.ts';
import type { Grant } from './grant.ts';

/** Whether the account is connected, and what the status shows of it. */
export type Connection = {
  /** What the condition `Ready` says, unless something else is wrong. */
  finding: {
    status: 'True' | 'False';
    reason: Extract<Reason, 'Connected' | 'NotConnected' | 'Expiring' | 'Expired' | 'MissingScope'>;
    message: string;
  };
  shown: Pick<CredentialStatus, 'account' | 'expires' | 'connectURL' | 'scopes' | 'grantedScopes'>;
  /** When the access token was given, which is another time for each. */
  obtainedAt: number | undefined;
};

/** What the schema of the status holds. */
const MOST_SCOPES = 64;
const LONGEST_SCOPE = 512;

/** What is known of a credential at a moment. */
export type Facts = {
  credential: Credential;
  /** Of the current client and endpoints; undefined: nobody has connected it. */
  grant: Grant | undefined;
  /** What connecting asks for. */
  scopes: readonly string[];
  /** What workflows need and the account has not given. */
  missing: readonly string[];
  /** Why the last connecting or renewal did not work, as a part of a sentence. */
  problem: string | undefined;
  /** The gateway's internal listener. */
  gatewayURL: string;
  now: Date;
};

/** What to say. */
export function connectionOfFacts(facts: Facts): Connection {
  const { grant, now } = facts;
  const connectURL = connectURLOf(facts);
  const shown = { connectURL, scopes: [...facts.scopes], ...(grant && shownOf(grant)) };
  return { finding: judged(facts, how(connectURL), now.getTime()), shown, obtainedAt: grant?.obtainedAt };
}

function judged({ grant, missing, problem }: Facts, toConnect: string, now: number): Connection['finding'] {
  const why = problem === undefined ? '' : ` (${problem})`;
  if (grant === undefined)
    return { status: 'False', reason: 'NotConnected', message: `Not connected${why}. ${toConnect}` };
  if (grant.accessToken === '') {
    const message = `The provider has taken the access back${why}. ${toConnect}`;
    return { status: 'False', reason: 'NotConnected', message };
  }
  if (grant.expiresAt !== undefined && grant.expiresAt <= now) {
    const told = grant.refreshToken === undefined ? ' and the provider gave no refresh token' : why;
    return { status: 'False', reason: 'Expired', message: `The access has ended${told}. ${toConnect}` };
  }
  if (now >= (noticeAt(grant) ?? Infinity)) return { status: 'True', ...ending(grant, problem, toConnect) };
  if (missing.length > 0) {
    const message = `Connected, but workflows need more: ${missing.join(', ')}. ${toConnect}`;
    return { status: 'True', reason: 'MissingScope', message };
  }
  const message = problem === undefined ? 'Connected.' : `Connected, but ${problem}.`;
  return { status: 'True', reason: 'Connected', message };
}

function ending(
  { expiresAt = 0, refreshToken }: Grant,
  problem: string | undefined,
  toConnect: string,
): Pick<Connection['finding'], 'reason' | 'message'> {
  const until = `Connected until ${timeOf(expiresAt)}`;
  const message =
    refreshToken === undefined
      ? `${until}: the provider gave no refresh token. Connect it again before that. ${toConnect}`
      : `${until}, but ${problem ?? 'it was not renewed yet'}.`;
  return { reason: 'Expiring', message };
}

function shownOf({ accessToken, account, expiresAt, scopes }: Grant): Connection['shown'] {
  if (accessToken === '') return {};
  return {
    ...(account !== undefined && { account }),
    ...(expiresAt !== undefined && { expires: timeOf(expiresAt) }),
    grantedScopes: scopes.filter(({ length }) => length <= LONGEST_SCOPE).slice(0, MOST_SCOPES),
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

function connectURLOf({ credential: { metadata }, gatewayURL }: Facts): string {
  return `${gatewayURL}/credentials/${metadata.namespace ?? ''}.${metadata.name}/connect`;
}

function how(connectURL: string): string {
  return `To connect it, POST to ${connectURL} with a token of the cluster, and open the link that it answers.`;
}
