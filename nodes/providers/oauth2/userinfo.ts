/** What an access token can be tried by. Apart from the check, which the operator does not load. */
import type { CredentialSpec } from '../../../api/credential.ts';
import { providerOf } from '../../../api/provider.ts';

/** Whether there is anything that a connected account can be tried by. */
export function canUseToken({ oauth2 }: CredentialSpec): boolean {
  return oauth2 !== undefined && (oauth2.imap !== undefined || userinfoOf(oauth2) !== undefined);
}

/** Where the account is named to every token. Microsoft makes tokens for one service each, and names it to those of one alone. */
export function userinfoOf(oauth2: NonNullable<CredentialSpec['oauth2']>): string | undefined {
  return oauth2.preset === 'microsoft' ? undefined : providerOf(oauth2).userinfoURL;
}
