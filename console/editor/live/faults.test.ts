import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { fieldsOf } from '../../forms/fields.ts';
import { draftProblems, NO_PROBLEMS, problemsOf } from '../problems.ts';
import type { FilledField } from '../panel/nodeFields.ts';
import { faultsOf } from './faults.ts';

const VALUES = { type: 'object', properties: { values: { type: 'object' } }, required: ['values'] };

function fields({ skill }: WorkflowNode): FilledField[] {
  const parameters = skill?.parameters ?? {};
  return skill === undefined
    ? []
    : fieldsOf(VALUES, { path: skill.name }).map((field) => ({ field, value: parameters[field.name] }));
}

const trigger: WorkflowNode = { id: 'trigger', manual: {} };
const set = (values?: unknown): WorkflowNode => ({
  id: 'set',
  skill: { name: 'set', parameters: values === undefined ? {} : { values } },
});
const reply = (body: unknown): WorkflowNode => ({ id: 'reply', response: { body } });
const specOf = (nodes: WorkflowNode[], edges?: WorkflowSpec['edges']): WorkflowSpec => ({
  active: true,
  nodes: [trigger, ...nodes],
  ...(edges && { edges }),
});

test.each<[string, WorkflowSpec, string[]]>([
  ['nothing, where all is right', specOf([set({ n: 'nodes.trigger.data_content.n' }), reply(1)]), []],
  ['a required field that is missing', specOf([set()]), ['set: Values is required.']],
  [
    'a reference to a node that does not come before',
    specOf([reply("{{ $('later').text_content }}")]),
    ["reply: no way leads from a node 'later' to this one: write one of trigger"],
  ],
  [
    'a value in CEL that names such a node',
    specOf([set({ n: 'nodes.later.data_content' })]),
    ["set: no way leads from a node 'later' to this one: write one of trigger"],
  ],
  [
    'a condition that names such a node',
    specOf([reply(1)], [{ from: 'trigger', to: 'reply', when: 'nodes.later.data_content.ok' }]),
    ["trigger → reply: no way leads from a node 'later' to this one: write one of trigger"],
  ],
  ['a node that no edge leads to', specOf([reply(1)], []), ['reply: No connection leads to this node.']],
])('a draft is kept from going live by %s', (_what, spec, faults) => {
  const found = faultsOf(spec, fields, NO_PROBLEMS);
  expect(found.map(({ place, message }) => `${place}: ${message}`)).toEqual(faults);
});

test('what the API server refuses keeps a draft from going live; problems of the saved version do not', () => {
  const spec = specOf([reply(1)]);
  const refusal = draftProblems([{ field: 'spec.nodes[1]', message: 'has no kind' }], spec);
  const saved = refusal.map(({ place, problem }) => ({
    place,
    problem: { ...problem, source: 'saved' as const, message: 'old' },
  }));
  expect(faultsOf(spec, fields, problemsOf([...refusal, ...saved]))).toEqual([
    { place: 'reply', message: 'has no kind' },
  ]);
});
