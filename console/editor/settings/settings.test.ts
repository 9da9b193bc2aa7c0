import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { FieldSchema } from '../../forms/schemas.ts';
import {
  settingChange,
  settingGroups,
  settingOf,
  settingProblems,
  settingValues,
  withDefaults,
} from './settings.ts';

const text: FieldSchema = { type: 'string' };
const object = (properties: Record<string, FieldSchema>): FieldSchema => ({ type: 'object', properties });
const groups = settingGroups(
  object({
    onFailure: { ...object({ workflow: text }), required: ['workflow'] },
    timeout: text,
    concurrency: object({ limit: { type: 'integer' }, policy: text }),
    history: object({ succeeded: { type: 'integer' }, ttl: text, dataTTL: text }),
    budget: object({ day: object({ tokens: { type: 'integer' } }) }),
  }),
);
const spec = (settings: object = {}): WorkflowSpec => ({
  active: false,
  nodes: [{ id: 'trigger', manual: {} }],
  ...settings,
});

test('the fields of objects are fields of the form, and none is required', () => {
  const fields = groups.flatMap((group) => group.fields);
  expect(fields.map(({ name }) => name)).toEqual([
    'onFailure.workflow',
    'timeout',
    'concurrency.limit',
    'concurrency.policy',
    'history.succeeded',
    'history.ttl',
    'history.dataTTL',
    'budget.day.tokens',
  ]);
  expect(fields.filter(({ isRequired }) => isRequired)).toEqual([]);
  expect(settingValues(spec({ timeout: '5m', concurrency: { limit: 2 } }), fields)).toEqual({
    timeout: '5m',
    'concurrency.limit': 2,
  });
});

test('a setting tells the default of the project', () => {
  const help = 'How long. Default 1h, unless the settings of the project say otherwise.';
  const own = settingGroups(object({ timeout: { ...text, description: help } }));
  const timeout = (defaults: object) =>
    withDefaults(own, { ...defaults })
      .flatMap(({ fields }) => fields)
      .map((field) => [field.placeholder, field.help]);
  expect(timeout({})).toEqual([['1h', 'How long. Default: 1h.']]);
  expect(timeout({ timeout: '5m' })).toEqual([['5m', 'How long. Default in this project: 5m.']]);
  expect(timeout({ timeout: '$&' })).toEqual([['$&', 'How long. Default in this project: $&.']]);
});

test.each<[string, object, string, unknown, object]>([
  ['a new setting', {}, 'timeout', '5m', { timeout: '5m' }],
  ['one in an object', {}, 'onFailure.workflow', 'alarm', { onFailure: { workflow: 'alarm' } }],
  [
    'the only one of an object that is removed',
    { onFailure: { workflow: 'a' } },
    'onFailure.workflow',
    undefined,
    { onFailure: undefined },
  ],
  [
    'one beside others, also those that the form does not know',
    { history: { succeeded: 5, ttl: '1h', later: true } },
    'history.ttl',
    '',
    { history: { succeeded: 5, later: true } },
  ],
  [
    'one in objects that are there no more',
    { budget: { day: { tokens: 5 } } },
    'budget.day.tokens',
    undefined,
    { budget: undefined },
  ],
])('a change of %s', (_what, settings, name, value, change) => {
  expect(settingChange(spec(settings), name, value)).toEqual(change);
});

test.each([
  ['timeout', 'timeout'],
  ['onFailure', 'onFailure.workflow'],
  ['onFailure.workflow', 'onFailure.workflow'],
  ['concurrency', 'concurrency.limit'],
  ['history', 'history.dataTTL'],
  ['budget.day', 'budget.day.tokens'],
  ['suspend', undefined],
])('a problem at %s is shown at %s', (place, setting) => {
  expect(settingOf(place, groups)).toBe(setting);
});

test.each<[string, object, string[]]>([
  [
    'nothing wrong',
    { history: { ttl: '2h', dataTTL: '1h' }, concurrency: { limit: 1, policy: 'Reject' } },
    [],
  ],
  ['data kept longer than its run', { history: { ttl: '1h', dataTTL: '2h' } }, ['history.dataTTL']],
  ['durations of another type', { history: { ttl: ['1h'], dataTTL: ['2h'] } }, []],
  ['an invalid duration, which its field tells', { history: { ttl: 'x', dataTTL: '2h' } }, []],
  ['a policy without a limit', { concurrency: { policy: 'Reject' } }, ['concurrency.limit']],
  [
    'a public chat without a budget of a day',
    { nodes: [{ id: 'trigger', chat: { access: 'Public' } }] },
    ['budget.day.tokens'],
  ],
  [
    'a public chat with a budget of cost',
    { nodes: [{ id: 'trigger', chat: { access: 'Public' } }], budget: { day: { cost: '1.00' } } },
    [],
  ],
])('the form finds: %s', (_what, settings, fields) => {
  expect(settingProblems(spec(settings), [], groups).map(({ field }) => field)).toEqual(fields);
});

test('a reported problem is shown at its setting, unless the form has found it', () => {
  const reported = [
    { field: 'history', message: 'dataTTL must not be longer than ttl', source: 'draft' as const },
    { field: 'timeout', message: 'must be a duration', source: 'draft' as const },
    { field: '', message: 'a workflow needs a trigger', source: 'draft' as const },
  ];
  const found = settingProblems(spec({ history: { ttl: '1h', dataTTL: '2h' } }), reported, groups);
  expect(found).toEqual([
    { field: 'history.dataTTL', message: 'Must not be longer than the run is kept.' },
    { field: 'timeout', message: 'Must be a duration' },
  ]);
});
