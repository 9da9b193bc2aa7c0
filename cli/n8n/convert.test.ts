/** What the import makes of workflows of n8n, and that it takes any input. */
import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../api/workflow.ts';
import {
  ALL,
  exported,
  node,
  odd,
  order,
  report,
  shared,
  support,
} from '../../test/support/n8n/workflows.ts';
import { mutated, randoms } from '../../test/support/n8n/mutations.ts';
import { problemsOf } from './workflow/check.ts';
import { type Imported, convertN8n } from './convert.ts';

const specsOf = ({ documents }: Imported) =>
  documents.flatMap((document) => (document.kind === 'Workflow' ? [document] : []));
const nodesOf = (json: unknown, name?: string): WorkflowNode[] =>
  specsOf(convertN8n(json)).find(({ metadata }) => name === undefined || metadata.name === name)?.spec
    .nodes ?? [];
const statesOf = (json: unknown) =>
  Object.fromEntries(
    convertN8n(json).report.workflows.flatMap(({ nodes }) => nodes.map(({ name, state }) => [name, state])),
  );

test.each(Object.entries(ALL))('the workflow %s becomes documents without a problem', (_name, json) => {
  const specs = specsOf(convertN8n(json));
  expect(specs.length).toBeGreaterThan(0);
  expect(specs.flatMap(({ spec }) => problemsOf(spec))).toEqual([]);
});

test('a workflow is imported inactive', () => {
  expect(specsOf(convertN8n({ ...order, active: true })).map(({ spec }) => spec.active)).toEqual([false]);
});

test('plain accesses become references, and values in JSON stay values', () => {
  const { skill } = nodesOf(order).find(({ id }) => id === 'create') ?? {};
  expect(skill).toEqual({
    name: 'http_request',
    credential: 'shop',
    parameters: {
      method: 'POST',
      url: 'https://api.example.com/orders',
      body: {
        total: "{{ $('fields').data_content.total }}",
        note: "for {{ $('fields').data_content.mail }}",
      },
    },
  });
});

test('a branch without items is not executed', () => {
  const [{ spec } = { spec: undefined }] = specsOf(convertN8n(order));
  expect(spec?.edges?.filter(({ from }) => from === 'if_step')).toEqual([
    { from: 'if_step', to: 'create', when: 'nodes.if_step.data_content[0] == true' },
    { from: 'if_step', to: 'mail', when: 'nodes.if_step.data_content[1] == true' },
  ]);
});

test('Loop Over Items is a group, whose body ends with what leads back', () => {
  const nodes = nodesOf(report);
  expect(nodes.filter(({ within }) => within === 'loop_step').map(({ id }) => id)).toEqual([
    'post_parameters',
    'post',
    'loop_step_end',
  ]);
  expect(nodes.find(({ id }) => id === 'loop_step')).toMatchObject({
    group: {},
    forEach: { items: "{{ $('sort').data_content }}" },
  });
});

test('a schedule has the time zone of the workflow, and an error workflow is named', () => {
  const [{ spec } = { spec: undefined }] = specsOf(
    convertN8n(report, { workflowNames: new Map([['err1', 'alarm']]) }),
  );
  expect(spec?.nodes[0]?.schedule).toEqual({ cron: '0 6 * * *', timeZone: 'Europe/Berlin' });
  expect(spec?.onFailure).toEqual({ workflow: 'alarm' });
});

test('an agent has its model, memory, output parser, and a workflow for each tool', () => {
  const imported = convertN8n(support);
  expect(nodesOf(support, 'support').find(({ id }) => id === 'agent')?.agent).toMatchObject({
    credential: 'open-ai',
    model: 'gpt-4o',
    systemPrompt: 'You help.',
    prompt: "{{ $('chat').text_content }}",
    memory: { key: "{{ $('chat').data_content.session }}", window: { turns: 7 } },
    outputSchema: { type: 'object', required: ['answer', 'sure'] },
    tools: [{ workflow: 'support-find-order' }, { workflow: 'support-send' }],
  });
  expect(specsOf(imported).map(({ metadata }) => metadata.name)).toEqual([
    'support',
    'support-find-order',
    'support-send',
  ]);
});

