import type { Provider } from '../../contract/provider.ts';

export const smtp: Provider = {
  credentials: ['smtp'],
  title: 'kind smtp',
  serves: (spec) => spec.smtp !== undefined,
  check: async () => (await import('./check.ts')).checkSmtp,
};
