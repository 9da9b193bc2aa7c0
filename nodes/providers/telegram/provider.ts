import type { Provider } from '../../contract/provider.ts';
import { readTelegram } from './updates.ts';

export const telegram: Provider = {
  credentials: ['bot'],
  title: 'kind bot with the platform telegram',
  serves: ({ bot }) => bot !== undefined && (bot.platform ?? 'telegram') === 'telegram',
  messenger: async () => (await import('./messenger.ts')).telegramMessenger,
  bot: { platform: 'telegram', read: readTelegram },
  check: async () => (await import('./check.ts')).checkTelegram,
};
