import { expect, test } from 'vitest';
import { credentialRefs, credentialsOfRevision } from './credentialRefs.ts';

const fallback = [
  { credential: 'claude', model: 'm' },
  { credential: 'llm', model: 'n' },
];
const agent = { credential: 'llm', model: 'm', prompt: 'p', fallback };

test('an agent names its credential and those of its fallback, which must lead to models', () => {
  const refs = credentialRefs({ nodes: [{ id: 'a', agent }], edges: [], active: true });
  expect(refs.map(({ name, kinds }) => [name, kinds])).toEqual([
    ['llm', ['openai', 'anthropic']],
    ['claude', ['openai', 'anthropic']],
    ['llm', ['openai', 'anthropic']],
  ]);
});

test('a revision names each credential once', () => {
  const steps = [{ id: 'a', kind: 'agent', agent }];
  expect(credentialsOfRevision({ steps })).toEqual({ credentials: ['llm', 'claude'] });
});
