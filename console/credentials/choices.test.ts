import { expect, test } from 'vitest';
import { CHOICES, choiceOf, choicesFor } from './choices.ts';

test.each(CHOICES.map((choice) => [choice.id, choice] as const))(
  'a credential that was created from the choice %s is known as one of it',
  (id, { kind, start }) => expect(choiceOf(kind, start).id).toBe(id),
);

test('agents can choose each service of models', () =>
  expect(choicesFor(['openai', 'anthropic']).map(({ id }) => id)).toEqual([
    'openai',
    'anthropic',
    'gemini',
    'azure-openai',
    'ollama',
  ]));
