import { expect, test } from 'vitest';
import type { RunView } from '../../../api/runView.ts';
import { answerOf, askingSpec } from './askModel.ts';

const model = {
  namespace: 'shop',
  workflow: 'orders',
  credential: 'llm',
  model: "{{ $('x').text_content }}",
  budget: { perRun: { tokens: 10 } } as never,
  requestedBy: 'ada',
};

test('the workflow that asks has no tools, no reference in the name of the model, and the budget of the workflow', () => {
  const { nodes, budget, active } = askingSpec(model);
  expect({ active, budget }).toEqual({ active: false, budget: model.budget });
  expect(nodes[1]?.agent).not.toHaveProperty('tools');
  expect(nodes[1]?.agent?.model).not.toContain('{{');
});

const view = (phase: string, node: object, more: object = {}) =>
  ({ phase, nodes: [{ id: 'help_me_build_answer', phase, ...node }], ...more }) as unknown as RunView;

test('the answer is the text of the agent', () => {
  expect(answerOf(view('Succeeded', { output: { text_content: '{}' } }))).toBe('{}');
});

test('a rejected credential says what the provider answered, and what to do', () => {
  const rejected = { reason: 'CredentialRejected', message: 'the server refused the API key: 401' };
  const detail =
    'The server refused the API key: 401. Replace the key of the credential, or choose another credential.';
  expect(() => answerOf(view('Failed', rejected))).toThrow(expect.objectContaining({ detail }) as Error);
});

test('what failed is said once', () => {
  const failed = {
    reason: 'UpstreamError',
    message: "the model's server failed: 500 The server had an error.",
  };
  const said = {
    title: "The model's server failed",
    detail: '500 The server had an error. Try again, or choose another model.',
  };
  expect(() => answerOf(view('Failed', failed))).toThrow(expect.objectContaining(said) as Error);
});

test.each([
  ['Failed', { reason: 'CredentialRejected', message: '401' }, 'The provider refused the credential'],
  ['Failed', { reason: 'RateLimited' }, 'The provider limits the rate of requests'],
  ['Failed', { reason: 'UpstreamError' }, "The model's server failed"],
  ['Failed', { reason: 'Timeout' }, 'The model did not answer in time'],
  ['Failed', { reason: 'InvalidAnswer' }, 'The answer cannot be read'],
  ['Failed', { reason: 'BudgetExceeded' }, 'The budget is used up'],
  ['Cancelled', {}, 'The model was not asked'],
  ['Succeeded', { output: { text_content: ' ' } }, 'The answer is empty'],
  ['Succeeded', { output: { text_content: 'x' }, truncated: true }, 'The answer is too long'],
  ['Succeeded', { redacted: true }, 'The answer is withheld'],
])('a run that is %s with %o says why there is no answer', (phase, node, title) => {
  expect(() => answerOf(view(phase, node))).toThrow(expect.objectContaining({ title }) as Error);
});