test('several triggers become several workflows, which share a sub-workflow', () => {
  const imported = specsOf(convertN8n(shared));
  expect(imported.map(({ metadata }) => metadata.name)).toEqual([
    'two-ways-shared',
    'two-ways-each-hour',
    'two-ways-hook',
  ]);
  expect(
    imported.slice(1).map(({ spec }) => spec.nodes.find(({ workflow }) => workflow)?.workflow?.name),
  ).toEqual(['two-ways-shared', 'two-ways-shared']);
});

test('a manual trigger beside another one with the same connections is not needed', () => {
  const json = exported(
    'Test',
    [
      node('Manual', 'manualTrigger'),
      node('Hook', 'webhook', { httpMethod: 'POST', path: 'x' }),
      node('End', 'noOp'),
    ],
    [
      ['Manual', 'End'],
      ['Hook', 'End'],
    ],
  );
  expect(specsOf(convertN8n(json))).toHaveLength(1);
  expect(statesOf(json)).toMatchObject({ Manual: 'converted' });
});

test('a node without a counterpart fails, and keeps its parameters as an annotation', () => {
  const [{ metadata } = { metadata: undefined }] = specsOf(convertN8n(odd));
  expect(nodesOf(odd).find(({ id }) => id === 'unknown')?.code?.source).toContain(
    'throw new Error("Not imported from n8n',
  );
  expect(JSON.parse(metadata?.annotations?.['n8n.windlass.dev/unknown'] ?? '')).toEqual({
    type: 'n8n-nodes-base.kafka',
    parameters: { topic: 'orders', secretOption: { deep: ['kept'] } },
  });
});

test('every node has a state', () => {
  expect(statesOf(odd)).toEqual({
    Start: 'converted',
    Unknown: 'manual',
    Off: 'converted',
    Wait: 'converted',
    'Ready?': 'review',
    Alone: 'converted',
  });
});

test('a connection that leads back becomes a group that is executed until no item leads back', () => {
  const nodes = nodesOf(odd);
  expect(nodes.find(({ repeat }) => repeat)).toMatchObject({
    id: 'repeat_wait',
    repeat: { until: 'size(nodes.repeat_wait.data_content.again) == 0', limit: 1000 },
  });
  expect(nodes.filter(({ within }) => within === 'repeat_wait').map(({ id }) => id)).toEqual([
    'repeat_wait_start',
    'wait',
    'ready',
    'repeat_wait_end',
  ]);
});

test('a cycle that is entered at two places ends in a node that fails', () => {
  const json = exported(
    'Twice',
    [node('Start', 'manualTrigger'), node('A', 'noOp'), node('B', 'noOp')],
    [
      ['Start', 'A'],
      ['Start', 'B'],
      ['A', 'B'],
      ['B', 'A'],
    ],
  );
  expect(nodesOf(json).some(({ fail }) => fail?.reason === 'NotImported')).toBe(true);
  expect(Object.values(statesOf(json))).toContain('manual');
});

test('the trigger is the first node, also where a loop takes the nodes behind it', () => {
  const json = exported(
    'Loop',
    [node('Loop', 'splitInBatches'), node('Get', 'set', {}), node('Start', 'manualTrigger')],
    [
      ['Start', 'Get'],
      ['Get', 'Loop'],
      ['Loop', 'Get'],
    ],
  );
  expect(nodesOf(json)[0]?.id).toBe('start');
});

