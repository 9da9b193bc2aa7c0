import { expect, test } from 'vitest';
import type { FieldSchema } from './schemas.ts';
import { changeTool, kindOfTool, toolFields } from './toolFields.ts';

const text: FieldSchema = { type: 'string' };
const schema: FieldSchema = {
  type: 'object',
  properties: {
    skill: text,
    workflow: text,
    name: text,
    credential: text,
    description: text,
    modelMaySet: { type: 'object', additionalProperties: text },
    effect: { type: 'string', enum: ['AtLeastOnce', 'AtMostOnce'] },
  },
};
const smtp = { credentials: ['smtp'], credentialIsOptional: false };
const namesOf = (values: object, skill?: typeof smtp) =>
  toolFields(schema, { ...values }, skill).map(({ name, isRequired }) => (isRequired ? `${name}*` : name));

test('a tool with a skill has its fields, and a credential where the skill takes one', () => {
  expect(namesOf({ skill: 'send_email' }, smtp)).toEqual([
    'skill*',
    'name',
    'credential*',
    'description',
    'modelMaySet',
    'effect',
  ]);
  expect(namesOf({ skill: 'set' })).not.toContain('credential');
});

test('a tool with a workflow has no fields of skills', () => {
  expect(namesOf({ workflow: '' })).toEqual(['workflow*', 'name', 'description']);
});

test('a tool of the other kind keeps what both kinds have', () => {
  const skill = { skill: 'send_email', credential: 'smtp', effect: 'AtMostOnce', name: 'ask' };
  const workflow = { workflow: '', name: 'ask' };
  expect(kindOfTool(skill)).toBe('skill');
  expect(changeTool('workflow', skill)).toEqual(workflow);
  expect(changeTool('skill', workflow)).toEqual({ skill: '', name: 'ask' });
  expect(changeTool('workflow', workflow)).toEqual(workflow);
});
