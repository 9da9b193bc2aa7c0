import { expect, test } from 'vitest';
import type { AgentTool } from '../../api/step.ts';
import { inputOf, inputSchemaProblem, workflowTool } from './workflowTools.ts';

const inputSchema = {
  type: 'object',
  properties: {
    order: { type: 'integer', description: 'The number of the order.' },
    reason: { type: 'string', enum: ['damaged', 'late'] },
    approvedBy: { type: 'string' },
  },
  required: ['order', 'approvedBy'],
  additionalProperties: false,
};
const declared = (extra: AgentTool = {}) => workflowTool(extra, 'refund', { inputSchema });

test('the model sees the schema of the workflow without fixed parameters, and with descriptions of the author', () => {
  const parameterDescriptions = { reason: 'Why the customer complains.' };
  const tool = declared({ parameters: { approvedBy: 'Ada' }, parameterDescriptions });
  expect(tool).toMatchObject({ name: 'refund', description: 'Runs the workflow refund.' });
  expect(tool.inputSchema).toEqual({
    type: 'object',
    properties: {
      order: { type: 'integer', description: 'The number of the order.' },
      reason: { type: 'string', enum: ['damaged', 'late'], description: 'Why the customer complains.' },
    },
    required: ['order'],
    additionalProperties: false,
  });
});

test('a workflow without a schema takes one object', () => {
  const tool = workflowTool({ parameterDescriptions: { input: 'The order.' } }, 'shop.refund', {});
  expect(tool.name).toBe('shop_refund');
  expect(tool.inputSchema).toMatchObject({
    properties: { input: { type: 'object', description: 'The order.' } },
    required: ['input'],
  });
  expect(inputOf(tool, { by: 'Ada' }, { input: { n: 1, by: 'the model' } })).toEqual({
    parameters: { n: 1, by: 'Ada' },
  });
});

test('name and description of the author take precedence, then the description of the workflow', () => {
  const callee = { description: 'Pays money back.' };
  expect(workflowTool({}, 'refund', callee).description).toBe('Pays money back.');
  const written = { name: 'pay', description: 'Call it once.' };
  expect(workflowTool(written, 'refund', callee)).toMatchObject(written);
});

const check = (given: Record<string, unknown>) =>
  inputOf(declared({ parameters: { approvedBy: 'Ada' } }), { approvedBy: 'Ada' }, given);

test('a call that fits gives the input, with fixed members', () => {
  expect(check({ order: 4, reason: 'late' })).toEqual({
    parameters: { order: 4, reason: 'late', approvedBy: 'Ada' },
  });
});

test.each<[sentence: string, given: Record<string, unknown>, says: string]>([
  ['a missing member', { reason: 'late' }, 'order: '],
  ['a member of another type', { order: 'four' }, 'order: '],
  ['a value that is not listed', { order: 4, reason: 'bored' }, 'reason: '],
  [
    'a fixed member',
    { order: 4, approvedBy: 'the model' },
    'refund has no parameter approvedBy; its parameters are: order, reason',
  ],
  ['an unknown member', { order: 4, color: 'red' }, 'refund has no parameter color'],
])('a call is wrong with %s', (_sentence, given, says) => {
  expect(check(given)).toEqual({ problem: expect.stringContaining(says) as string });
});

const INHERITED = ['constructor', 'toString', '__proto__'];
const named = (name: string): Record<string, unknown> =>
  JSON.parse(`{"type":"object","properties":{"a":{"type":"integer"},"${name}":{"type":"string"}}}`) as Record<
    string,
    unknown
  >;

test.each(INHERITED)('a call may omit an optional member %s', (name) => {
  const tool = workflowTool({}, 'refund', { inputSchema: named(name) });
  expect(tool.inputSchema).toEqual({ ...named(name), additionalProperties: false });
  expect(inputOf(tool, {}, { a: 1 })).toEqual({ parameters: { a: 1 } });
});

test.each(INHERITED.slice(0, 2))('a call must have a required member %s', (name) => {
  const tool = workflowTool({}, 'refund', { inputSchema: { ...named(name), required: [name] } });
  expect(inputOf(tool, {}, { a: 1 })).toEqual({ problem: expect.stringContaining(name) as string });
  expect(inputOf(tool, {}, { a: 1, [name]: 'x' })).toHaveProperty('parameters');
});

test('without a schema the input must be an object', () => {
  expect(inputOf(workflowTool({}, 'refund'), {}, { input: [1] })).toEqual({
    problem: 'input: must be a JSON object',
  });
});

test.each<[schema: Record<string, unknown>, says: string]>([
  [{}, 'inputSchema must be the JSON Schema of an object: set type: object and properties'],
  [{ type: 'string' }, 'inputSchema must be the JSON Schema of an object'],
  [{ type: 'object', properties: { a: { type: 'colour' } } }, 'inputSchema cannot be used: '],
])('the schema %j cannot be used', (schema, says) => {
  expect(inputSchemaProblem(schema)).toContain(says);
  expect(inputSchemaProblem(inputSchema)).toBeUndefined();
});