test('a parameter that has no counterpart is named', () => {
  const json = exported(
    'Left out',
    [
      node('Start', 'manualTrigger'),
      node('Send', 'telegram', { chatId: '1', text: 'Hi', additionalFields: { disable_notification: true } }),
    ],
    [['Start', 'Send']],
  );
  const [first] = convertN8n(json).report.workflows;
  expect(first?.nodes.find(({ name }) => name === 'Send')).toMatchObject({
    state: 'review',
    notes: ['it is without additionalFields.disable_notification, which have no counterpart'],
  });
});

test('an item of a node before a filter is the one that it comes from', () => {
  const json = exported(
    'Pairs',
    [
      node('Start', 'manualTrigger'),
      node('Rows', 'code', { jsCode: 'return rows();' }, { typeVersion: 2 }),
      node('Keep', 'filter', { conditions: { boolean: [{ value1: '={{ $json.ok }}', value2: true }] } }),
      node('Read', 'set', {
        keepOnlySet: true,
        values: { string: [{ name: 'a', value: "={{ $('Rows').item.json.a }}" }] },
      }),
    ],
    [
      ['Start', 'Rows'],
      ['Rows', 'Keep'],
      ['Keep', 'Read'],
    ],
  );
  expect(nodesOf(json).find(({ id }) => id === 'read')?.code?.source).toContain(
    'const origins = { "Rows": () => (nodes.keep?.data_content[2][0] ?? []) };',
  );
  expect(statesOf(json)).toMatchObject({ Read: 'converted' });
});

test('notes and nodes that nothing leads to are kept as annotations', () => {
  const annotations = specsOf(convertN8n(odd))[0]?.metadata.annotations ?? {};
  expect(annotations['n8n.windlass.dev/notes']).toBe('["## Read me"]');
  expect(annotations['n8n.windlass.dev/other-nodes']).toContain('"Alone"');
});

test('Credentials name Secrets, and hold none', () => {
  const credentials = convertN8n(order).documents.filter(({ kind }) => kind === 'Credential');
  expect(credentials.map(({ metadata, spec }) => [metadata.name, spec])).toContainEqual([
    'shop',
    {
      http: {
        header: { name: 'X-API-Key', valueRef: { name: 'shop', key: 'value' } },
        allowedHosts: ['api.example.com'],
      },
    },
  ]);
});

test('a chat and a webhook answer with the last node, where n8n does', () => {
  const chat = exported(
    'Echo',
    [node('Chat', '@n8n/n8n-nodes-langchain.chatTrigger'), node('Set', 'set', {})],
    [['Chat', 'Set']],
  );
  expect(nodesOf(chat)[0]?.chat?.answer).toBe('answer');
  const hook = exported(
    'Hook',
    [
      node('In', 'webhook', { path: 'a', httpMethod: 'POST', responseMode: 'lastNode' }),
      node('Set', 'set', {}),
    ],
    [['In', 'Set']],
  );
  expect(nodesOf(hook).at(-1)?.response).toEqual({ body: "{{ $('answer').data_content }}" });
});

test.each<[what: string, json: unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['a text', 'workflow'],
  ['an empty object', {}],
  ['a list of numbers', [1, 2]],
  ['nodes that are no list', { nodes: {} }],
])('%s is no workflow, and the report says so', (_what, json) => {
  expect(convertN8n(json)).toMatchObject({
    documents: [],
    report: { problem: expect.stringContaining('no n8n workflow') },
  });
});

