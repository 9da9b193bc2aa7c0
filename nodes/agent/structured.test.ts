import { expect, test } from 'vitest';
import { outputSchemaProblem, structuredAnswer } from './structured.ts';

const schema = { type: 'object', properties: { mood: { type: 'string' } }, required: ['mood'] };

test.each([
  ['alone', '{"mood":"good"}'],
  ['with space around it', '\n {"mood":"good"}\n'],
  ['in fences', 'Sure:\n```json\n{"mood":"good"}\n```\nBye'],
  ['in fences with space behind them', '``` \t\r\n\r\n{"mood":"good"}```'],
  ['inside a sentence', 'I think {"mood":"good"} it is.'],
])('JSON is found %s', (_where, text) => {
  expect(structuredAnswer(text, schema)).toEqual({ mood: 'good' });
});

test.each([
  ['no JSON', 'It is good.', 'holds no JSON'],
  ['half of it', '{"mood":"go', 'holds no JSON'],
  ['a fence before lines without end', `\`\`\`${'\n'.repeat(200_000)}`, 'holds no JSON'],
  ['a member of another type', '{"mood":1}', 'does not fit outputSchema: mood'],
  ['a member missing', '{}', 'does not fit outputSchema: mood'],
  ['a key that reaches a prototype', '{"mood":"a","__proto__":{}}', 'holds no JSON'],
])('an answer with %s is refused', (_what, text, message) => {
  const attempt = () => structuredAnswer(text, schema);
  expect(attempt).toThrow(expect.objectContaining({ reason: 'InvalidAnswer' }));
  expect(attempt).toThrow(message);
});

test('a schema that cannot be used is found before the model is asked', () => {
  expect(outputSchemaProblem(schema)).toBeUndefined();
  expect(outputSchemaProblem({ type: 'objekt' })).toContain('outputSchema cannot be used');
});

test.each(['constructor', 'toString', '__proto__'])('an answer may omit an optional member %s', (name) => {
  const optional = JSON.parse(
    `{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"${name}":{"type":"string"}}}}}}`,
  ) as Record<string, unknown>;
  expect(structuredAnswer('{"list":[{"a":1}]}', optional)).toEqual({ list: [{ a: 1 }] });
});

test('numbers of an answer keep every digit, and are checked as numbers', () => {
  const numbers = {
    type: 'object',
    properties: { id: { type: 'integer', minimum: 1 }, price: { type: 'number', maximum: 1 } },
  };
  const text = '{"id":12345678901234567890,"price":0.1000000000000000055511151231257827}';
  expect(JSON.stringify(structuredAnswer(text, numbers))).toBe(text);
  expect(() => structuredAnswer('{"id":-12345678901234567890}', numbers)).toThrow(
    'does not fit outputSchema: id',
  );
});
