/** The connection of an oauth2 credential, as its status shows it. Pure. */
import type { Reason } from '../../api/conditions.ts';
import type { CredentialStatus } from '../../api/credential.ts';
import type { Credential } from '../../api/kinds.ts';
import { noticeAt } from './due.ts';
import type { Grant } from './grant.ts';

/** Whether the account is connected, and the fields of the status about it. */
export type Connection = {
  /** The finding of `Ready`, unless there is another problem. */
  finding: {
    status: 'True' | 'False';
    reason: Extract<Reason, 'Connected' | 'NotConnected' | 'Expiring' | 'Expired' | 'MissingScope'>;
    message: string;
  };
  shown: Pick<CredentialStatus, 'account' | 'expires' | 'connectURL' | 'scopes' | 'grantedScopes'>;
  /** When the access token was issued: each token has its own time. */
  obtainedAt: number | undefined;
};

/** The limits of the schema of the status. */
const MOST_SCOPES = 64;
const LONGEST_SCOPE = 512;

/** The facts about a credential. */
export type Facts = {
  credential: Credential;
  /** For the current client and endpoints; undefined if the account is not connected. */
  grant: Grant | undefined;
  /** The scopes that connecting requests. */
  scopes: readonly string[];
  /** The scopes that workflows need and the account did not grant. */
  missing: readonly string[];
  /** Why the last attempt to connect or renew failed, as a part of a sentence. */
  problem: string | undefined;
  /** The gateway's internal listener. */
  gatewayURL: string;
  now: Date;
};

export function connectionOfFacts(facts: Facts): Connection {
  const { grant, now } = facts;
  const connectURL = connectURLOf(facts);
  const shown = { connectURL, scopes: [...facts.scopes], ...(grant && shownOf(grant)) };
  return {
    finding: findingOf(facts, howToConnect(connectURL), now.getTime()),
    shown,
    obtainedAt: grant?.obtainedAt,
  };
}

function findingOf(
  { grant, missing, problem }: Facts,
  toConnect: string,
  now: number,
): Connection['finding'] {
  const why = problem === undefined ? '' : ` (${problem})`;
  if (grant === undefined)
    return { status: 'False', reason: 'NotConnected', message: `Not connected${why}. ${toConnect}` };
  if (grant.accessToken === '') {
    const message = `The provider revoked the access${why}. ${toConnect}`;
    return { status: 'False', reason: 'NotConnected', message };
  }
  if (grant.expiresAt !== undefined && grant.expiresAt <= now) {
    const detail = grant.refreshToken === undefined ? ' and the provider issued no refresh token' : why;
    return { status: 'False', reason: 'Expired', message: `The access has expired${detail}. ${toConnect}` };
  }
  if (now >= (noticeAt(grant) ?? Infinity)) return { status: 'True', ...ending(grant, problem, toConnect) };
  if (missing.length > 0) {
    const message = `Connected, but workflows need more scopes: ${missing.join(', ')}. ${toConnect}`;
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
      ? `${until}: the provider issued no refresh token. Connect it again before that time. ${toConnect}`
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

function howToConnect(connectURL: string): string {
  return `To connect it, POST to ${connectURL} with a Kubernetes token, and open the link in the response.`;
}