const hostile: [what: string, json: unknown][] = [
  ['no nodes', { nodes: [] }],
  ['invalid nodes', { nodes: [null, 1, 'x', [], { name: 5 }, {}] }],
  [
    'names of members that every object has',
    exported(
      'x',
      [
        node('__proto__', 'manualTrigger'),
        node(
          'constructor',
          'set',
          JSON.parse('{"values":{"string":[{"name":"__proto__","value":"={{ $json.__proto__ }}"}]}}'),
        ),
        node('toString', 'noOp'),
      ],
      [
        ['__proto__', 'constructor'],
        ['constructor', 'toString'],
      ],
    ),
  ],
  [
    'connections to missing nodes',
    {
      nodes: [node('A', 'manualTrigger')],
      connections: { A: { main: [[{ node: 'B', index: -4 }, null, 7], null] }, C: 5 },
    },
  ],
  [
    'a node that leads to itself',
    exported(
      'x',
      [node('A', 'manualTrigger'), node('B', 'set')],
      [
        ['A', 'B'],
        ['B', 'B'],
      ],
    ),
  ],
  [
    'a cycle without a trigger',
    exported(
      'x',
      [node('A', 'set'), node('B', 'set')],
      [
        ['A', 'B'],
        ['B', 'A'],
      ],
    ),
  ],
  [
    'loops in loops without an end',
    exported(
      'x',
      [
        node('A', 'manualTrigger'),
        ...['L', 'M', 'N', 'O', 'P'].map((name) => node(name, 'splitInBatches', {}, { typeVersion: 3 })),
      ],
      [
        ['A', 'L'],
        ['L', 'M', 1],
        ['M', 'N', 1],
        ['N', 'O', 1],
        ['O', 'P', 1],
        ['P', 'O'],
        ['O', 'N'],
        ['N', 'M'],
        ['M', 'L'],
        ['P', 'P', 1],
      ],
    ),
  ],
  [
    'two nodes of one name',
    { nodes: [node('A', 'manualTrigger'), node('A', 'set'), node('A', 'noOp')], connections: {} },
  ],
  [
    '5 MB of code',
    exported(
      'x',
      [
        node('A', 'manualTrigger'),
        node(
          'B',
          'code',
          { jsCode: `return [];${'/'.repeat(2)}${'x'.repeat(5_000_000)}` },
          { typeVersion: 2 },
        ),
      ],
      [['A', 'B']],
    ),
  ],
  [
    'code that closes its function',
    exported(
      'x',
      [node('A', 'manualTrigger'), node('B', 'code', { jsCode: 'return items; } { ' }, { typeVersion: 2 })],
      [['A', 'B']],
    ),
  ],
  ['names without letters', exported('///', [node('🚀', 'manualTrigger'), node('…', 'noOp')], [['🚀', '…']])],
  [
    '200 nodes',
    exported(
      'x',
      [node('A', 'manualTrigger'), ...Array.from({ length: 200 }, (_, at) => node(`N${at}`, 'noOp'))],
      Array.from({ length: 200 }, (_, at): [string, string] => [at === 0 ? 'A' : `N${at - 1}`, `N${at}`]),
    ),
  ],
  [
    'references in texts',
    exported(
      'x',
      [
        node('A', 'manualTrigger'),
        node(
          'B',
          'httpRequest',
          { url: "https://example.com/{{ $('A').x }}", method: 'GET' },
          { typeVersion: 4 },
        ),
      ],
      [['A', 'B']],
    ),
  ],
  [
    'a private address',
    exported(
      'x',
      [
        node('A', 'manualTrigger'),
        node('B', 'httpRequest', { url: 'http://localhost:5678/' }, { typeVersion: 4 }),
      ],
      [['A', 'B']],
    ),
  ],
];

test.each(hostile)('an export with %s gives documents that the checks admit', (_what, json) => {
  const { report, documents } = convertN8n(json);
  expect(report.problem).toBeUndefined();
  expect(specsOf({ report, documents }).flatMap(({ spec }) => problemsOf(spec))).toEqual([]);
});

test('mutations of workflows give documents that the checks admit', () => {
  const random = randoms(7);
  const all = Object.values(ALL);
  const problems = Array.from({ length: 100 }, (_, at) => {
    const imported = convertN8n(mutated(all[at % all.length], random));
    return specsOf(imported).flatMap(({ spec }) => problemsOf(spec).map(({ message }) => message));
  });
  expect(problems.flat()).toEqual([]);
});
