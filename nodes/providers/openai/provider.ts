import type { Provider } from '../../contract/provider.ts';

export const openai: Provider = {
  credentials: ['openai'],
  title: 'kind openai',
  serves: (spec) => spec.openai !== undefined,
  check: async () => (await import('./check.ts')).checkOpenai,
  model: async () => (await import('./model.ts')).openaiModels,
};
