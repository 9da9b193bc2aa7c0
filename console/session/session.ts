/** Who is signed in, and how one signs in and out. */
import { queryOptions } from '@tanstack/react-query';
import { call, callJson } from '../http/call.ts';

export type Session = {
  /** How one may sign in beside a token; null: not at all. */
  oidc: { label: string } | null;
} & (
  | { signedIn: false }
  | {
      signedIn: true;
      user: { name: string; groups?: string[] };
      expires: string | null;
      /** Where the world reaches webhooks and sign-ins of credentials; null: the gateway was not told. */
      publicURL: string | null;
    }
);

export const SESSION_KEY = ['session'];

export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  staleTime: Infinity,
  queryFn: ({ signal }) => callJson<Session>('/console/session', { signal, signsIn: false }),
});

/** Signs in with a token of the cluster. Throws an ApiFailure with status 401 where it is refused. */
export function signIn(token: string): Promise<Session> {
  return callJson<Session>('/console/session', { method: 'POST', body: { token }, signsIn: false });
}

/** Ends the session, here and on every other page of this browser. */
export async function signOut(): Promise<void> {
  await call('/console/session', { method: 'DELETE', signsIn: false });
}

/** Where one signs in at the cluster's issuer, and comes back to this page from. */
export function oidcStart(back: string): string {
  return `/console/oidc/start?to=${encodeURIComponent(back)}`;
}

/** A token as people paste it: without white space, and without the word Bearer. */
export function tokenText(pasted: string): string {
  return pasted.replace(/^\s*bearer\s+/i, '').replace(/\s+/g, '');
}
