import { expect, test } from 'vitest';
import type { FieldSchema } from './schemas.ts';
import { editorOf, fieldsOf } from './fields.ts';
import { choiceLabel, labelOf, requiredText } from './labels.ts';

test.each([
  ['maxTokens', 'Max tokens'],
  ['apiURL', 'API URL'],
  ['spreadsheetId', 'Spreadsheet ID'],
  ['passwordRef', 'Password'],
  ['secretRefs', 'Secrets'],
  ['accessKeyIdRef', 'Access key ID'],
  ['append_row', 'Append row'],
  ['cc', 'CC'],
  ['forEach', 'For each'],
  ['memoryMiB', 'Memory (MiB)'],
  ['constructor', 'Constructor'],
])('%s is shown as %s', (name, label) => {
  expect(labelOf(name)).toBe(label);
});

test.each([
  ['Subject', 'Subject is required.'],
  ['Values', 'Values are required.'],
  ['Response status', 'Response status is required.'],
  ['Address', 'Address is required.'],
])('without a value %s is told as "%s"', (label, problem) => {
  expect(requiredText(label)).toBe(problem);
});

test('help says node and connection, as the rest of the console does', () => {
  const schema: FieldSchema = {
    type: 'object',
    properties: {
      limit: { type: 'integer', description: 'Beyond it the step fails, and its edges are not taken.' },
    },
  };
  expect(fieldsOf(schema, { path: 'x' })[0]?.help).toBe(
    'Beyond it the node fails, and its connections are not taken.',
  );
});

test.each([
  ['AtLeastOnce', 'At least once'],
  ['RunLatest', 'Run latest'],
  ['GET', 'GET'],
  ['auto', 'auto'],
])('the choice %s is shown as %s', (value, label) => {
  expect(choiceLabel(value)).toBe(label);
});

const bounds = { least: '1s', most: '5m' };
const oneOf = (...names: string[]) => ({
  rule: `[${names.map((name) => `has(self.${name})`).join(', ')}].filter(x, x).size() == 1`,
  message: 'one of them',
});
const text: FieldSchema = { type: 'string' };

test.each<[what: string, schema: FieldSchema, editor: unknown]>([
  ['a text', { type: 'string', maxLength: 256 }, { kind: 'text', maxLength: 256 }],
  ['a text of many lines', { type: 'string', maxLength: 65_536 }, { kind: 'longText' }],
  [
    'a duration',
    { type: 'string', maxLength: 32, 'x-windlass-duration': bounds },
    { kind: 'duration', bounds },
  ],
  ['a whole number', { type: 'integer', minimum: 1 }, { kind: 'number', isWhole: true, minimum: 1 }],
  ['a yes or no', { type: 'boolean' }, { kind: 'boolean', isOnByDefault: false }],
  [
    'one that is yes',
    { type: 'boolean', description: 'Whether. Default true.' },
    { kind: 'boolean', isOnByDefault: true },
  ],
  ['a choice', { type: 'string', enum: ['A', 'B'] }, { kind: 'choice', options: ['A', 'B'] }],
  [
    'several choices',
    { type: 'array', items: { type: 'string', enum: ['A'] } },
    { kind: 'choices', options: ['A'] },
  ],
  ['texts', { type: 'array', items: text }, { kind: 'list', item: { kind: 'text' } }],
  [
    'statuses and classes',
    { type: 'array', items: { anyOf: [{ type: 'integer' }, { enum: ['2xx'] }] } },
    { kind: 'list', item: { kind: 'scalar' } },
  ],
  [
    'names and texts',
    { type: 'object', additionalProperties: text },
    { kind: 'map', value: { kind: 'text' } },
  ],
  [
    'names and anything',
    { type: 'object', additionalProperties: {} },
    { kind: 'map', value: { kind: 'scalar' } },
  ],
  [
    'a free object',
    { type: 'object', additionalProperties: {}, 'x-windlass-free': true },
    { kind: 'json', accepts: 'object' },
  ],
  ['anything', {}, { kind: 'json', accepts: 'any' }],
  ['a text or nothing', { anyOf: [text, { type: 'null' }] }, { kind: 'scalar' }],
  [
    'an object or a list',
    {
      anyOf: [
        { type: 'object', additionalProperties: {} },
        { type: 'array', items: {} },
      ],
    },
    {
      kind: 'shapes',
      shapes: [
        { kind: 'map', value: { kind: 'scalar' } },
        { kind: 'list', item: { kind: 'json', accepts: 'any' } },
      ],
    },
  ],
  [
    'a key of a Secret',
    { type: 'object', properties: { name: text, key: text }, required: ['name', 'key'] },
    { kind: 'secretRef' },
  ],
  [
    'an object that must have one of two members',
    {
      type: 'object',
      properties: { a: text, b: text, c: text },
      'x-kubernetes-validations': [oneOf('a', 'b')],
    },
    { kind: 'oneOf', options: [{ name: 'a' }, { name: 'b' }], common: [{ name: 'c' }] },
  ],
  [
    'an object whose rule names its variable otherwise',
    {
      type: 'object',
      properties: { a: text, b: text },
      'x-kubernetes-validations': [
        { rule: '[has(self.a), has(self.b)].filter(is, is).size() == 1', message: 'one of them' },
      ],
    },
    { kind: 'oneOf', options: [{ name: 'a' }, { name: 'b' }] },
  ],
])('%s has its editor', (_what, schema, editor) => {
  expect(editorOf(schema, 'x')).toMatchObject(editor as object);
});

