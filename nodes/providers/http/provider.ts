import type { Provider } from '../../contract/provider.ts';

export const http: Provider = {
  credentials: ['http'],
  title: 'kind http',
  serves: (spec) => spec.http !== undefined,
  check: async () => (await import('./check.ts')).checkHttp,
  canCheck: (spec) => spec.http?.checkURL !== undefined,
};
