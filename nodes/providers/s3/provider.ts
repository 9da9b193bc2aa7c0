import type { Provider } from '../../contract/provider.ts';

export const s3: Provider = {
  credentials: ['s3'],
  title: 'kind s3',
  serves: (spec) => spec.s3 !== undefined,
  files: async () => (await import('./source.ts')).s3Source,
  store: async () => (await import('./store.ts')).s3Store,
  check: async () => (await import('./check.ts')).checkS3,
};
