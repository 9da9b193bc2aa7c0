import type { Provider } from '../../contract/provider.ts';

export const imap: Provider = {
  credentials: ['imap', 'oauth2'],
  title: 'kind imap, or kind oauth2 with imap',
  serves: (spec) => spec.imap !== undefined || spec.oauth2?.imap !== undefined,
  mail: async () => (await import('./poller.ts')).pollImap,
  check: async () => (await import('./check.ts')).checkImap,
};
