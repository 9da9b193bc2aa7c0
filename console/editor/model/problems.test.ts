import { expect, test } from 'vitest';
import { AMOUNT_PATTERN } from '../../../api/money.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { draftProblems, problemsOf, savedProblems } from './problems.ts';

const spec: WorkflowSpec = {
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    { id: 'agent_1', agent: { credential: 'llm', model: '', prompt: 'x' } },
  ],
  edges: [{ from: 'trigger', to: 'agent_1' }],
};

test('a missing right to use a credential is reported at each node that refers to it', () => {
  const refusal =
    "workflows.windlass.dev \"orders\" is forbidden: ValidatingAdmissionPolicy 'windlass-use' with binding 'windlass-use' denied request: whoever writes a workflow that names a credential must be allowed to use it: ada lacks the right to use credentials/llm in namespace shop";
  const tools = [{ skill: 'http_request' }, { skill: 'send_email', credential: 'llm' }];
  const asks = { id: 'agent_2', agent: { credential: 'other', model: 'm', prompt: 'x', tools } };
  const problems = draftProblems([{ field: '', message: refusal }], {
    ...spec,
    nodes: [...spec.nodes, asks],
  });
  expect(problems.map(({ place, problem }) => [place, problem.field])).toEqual([
    [{ node: 'agent_1' }, 'agent.credential'],
    [{ node: 'agent_2' }, 'agent.tools[1].credential'],
  ]);
  expect(problems[0]?.problem.message).toContain('not allowed to use the credential llm');
});

test('a missing right is also reported beside a member that is null', () => {
  const refusal = 'ada lacks the right to use credentials/llm in namespace shop';
  const withNull = { id: 'empty', disabled: null } as unknown as WorkflowSpec['nodes'][number];
  const draft = { ...spec, nodes: [withNull, ...spec.nodes] };
  expect(draftProblems([{ field: '', message: refusal }], draft).map(({ place }) => place)).toEqual([
    { node: 'agent_1' },
  ]);
});

test.each([
  [
    'spec.nodes[1].agent.model',
    'Invalid value: "": spec.nodes[1].agent.model in body should be at least 1 chars long',
    { node: 'agent_1' },
    'agent.model',
    'Choose a model',
  ],
  [
    'spec.concurrency.limit',
    'Invalid value: 0: spec.concurrency.limit in body should be greater than or equal to 1',
    undefined,
    'concurrency.limit',
    'Enter 1 or more',
  ],
  [
    'spec.nodes[1]',
    'Invalid value: "object": node agent_1 must have exactly one kind: manual, schedule',
    { node: 'agent_1' },
    '',
    'node agent_1 must have exactly one kind: manual, schedule',
  ],
  [
    'spec.nodes[1]',
    'Invalid value: node agent_1 must have exactly one kind',
    { node: 'agent_1' },
    '',
    'node agent_1 must have exactly one kind',
  ],
  [
    'spec.edges[0].after',
    'Unsupported value: "Never": supported values: "Success", "Failure"',
    { edge: 'trigger>agent_1' },
    'after',
    'Unsupported value: "Never": supported values: "Success", "Failure"',
  ],
  [
    'spec',
    'Invalid value: "object": a workflow needs a trigger',
    undefined,
    '',
    'a workflow needs a trigger',
  ],
  [
    'spec.timeout',
    'Invalid value: "x": spec.timeout in body should match',
    undefined,
    'timeout',
    'should match',
  ],
  [
    'spec.budget.run.cost',
    `Invalid value: "0,50": spec.budget.run.cost in body should match '${AMOUNT_PATTERN.source}'`,
    undefined,
    'budget.run.cost',
    'Enter an amount with a point, such as 0.50.',
  ],
  [
    'spec.history',
    'Invalid value: "object": dataTTL must not be longer than ttl: data is deleted with its run',
    undefined,
    'history',
    'dataTTL must not be longer than ttl: data is deleted with its run',
  ],
  [
    'spec',
    'Invalid value: "object": a public chat needs a daily budget, because anybody can send messages',
    undefined,
    'budget.day',
    'a public chat needs a daily budget, because anybody can send messages',
  ],
  ['spec.nodes[9]', 'Invalid value: "object": gone', undefined, '', 'gone'],
  [
    'spec.nodes[1].agent.prompt',
    'Required value',
    { node: 'agent_1' },
    'agent.prompt',
    'Prompt is required.',
  ],
])('for %s: %s', (field, message, place, inner, words) => {
  expect(draftProblems([{ field, message }], spec)).toEqual([
    { place, problem: { field: inner, message: words, source: 'draft' } },
  ]);
});

