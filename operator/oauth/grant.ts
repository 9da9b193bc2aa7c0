/**
 * What a provider has granted: tokens, until when, for which rights. Two Secrets of a project hold it:
 * `windlass-refresh-tokens` all of it, for the operator alone; `windlass-tokens` the access tokens, which is
 * all that runners may read. Pure.
 */
import * as z from 'zod';
import { parseOrUndefined } from '../../api/parseOrUndefined.ts';
import { connectionKey, TOKENS } from '../../api/token.ts';
import { API_VERSION } from '../../api/group.ts';
import { CREDENTIAL, type Credential } from '../../api/kinds.ts';
import type { Manifest } from '../../kube/writes.ts';
import type { Secret } from '../../kube/resource.ts';
import type { Issued } from './endpoint.ts';

/**
 * Of the operator alone. Its entries are named by the uid of the credential, so that one of the same name
 * inherits nothing.
 */
export const REFRESH_TOKENS = 'windlass-refresh-tokens';

const grant = z.object({
  /** The hash of the client and the endpoints that it was given for. */
  connection: z.string(),
  /** Empty if the provider revoked the access. */
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** Milliseconds since 1970. */
  obtainedAt: z.number(),
  /** Left out: the provider did not say. */
  expiresAt: z.number().optional(),
  scopes: z.array(z.string()),
  account: z.string().optional(),
});

export type Grant = z.infer<typeof grant>;

/** What the provider does not say is as before, or as it was asked for (RFC 6749, sections 5.1 and 6). */
export function grantOf(
  issued: Extract<Issued, { outcome: 'issued' }>,
  before: Pick<Grant, 'connection' | 'scopes'> & Partial<Grant>,
  obtainedAt: number,
): Grant {
  const { accessToken, expiresInMs } = issued;
  const refreshToken = issued.refreshToken ?? before.refreshToken;
  const account = issued.account ?? before.account;
  return {
    connection: before.connection,
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    obtainedAt,
    ...(expiresInMs !== undefined && { expiresAt: obtainedAt + expiresInMs }),
    scopes: issued.scopes ?? before.scopes,
    ...(account !== undefined && { account }),
  };
}

/** Stored, so that the next leader knows that the account was connected. */
export function revokedGrant({ connection, obtainedAt }: Grant): Grant {
  return { connection, accessToken: '', obtainedAt, scopes: [] };
}

/** Whether the access token is valid at that time, in milliseconds since 1970. */
export function isUsable({ accessToken, expiresAt = Infinity }: Grant, now: number): boolean {
  return accessToken !== '' && expiresAt > now;
}

/** Parses a grant of the operator's Secret; undefined if it is invalid. */
export function parseGrant(text: string | undefined): Grant | undefined {
  return text === undefined ? undefined : grant.safeParse(parseOrUndefined(text)).data;
}

/**
 * The entries of a Secret, as text: of the operator's by the uid of the credential, of the runners' by its
 * name.
 */
export function textsIn(secret: Secret | undefined): ReadonlyMap<string, string> {
  return new Map(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, decoded(value)]));
}

/** The grant of a credential, as a part of the operator's Secret. */
export function grantPart(credential: Credential, value: Grant): Manifest<Secret> {
  return partOf(credential, REFRESH_TOKENS, { [credential.metadata.uid ?? '']: JSON.stringify(value) });
}

/** The part of a grant that runners get: the access token, and the connection that they may use it for. */
export type Shown = Pick<Grant, 'accessToken' | 'connection'>;

/** The access token of a credential, as a part of the runners' Secret. */
export function tokenPart(credential: Credential, { accessToken, connection }: Shown): Manifest<Secret> {
  const { name } = credential.metadata;
  return partOf(credential, TOKENS, { [name]: accessToken, [connectionKey(name)]: connection });
}

/** All credentials with entries own the Secret, so that it is deleted with the last of them. */
function partOf({ metadata }: Credential, secret: string, texts: Record<string, string>): Manifest<Secret> {
  const { namespace = '', name, uid = '' } = metadata;
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')]),
  );
  return {
    metadata: {
      namespace,
      name: secret,
      labels: { 'app.kubernetes.io/name': secret, 'app.kubernetes.io/managed-by': 'windlass' },
      ownerReferences: [{ apiVersion: API_VERSION, kind: CREDENTIAL.kind, name, uid }],
    },
    type: 'Opaque',
    data,
  };
}

function decoded(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}
