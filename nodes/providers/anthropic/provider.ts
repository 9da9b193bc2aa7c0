import type { Provider } from '../../contract/provider.ts';

export const anthropic: Provider = {
  credentials: ['anthropic'],
  title: 'kind anthropic',
  serves: (spec) => spec.anthropic !== undefined,
  check: async () => (await import('./check.ts')).checkAnthropic,
  model: async () => (await import('./model.ts')).anthropicModels,
};
