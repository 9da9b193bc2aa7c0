import type { CredentialSpec } from '../../../api/credential.ts';
import { providerOf } from '../../../api/provider.ts';
import type { Provider } from '../../provider.ts';

/** What all accounts that are connected in the browser have in common, whatever their provider. */
export const oauth2: Provider = {
  credentials: ['oauth2'],
  title: 'kind oauth2',
  serves: (spec) => spec.oauth2 !== undefined,
  check: async () => (await import('./check.ts')).checkOauth2,
  canCheck: (spec) =>
    spec.oauth2 !== undefined && (spec.oauth2.imap !== undefined || userinfoOf(spec.oauth2) !== undefined),
};

/**
 * The URL that names the account to every token; undefined if there is none. Microsoft issues tokens for one
 * service each, and names the account to those of one service only.
 */
export function userinfoOf(account: NonNullable<CredentialSpec['oauth2']>): string | undefined {
  return account.preset === 'microsoft' ? undefined : providerOf(account).userinfoURL;
}
