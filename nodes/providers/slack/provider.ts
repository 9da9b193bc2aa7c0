import type { Provider } from '../../contract/provider.ts';
import { readSlack } from './events.ts';

export const slack: Provider = {
  credentials: ['bot'],
  title: 'kind bot with the platform slack',
  serves: ({ bot }) => bot?.platform === 'slack',
  messenger: async () => (await import('./messenger.ts')).slackMessenger,
  bot: { platform: 'slack', read: readSlack },
  check: async () => (await import('./check.ts')).checkSlack,
};