const condition = (type: string, message: string, generation = 3) => ({
  type,
  status: 'False' as const,
  reason: 'X',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: generation,
});
const workflow = (conditions: ReturnType<typeof condition>[]) => ({
  metadata: { name: 'orders', generation: 3 },
  spec,
  status: { conditions },
});

test('problems of the operator are assigned to their nodes, fields and edges', () => {
  const message =
    "node agent_1: agent.prompt: $('x').text_content names a node that does not exist: use one of: trigger; edge trigger → agent_1: when: line 1: unknown; node gone: no edge leads to it";
  const { nodes, edges, workflow: rest } = problemsOf(savedProblems(workflow([condition('Valid', message)])));
  expect(nodes.get('agent_1')?.map(({ field }) => field)).toEqual(['agent.prompt']);
  expect(edges.get('trigger>agent_1')).toHaveLength(1);
  expect(rest).toHaveLength(1);
});

test.each([
  ['node agent_1: skill: parameters: url: is missing', 'skill.parameters.url'],
  ['node agent_1: agent: tools: 0: name: is missing', 'agent.tools[0].name'],
  ['node agent_1 must have exactly one kind', ''],
])('%s: the field is "%s"', (message, field) => {
  const { nodes } = problemsOf(savedProblems(workflow([condition('Valid', message)])));
  expect(nodes.get('agent_1')).toEqual([{ field, message, source: 'saved' }]);
});

test('a step that no edge leads to is told at its node, in the words of the canvas', () => {
  const message = 'node agent_1: no edge leads to it, so it would never run: add an edge to it, or remove it';
  const { nodes } = problemsOf(savedProblems(workflow([condition('Valid', message)])));
  const told =
    'node agent_1: no connection leads to it, so it would never run: add a connection to it, or remove it';
  expect(nodes.get('agent_1')).toEqual([{ field: '', message: told, source: 'saved' }]);
});

const missing = (credential: string) => {
  const message = `node agent_1: Credential ${credential} does not exist in this namespace: apply it, or name another one`;
  return savedProblems(workflow([condition('CredentialsReady', message)])).map(({ problem }) => problem);
};

test('a credential that does not exist is a problem of its field', () => {
  const given = spec.nodes.find(({ id }) => id === 'agent_1')?.agent?.credential ?? '';
  expect(missing(given)).toMatchObject([
    {
      field: 'agent.credential',
      message: `Credential ${given} does not exist in this project. Create it or choose another one.`,
    },
  ]);
  expect(missing('of-no-field')).toMatchObject([{ field: '' }]);
});

test('a new workflow whose trigger has no account asks for one', () => {
  const fresh = workflow([
    condition(
      'CredentialsReady',
      'node trigger: Credential choose-an-account does not exist in this namespace: apply it, or name another one',
    ),
  ]);
  const nodes = [{ id: 'trigger', mail: { credential: 'choose-an-account' } }];
  expect(savedProblems({ ...fresh, spec: { ...spec, nodes } })[0]?.problem).toMatchObject({
    field: 'mail.credential',
    message: 'Choose a credential, or create one.',
  });
});

test('an empty group is told in the words of the canvas', () => {
  const message = 'node agent_1: the group has no body: set within: agent_1 on the nodes that belong to it';
  const { nodes } = problemsOf(savedProblems(workflow([condition('Valid', message)])));
  expect(nodes.get('agent_1')?.[0]?.message).toBe('node agent_1: the group has no nodes: add the first one');
});

