import { expect, test } from 'vitest';
import { credentialRefs, credentialsOfRevision } from './credentialRefs.ts';

const fallback = [
  { credential: 'claude', model: 'm' },
  { credential: 'llm', model: 'n' },
];
const agent = { credential: 'llm', model: 'm', prompt: 'p', fallback };

test('an agent names its credential and those of its fallback, which must lead to models', () => {
  const refs = credentialRefs({ nodes: [{ id: 'a', agent }] });
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

test('tools name credentials of the kinds that their skills take, and runners may read them', () => {
  const tools = [
    { skill: 'send_email', credential: 'mail', parameters: { to: 'a@example.com' } },
    { skill: 'http_request', parameters: { url: 'https://shop.example' } },
    { skill: 'http_request', credential: 'shop', parameters: { url: 'https://shop.example/orders' } },
  ];
  const withTools = { credential: 'llm', model: 'm', prompt: 'p', tools };
  const refs = credentialRefs({ nodes: [{ id: 'a', agent: withTools }] });
  expect(refs.map(({ name }) => name)).toEqual(['llm', 'mail', 'shop']);
  expect(refs[2]).toMatchObject({ kinds: ['http', 'oauth2'], hostEntry: 'shop.example' });
  const steps = [{ id: 'a', kind: 'agent', agent: withTools }];
  expect(credentialsOfRevision({ steps })).toEqual({ credentials: ['llm', 'mail', 'shop'] });
});
