import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { fieldsOf } from '../../forms/fields.ts';
import { missingCredentials } from '../model/missingCredentials.ts';
import { draftProblems, NO_PROBLEMS, problemsOf } from '../model/problems.ts';
import type { FilledField } from '../panel/nodeFields.ts';
import { referenceProblems } from '../panel/referenceProblems.ts';
import { liveProblems } from './liveProblems.ts';
import { placeText } from './placeText.ts';

const VALUES = { type: 'object', properties: { values: { type: 'object' } }, required: ['values'] };

function fields({ skill }: WorkflowNode): FilledField[] {
  const parameters = skill?.parameters ?? {};
  return skill === undefined
    ? []
    : fieldsOf(VALUES, { path: skill.name }).map((field) => ({
        field,
        path: `skill.parameters.${field.name}`,
        value: parameters[field.name],
      }));
}

const GONE = 'Credential gone does not exist in this project. Create it or choose another one.';
const MODEL = { credential: 'llm', model: 'm', prompt: 'p' };
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
  ['no mistakes', specOf([set({ n: 'nodes.trigger.data_content.n' }), reply(1)]), []],
  ['a missing required field', specOf([set()]), ['set: Values are required.']],
  [
    'a reference to a node that does not exist',
    specOf([reply("{{ $('later').text_content }}")]),
    ["reply: Body: Node 'later' does not exist: use one of trigger"],
  ],
  [
    'a reference to a node that does not run before',
    specOf([reply("{{ $('set').text_content }}"), set({})]),
    ["reply: Body: Node 'set' does not run before this one: use one of trigger"],
  ],
  [
    'a CEL value that refers to a node that does not exist',
    specOf([set({ n: 'nodes.later.data_content' })]),
    ["set: Values › N: Node 'later' does not exist: use one of trigger"],
  ],
  [
    'a condition that refers to such a node',
    specOf([reply(1)], [{ from: 'trigger', to: 'reply', when: 'nodes.later.data_content.ok' }]),
    ["trigger → reply: Node 'later' does not exist: use one of trigger"],
  ],
  ['an incomplete disabled step', specOf([{ ...set(), disabled: true }]), []],
  [
    'a reference to a disabled step',
    specOf([{ ...set(), disabled: true }, reply("{{ $('set').text_content }}")]),
    [
      "reply: Body: Node 'set' is disabled and has no output: enable it, refer to another node, or add a default, such as ?? 'none'",
    ],
  ],
  [
    'a default for the output of a disabled step',
    specOf([
      { ...set(), disabled: true },
      reply("{{ $('set').text_content ?? 'none' }} {{ $previous.text_content }}"),
    ]),
    [],
  ],
  [
    'a condition that reads a disabled step',
    specOf(
      [{ ...set(), disabled: true }, reply(1)],
      [
        { from: 'trigger', to: 'set' },
        { from: 'set', to: 'reply', when: 'nodes.set.data_content.n > 1' },
      ],
    ),
    [
      "set → reply: Node 'set' is disabled and has no output: enable it, refer to another node, or ask with has(nodes.set) first",
    ],
  ],
  [
    'a condition that asks first whether a disabled step was executed',
    specOf(
      [{ ...set(), disabled: true }, reply(1)],
      [
        { from: 'trigger', to: 'set' },
        { from: 'set', to: 'reply', when: '!has(nodes.set) || nodes.set.data_content.n > 1' },
      ],
    ),
    [],
  ],
  [
    'mistakes in a disabled group, and a disabled step without connections',
    specOf(
      [
        { id: 'g', group: {}, disabled: true },
        { ...reply("{{ $('later').text_content }}"), within: 'g' },
        { id: 'unused', disabled: true, wait: { duration: '1m' } },
      ],
      [{ from: 'trigger', to: 'g' }],
    ),
    [],
  ],
  ['a node without a connection to it', specOf([reply(1)], []), ['reply: No connection leads to this node.']],
])('a draft with %s has the right problems', (_what, spec, problems) => {
  const found = liveProblems(spec, fields, NO_PROBLEMS);
  expect(found.map(({ place, message }) => `${place}: ${message}`)).toEqual(problems);
});

test('a problem of the draft keeps it from going live, a problem of the saved version does not', () => {
  const spec = specOf([reply(1)]);
  const refusal = draftProblems([{ field: 'spec.nodes[1]', message: 'has no kind' }], spec);
  const saved = refusal.map(({ place, problem }) => ({
    place,
    problem: { ...problem, source: 'saved' as const, message: 'old' },
  }));
  expect(liveProblems(spec, fields, problemsOf([...refusal, ...saved]))).toEqual([
    { place: 'reply', message: 'has no kind', isRefused: true },
  ]);
});

test.each([
  ['spec.nodes[1].repeat.until', 'Repeat › Until: Enter a value'],
  ['spec.nodes[1].response.statusCode', 'Status code: Enter a value'],
  ['spec.nodes[1].skill.parameters.to[1]', 'Skill › To 2: Enter a value'],
])('a value that the API server misses at %s is named as %s', (field, message) => {
  const spec = specOf([reply(1)]);
  const causes = [{ field, message: `Invalid value: "": ${field} in body should be at least 1 chars long` }];
  const [problem] = liveProblems(spec, fields, problemsOf(draftProblems(causes, spec)));
  expect(problem).toEqual({ place: 'reply', message, isRefused: true });
});

test('a value that the API server and the editor miss is listed once', () => {
  const spec = specOf([set()]);
  const field = 'spec.nodes[1].skill.parameters.values';
  const causes = [{ field, message: `Invalid value: "": ${field} in body should be at least 1 chars long` }];
  const found = liveProblems(spec, fields, problemsOf(draftProblems(causes, spec)));
  expect(found.map(({ message }) => message)).toEqual(['Values: Enter a value']);
});

test('a reference that the editor marks is listed once, and does not keep the draft from being published', () => {
  const spec = specOf([reply("{{ $('later').text_content }}")]);
  const message = "Body: Node 'later' does not exist: use one of trigger";
  expect(liveProblems(spec, fields, problemsOf(referenceProblems(spec)))).toEqual([
    { place: 'reply', message },
  ]);
});

test.each<[string, WorkflowNode, [message: string, missing: 'needed' | 'optional'][]]>([
  ['its credential', { id: 'mail', skill: { name: 'send_email', credential: 'gone' } }, [[GONE, 'needed']]],
  [
    'the credential of a tool',
    { id: 'ask', agent: { ...MODEL, tools: [{ skill: 'send_email', credential: 'gone' }] } },
    [[GONE, 'optional']],
  ],
  [
    'a credential that it and a tool name',
    {
      id: 'ask',
      agent: { ...MODEL, credential: 'gone', tools: [{ skill: 'send_email', credential: 'gone' }] },
    },
    [[GONE, 'needed']],
  ],
])('a node without %s is listed once, and can be published', (_what, node, expected) => {
  const spec = specOf([node]);
  const found = liveProblems(spec, () => [], problemsOf(missingCredentials(spec, new Set(['llm']))));
  expect(found).toEqual(expected.map(([message, missing]) => ({ place: node.id, message, missing })));
});

test('a place has the display names of its nodes', () => {
  const spec = specOf([{ ...set(), displayName: 'Double it' }]);
  expect(['set', 'trigger → set', 'gone', ''].map((place) => placeText(place, spec))).toEqual([
    'Double it',
    'trigger → Double it',
    'gone',
    '',
  ]);
});
