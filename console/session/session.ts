/** The signed-in user, sign-in and sign-out. */
import { queryOptions } from '@tanstack/react-query';
import { call, callJson } from '../http/call.ts';

export type Session = {
  /** The sign-in beside tokens; null: none. */
  oidc: { label: string } | null;
} & (
  | { signedIn: false }
  | {
      signedIn: true;
      user: { name: string; groups?: string[] };
      expires: string | null;
      /** The public URL of webhooks and OAuth callbacks; null: not configured. */
      publicURL: string | null;
      /** Whether the administrator admits asking a language model for drafts. */
      helpMeBuild: boolean;
    }
);

/** The name of the signed-in user, if there is one. */
export function userNameOf(session: Session | undefined): string | undefined {
  return session?.signedIn === true ? session.user.name : undefined;
}

export const SESSION_KEY = ['session'];

export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  staleTime: Infinity,
  queryFn: ({ signal }) => callJson<Session>('/console/session', { signal, signsIn: false }),
});

/** Signs in with a cluster token. Throws an ApiFailure with status 401 if it is refused. */
export function signIn(token: string): Promise<Session> {
  return callJson<Session>('/console/session', { method: 'POST', body: { token }, signsIn: false });
}

/** Ends the session on all pages of this browser. */
export async function signOut(): Promise<void> {
  await call('/console/session', { method: 'DELETE', signsIn: false });
}

/** The URL that starts the OpenID Connect sign-in and returns to this page. */
export function oidcStart(back: string): string {
  return `/console/oidc/start?to=${encodeURIComponent(back)}`;
}

/** A pasted token without white space and the word "Bearer". */
export function tokenText(pasted: string): string {
  return pasted.replace(/^\s*bearer\s+/i, '').replace(/\s+/g, '');
}
