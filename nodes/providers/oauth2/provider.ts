import { userinfoOf } from '../../../api/provider.ts';
import type { Provider } from '../../contract/provider.ts';

/** What all accounts that are connected in the browser have in common, whatever their provider. */
export const oauth2: Provider = {
  credentials: ['oauth2'],
  title: 'kind oauth2',
  serves: (spec) => spec.oauth2 !== undefined,
  check: async () => (await import('./check.ts')).checkOauth2,
  canCheck: (spec) =>
    spec.oauth2 !== undefined && (spec.oauth2.imap !== undefined || userinfoOf(spec.oauth2) !== undefined),
};