test('a schema without a fitting editor is an error', () => {
  expect(() => editorOf({ type: 'tensor' }, 'agent.tensor')).toThrow('no editor for agent.tensor');
});

test('required fields come first, with descriptions as help and defaults as placeholders', () => {
  const schema: FieldSchema = {
    type: 'object',
    properties: {
      pollIntervalSeconds: {
        type: 'integer',
        description: 'Seconds between two polls. Default 60, at least 5.',
      },
      model: { type: 'string', description: 'The model.' },
      baseURL: { type: 'string', description: 'The URL. Default https://api.example.com/v1.' },
      active: { type: 'boolean' },
    },
    required: ['model'],
  };
  expect(fieldsOf(schema, { path: 'x', without: ['active'] })).toMatchObject([
    { name: 'model', label: 'Model', help: 'The model.', isRequired: true },
    { name: 'pollIntervalSeconds', placeholder: '60', isRequired: false },
    { name: 'baseURL', placeholder: 'https://api.example.com/v1' },
  ]);
});

test('the help tells each default with a colon', () => {
  const schema: FieldSchema = {
    type: 'object',
    properties: {
      tls: { type: 'string', description: 'How to connect. Default StartTLS.' },
      port: { type: 'integer', description: 'The port. Default: 465 with TLS.' },
      input: { type: 'string', description: 'The input. Default in a test run: the test data.' },
    },
  };
  expect(fieldsOf(schema, { path: 'x' }).map(({ help }) => help)).toEqual([
    'How to connect. Default: StartTLS.',
    'The port. Default: 465 with TLS.',
    'The input. Default in a test run: the test data.',
  ]);
});

test('the help of a switch does not tell the default, which the switch shows', () => {
  const schema: FieldSchema = {
    type: 'object',
    properties: { header: { type: 'boolean', description: 'Whether there is one. Default true.' } },
  };
  expect(fieldsOf(schema, { path: 'x' })).toMatchObject([
    { help: 'Whether there is one.', editor: { isOnByDefault: true } },
  ]);
});

test('what most users fill in comes after the required fields, before the others', () => {
  const schema: FieldSchema = {
    type: 'object',
    properties: { timeoutMs: { type: 'integer' }, method: text, url: text },
    required: ['url'],
  };
  const fields = fieldsOf(schema, { path: 'http_request' });
  expect(fields.map(({ name, isCommon }) => [name, isCommon])).toEqual([
    ['url', undefined],
    ['method', true],
    ['timeoutMs', undefined],
  ]);
});

test('fields that may hold references follow from the kind, and all parameters of skills may', () => {
  const schema: FieldSchema = {
    type: 'object',
    properties: { prompt: text, maxTokens: { type: 'integer' } },
  };
  const marked = (path: string, isExpression: boolean) =>
    fieldsOf(schema, { path, isExpression }).filter((field) => field.isExpression).length;
  expect(marked('agent', false)).toBe(1);
  expect(marked('send_email', true)).toBe(2);
});