test('an account that is not connected is told with the button of the panel', () => {
  const message =
    'node agent_1: Credential table is not ready (NotConnected): Not connected. To connect it, POST to http://gateway/connect with a Kubernetes token.';
  const { nodes } = problemsOf(savedProblems(workflow([condition('CredentialsReady', message)])));
  expect(nodes.get('agent_1')?.[0]?.message).toBe(
    'node agent_1: Credential table is not connected: click Connect at its field',
  );
});

test.each([
  'is not ready (Unreachable): the host imap.example.com does not exist',
  'lacks scopes that the node needs: mail. Connect it again: POST to http://gateway/x/connect and open the link in the response',
])('a credential that %s is a problem of its field, which shows its state', (message) => {
  const found = savedProblems(
    workflow([condition('CredentialsReady', `node agent_1: Credential llm ${message}`)]),
  );
  expect(found).toMatchObject([
    { place: { node: 'agent_1' }, problem: { field: 'agent.credential', credential: 'llm' } },
  ]);
  expect(found[0]?.problem.message).not.toContain('POST');
});

test('a credential that no host may get is told at its field', () => {
  const message =
    'node agent_1: Credential llm names no host that it may be sent to: add "api.example.com" to its spec.oauth2.allowedHosts';
  const [found] = savedProblems(workflow([condition('CredentialsReady', message)]));
  expect(found?.problem.field).toBe('agent.credential');
  expect(found?.problem.message).toMatch(/edit it, and add "api\.example\.com" to Allowed hosts$/);
});

test('a missing credential is a problem of its field, with the name of the kind', () => {
  const message =
    'node agent_1: skill: credential is missing: send_email needs the name of a Credential of kind smtp';
  const [found] = savedProblems(workflow([condition('Valid', message)]));
  expect(found?.problem).toMatchObject({
    field: 'skill.credential',
    message: 'Choose a credential for Send email (SMTP)',
  });
});

test('a credential of another kind is told in the names of the kinds', () => {
  const message =
    'node agent_1: Credential llm is of kind smtp, the node needs openai or anthropic: name another one';
  const [found] = savedProblems(workflow([condition('CredentialsReady', message)]));
  expect(found?.problem).toMatchObject({
    field: 'agent.credential',
    message: 'Credential llm is for Send email (SMTP): choose one for Language model',
  });
});

test('problems of older generations and other conditions are ignored', () => {
  const old = condition('Valid', 'node agent_1: old', 2);
  expect(savedProblems(workflow([old, condition('PoolReady', 'node agent_1: no')]))).toEqual([]);
});

test('skipped rules are reported only if there is no other problem', () => {
  const note = {
    field: '<nil>',
    message: 'Invalid value: null: some validation rules were not checked because the object was invalid',
  };
  const wrong = { field: 'spec.nodes[1].effect', message: 'Unsupported value: "Sometimes"' };
  expect(problemsOf(draftProblems([wrong, note], spec)).workflow).toEqual([]);
  expect(problemsOf(draftProblems([note], spec)).workflow).toHaveLength(1);
});

test('fields that no workflow has are named at their nodes and edges, or with their whole path', () => {
  const listed = ['spec.nodes[1].repeat.most', 'spec.edges[0].label', 'spec.title'];
  const message = `patch: strict decoding error: ${listed.map((path) => `unknown field "${path}"`).join(', ')}`;
  const found = draftProblems([{ field: '', message }], spec);
  const advice = 'is not a field of a workflow. Correct or remove it in the YAML.';
  expect(found.map(({ place, problem }) => [place, problem.message])).toEqual([
    [{ node: 'agent_1' }, `repeat.most ${advice}`],
    [{ edge: 'trigger>agent_1' }, `label ${advice}`],
    [undefined, `spec.title ${advice}`],
  ]);
});
