/** What the import makes of workflows of n8n. */
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

test('a disabled node becomes a disabled step, and what follows it reads what came before', () => {
  const off = exported(
    'Off',
    [
      node('Hook', 'webhook', { path: 'orders', httpMethod: 'POST' }),
      node('Get', 'httpRequest', { url: '=https://example.com/{{ $json.body.id + 1 }}' }, { disabled: true }),
      node('Odd', 'kafka', { topic: 'orders' }, { disabled: true }),
      node(
        'Send',
        'httpRequest',
        { url: '=https://example.com/{{ $("Get").item.json.body.id }}/{{ $json.body.id }}' },
        { typeVersion: 4.2 },
      ),
    ],
    [
      ['Hook', 'Get'],
      ['Get', 'Odd'],
      ['Odd', 'Send'],
    ],
  );
  const nodes = nodesOf(off);
  expect(nodes.map(({ id, disabled }) => (disabled ? `${id} disabled` : id))).toEqual([
    'hook',
    'get_parameters disabled',
    'get disabled',
    'odd',
    'send',
  ]);
  expect(nodes.find(({ id }) => id === 'get')?.skill?.name).toBe('http_request');
  expect(nodes.find(({ id }) => id === 'send')?.skill?.parameters?.['url']).toBe(
    "https://example.com/{{ $('hook').data_content.id }}/{{ $('hook').data_content.id }}",
  );
  expect(statesOf(off)).toMatchObject({ Get: 'converted', Odd: 'converted' });
});

test('a disabled node that answers the caller leaves the answer to the last node', () => {
  const nodes = nodesOf(
    exported(
      'Answer',
      [
        node('Hook', 'webhook', { path: 'orders', httpMethod: 'POST', responseMode: 'lastNode' }),
        node('Reply', 'respondToWebhook', {}, { disabled: true }),
      ],
      [['Hook', 'Reply']],
    ),
  );
  expect(nodes.filter(({ response }) => response).map(({ disabled }) => disabled ?? false)).toContain(false);
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
