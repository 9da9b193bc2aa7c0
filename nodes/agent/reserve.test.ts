import { expect, test } from 'vitest';
import { StepError } from '../../api/reasons.ts';
import type { ModelRequest } from '../contract/model.ts';
import { budgetOptionsProblem, demandOf, limited, usageOfFailure } from './reserve.ts';

const request = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'm',
  messages: [{ role: 'user', text: 'x'.repeat(3_000) }],
  tools: [],
  ...changes,
});

test('input is estimated as bytes / 3, with tools and schema, and output as its limit', () => {
  const plain = demandOf(request());
  expect(plain.inputTokens).toBeGreaterThanOrEqual(1_000);
  expect(plain.inputTokens).toBeLessThan(1_050);
  expect(plain.outputTokens).toBe(4_096);
  expect(demandOf(request({ maxTokens: 50 })).outputTokens).toBe(50);
  const inputSchema = { description: 'y'.repeat(300) };
  const tools = [{ name: 't', description: 'd', inputSchema }];
  expect(demandOf(request({ tools, outputSchema: inputSchema })).inputTokens).toBeGreaterThan(1_200);
});

test('letters beyond ASCII count with their bytes', () => {
  const text = '日'.repeat(1_000);
  expect(demandOf(request({ messages: [{ role: 'user', text }] })).inputTokens).toBeGreaterThanOrEqual(1_000);
});

test('an image counts the same whatever its bytes', () => {
  const images = [{ mediaType: 'image/png', data: 'A'.repeat(1_000_000) }];
  const { inputTokens } = demandOf(request({ messages: [{ role: 'user', text: '', images }] }));
  expect(inputTokens).toBeGreaterThan(4_096);
  expect(inputTokens).toBeLessThan(5_000);
});

test('under a budget a limit of output is sent, and no option may lift it', () => {
  expect(limited(request()).maxTokens).toBe(4_096);
  expect(limited(request({ maxTokens: 9 })).maxTokens).toBe(9);
  expect(() => limited(request({ options: { max_tokens: 100_000 } }))).toThrow(
    /cannot be set under a budget/,
  );
  expect(budgetOptionsProblem({ n: 5 })).toMatch(/set maxTokens/);
  expect(budgetOptionsProblem({ top_p: 1 })).toBeUndefined();
});

test.each([
  [new StepError('RateLimited', ''), { inputTokens: 0, outputTokens: 0 }],
  [new StepError('CredentialRejected', ''), { inputTokens: 0, outputTokens: 0 }],
  [new StepError('Timeout', ''), null],
  [new StepError('Unreachable', ''), null],
  [new StepError('UpstreamError', ''), null],
  [new StepError('Refused', ''), null],
  [new Error('defect'), null],
])('after %s the request used %o', (error, usage) => {
  expect(usageOfFailure(error)).toEqual(usage);
});
