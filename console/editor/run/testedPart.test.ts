/** What a test run executes of a draft, and which problems keep it from starting. */
import { expect, test } from 'vitest';
import type { Mock } from '../../../api/mock.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { missingCredentials } from '../model/missingCredentials.ts';
import { draftProblems, NO_PROBLEMS, problemsOf } from '../model/problems.ts';
import { fieldsOf } from '../../forms/fields.ts';
import type { FilledField } from '../panel/nodeFields.ts';
import { preventsRun, testedPart, type Tested } from './testedPart.ts';

const VALUES = { type: 'object', properties: { values: { type: 'object' } }, required: ['values'] };

function fields({ skill }: WorkflowNode): FilledField[] {
  if (skill?.name !== 'set') return [];
  return fieldsOf(VALUES, { path: 'set' }).map((field) => ({
    field,
    path: `skill.parameters.${field.name}`,
    value: skill.parameters?.[field.name],
  }));
}

const trigger: WorkflowNode = { id: 'trigger', manual: {} };
const call: WorkflowNode = {
  id: 'call',
  skill: { name: 'http_request', parameters: { url: 'https://a.example' } },
};
const empty: WorkflowNode = { id: 'empty', skill: { name: 'set', parameters: {} } };
const reply: WorkflowNode = { id: 'reply', response: { body: "{{ $('nobody').text_content }}" } };
const edges = [
  { from: 'trigger', to: 'call' },
  { from: 'call', to: 'empty', when: 'nodes.nobody.data_content.ok' },
  { from: 'empty', to: 'reply' },
];
const draft: WorkflowSpec = { active: false, nodes: [trigger, call, empty, reply], edges };
const partOf = (tested: Tested, problems = NO_PROBLEMS) =>
  testedPart({ spec: draft, problems, fieldsOf: fields }, tested);
const EMPTY = 'empty: Values are required.';
const EDGE = "call → empty: Node 'nobody' does not exist: use one of trigger, call";
const REPLY = "reply: Body: Node 'nobody' does not exist: use one of trigger, call, empty";
const mocks: Mock[] = [{ node: 'empty', output: {} }];

test.each<[string, Tested, string[], string[]]>([
  ['the whole draft', {}, ['trigger', 'call', 'empty', 'reply'], [EMPTY, REPLY, EDGE]],
  ['no further than a node', { until: 'call' }, ['trigger', 'call'], []],
  ['to a node with problems', { until: 'empty' }, ['trigger', 'call', 'empty'], [EMPTY, EDGE]],
  ['all but a node with an output', { mocks }, ['trigger', 'call', 'empty', 'reply'], [REPLY, EDGE]],
])('a test run of %s meets the problems of what it executes', (_what, tested, ids, problems) => {
  const part = partOf(tested);
  expect(part.spec.nodes.map(({ id }) => id)).toEqual(ids);
  expect(part.problems.map(({ place, message }) => `${place}: ${message}`)).toEqual(problems);
});

test('a node that the run leaves out still exists', () => {
  const url = { url: "{{ $('reply').text_content }}" };
  const early = { ...call, skill: { name: 'http_request', parameters: url } };
  const part = testedPart(
    { spec: { ...draft, nodes: [trigger, early, empty, reply] }, problems: NO_PROBLEMS, fieldsOf: fields },
    { until: 'call' },
  );
  expect(part.problems.map(({ message }) => message)).toEqual([
    "URL: Node 'reply' does not run before this one: use one of trigger",
  ]);
});

test('what the API server refuses counts only in nodes that the run has', () => {
  const causes = [
    { field: 'spec.nodes[3].response.status', message: 'should be less than or equal to 599' },
    { field: 'spec.edges[2].when', message: 'may not be longer than 4096' },
    { field: 'spec.timeout', message: 'is not a duration' },
  ];
  const known = problemsOf(draftProblems(causes, draft));
  expect(partOf({ until: 'call' }, known).problems.map(({ message }) => message)).toEqual([
    'Timeout: is not a duration',
  ]);
});

test('a node with problems is replaced by one that only returns its output', () => {
  const { nodes } = partOf({ mocks: [...mocks, { node: 'call', output: {} }] }).spec;
  expect(nodes[1]).toBe(call);
  expect(nodes[2]).toEqual({ id: 'empty', skill: { name: 'set', parameters: { values: {} } } });
});

const mailbox: WorkflowNode = { id: 'trigger', mail: { credential: 'inbox' } };
const mail: WorkflowNode = { id: 'mail', skill: { name: 'send_email', credential: 'smtp' } };
const ask: WorkflowNode = {
  id: 'ask',
  agent: {
    credential: 'llm',
    model: 'm',
    prompt: 'p',
    tools: [{ skill: 'send_email', credential: 'of-tool' }],
    fallback: [{ credential: 'of-fallback', model: 'n' }],
  },
};
const withAccounts: WorkflowSpec = { active: true, nodes: [mailbox, mail, ask] };
const missing = (names: string[], tested: Tested) =>
  testedPart(
    {
      spec: withAccounts,
      problems: problemsOf(missingCredentials(withAccounts, new Set(names))),
      fieldsOf: () => [],
    },
    tested,
  );
const OF_PARTS = ['of-tool', 'of-fallback'];

test.each<[string, string[], Tested, string[]]>([
  ['has all credentials', ['inbox', 'smtp', 'llm', ...OF_PARTS], {}, []],
  ['lacks those of two steps', OF_PARTS, {}, ['mail', 'ask']],
  ['lacks that of a later step', ['inbox', 'smtp', ...OF_PARTS], { until: 'mail' }, []],
  ['lacks that of a mocked step', ['llm', ...OF_PARTS], { mocks: [{ node: 'mail', output: {} }] }, []],
  ['lacks that of the trigger, which no test run executes', ['smtp', 'llm', ...OF_PARTS], {}, []],
  ['lacks those of a tool and of another model', ['inbox', 'smtp', 'llm'], {}, []],
])(
  'a test run in a project that %s starts unless a step that it executes lacks its credential',
  (_what, names, tested, places) => {
    const { problems } = missing(names, tested);
    expect(problems.filter(preventsRun).map(({ place }) => place)).toEqual(places);
  },
);

test('credentials of tools and other models are listed, although the run starts', () => {
  expect(missing(['smtp', 'llm'], {}).problems.map(({ message }) => message)).toEqual([
    'Credential of-tool does not exist in this project. Create it or choose another one.',
    'Credential of-fallback does not exist in this project. Create it or choose another one.',
  ]);
});

test('what keeps a run from starting is listed first, as only the first problems are shown', () => {
  const problems = problemsOf(
    missingCredentials({ ...withAccounts, nodes: [mailbox, ask, mail] }, new Set(['llm'])),
  );
  const part = testedPart(
    { spec: { ...withAccounts, nodes: [mailbox, ask, mail] }, problems, fieldsOf: () => [] },
    {},
  );
  expect(part.problems.map(({ place }) => place)).toEqual(['mail', 'ask', 'ask']);
});

test('a node that only lacks its credential is not replaced by another one', () => {
  const { nodes } = missing([], { mocks: [{ node: 'mail', output: {} }] }).spec;
  expect(nodes[1]).toBe(mail);
});
