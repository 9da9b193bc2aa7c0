import { expect, test } from 'vitest';
import { StepError } from '../../api/reasons.ts';
import type { ModelRequest } from '../contract/model.ts';
import { budgetOptionsProblem } from './options.ts';
import { demandOf, limited, usageOfFailure } from './reserve.ts';

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
  expect(budgetOptionsProblem({ max_completion_tokens: 5, models: ['x'] })).toBe(
    'options: max_completion_tokens, models cannot be set under a budget: set maxTokens; set fallback, whose models have prices of their own',
  );
  expect(budgetOptionsProblem({ top_p: 1 })).toBeUndefined();
});

const nothing = { inputTokens: 0, outputTokens: 0 };
const caused = (reason: 'UpstreamError' | 'Unreachable' | 'EffectUnknown', members: object) =>
  new StepError(reason, '', { cause: new Error('wrapped', { cause: Object.assign(new Error(), members) }) });

test.each([
  ['a refused rate', new StepError('RateLimited', ''), nothing],
  ['a refused key', new StepError('CredentialRejected', ''), nothing],
  ['status 500', caused('UpstreamError', { status: 500 }), nothing],
  ['status 503', caused('UpstreamError', { status: 503 }), nothing],
  ['status 529', caused('UpstreamError', { status: 529 }), nothing],
  ['status 503 of a step that must not be repeated', caused('EffectUnknown', { status: 503 }), nothing],
  ['no connection', caused('Unreachable', { code: 'ECONNREFUSED' }), nothing],
  ['an unknown host', caused('Unreachable', { code: 'ENOTFOUND' }), nothing],
  ['a bad gateway', caused('UpstreamError', { status: 502 }), null],
  ['a gateway that waited too long', caused('UpstreamError', { status: 504 }), null],
  ['a timeout of the server', caused('UpstreamError', { status: 408 }), null],
  ['an error within the stream', caused('UpstreamError', { status: undefined }), null],
  ['a lost connection', caused('Unreachable', { code: 'ECONNRESET' }), null],
  ['a lost route', caused('Unreachable', { code: 'ETIMEDOUT', syscall: 'read' }), null],
  ['silence', new StepError('Timeout', ''), null],
  ['a refusal', new StepError('Refused', ''), null],
  ['a defect', new Error('defect'), null],
])('what a request is charged after %s', (_what, error, usage) => {
  expect(usageOfFailure(error)).toEqual(usage);
});
