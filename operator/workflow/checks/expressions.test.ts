/** References, values in CEL and conditions: which nodes, headers and errors they can name. */
import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import {
  agent,
  good,
  type Invalid,
  mail,
  shape,
  spec,
  webhook,
} from '../../../test/support/operator/workflowSpecs.ts';
import { validate } from '../validate.ts';

const reads = (header: string): WorkflowNode => agent(`{{ $('trigger').headers${header} }}`);
const withHeaders = (headers?: string[]): WorkflowNode => ({
  id: 'trigger',
  webhook: { path: 'orders', ...(headers && { headers }) },
});

test('a condition that names a node before the edge is valid', () => {
  const edges = [
    { from: 'trigger', to: 'agent_1' },
    { from: 'agent_1', to: 'mail', when: 'nodes.trigger.data_content.total > 10' },
  ];
  expect(validate(spec([webhook, agent('Hi'), mail(good)], edges))).toEqual([]);
});

test('the node before, the run and a default are valid without another node', () => {
  const nodes = [
    webhook,
    agent("{{ $previous.data_content.name ?? 'nobody' }} {{ $run.id }}"),
    mail({ ...good, body: '{{ $previous.text_content }}' }),
  ];
  expect(validate(spec(nodes))).toEqual([]);
  const edges = [{ from: 'trigger', to: 'mail', when: 'previous.data_content.total > 10 && !run.test' }];
  expect(validate(spec([webhook, mail(good)], edges))).toEqual([]);
});

test('the URL of a callback can be named before its node, and in the group of its node', () => {
  const approve = (within?: string): WorkflowNode => ({
    id: 'approve',
    wait: { callback: { timeout: '14d' } },
    ...(within !== undefined && { within }),
  });
  const asking = agent("{{ $url('approve') }}");
  expect(validate(spec([webhook, asking, approve()]))).toEqual([]);
  const inGroup = [webhook, { id: 'each', group: {} }, { ...asking, within: 'each' }, approve('each')];
  expect(validate(spec(inGroup))).toEqual([]);
});

test('the model of an agent may be a reference, which is checked', () => {
  const asks = (model: string): WorkflowNode => ({
    id: 'agent_1',
    agent: { credential: 'llm', model, prompt: 'Hi' },
  });
  expect(validate(spec([webhook, asks("{{ $('trigger').data_content.model }}")]))).toEqual([]);
  expect(validate(spec([webhook, asks("{{ $('nobody').data_content.model }}")]))).toMatchObject([
    { reason: 'UnknownReference', message: expect.stringContaining('node agent_1: agent.model: ') },
  ]);
});

const off = (id: string, kind: Partial<WorkflowNode> = { wait: { duration: '1m' } }): WorkflowNode => ({
  id,
  disabled: true,
  ...kind,
});

test('a reference with a default, a tested value and $previous do without the output of a disabled step', () => {
  const nodes = [
    webhook,
    off('pause'),
    shape({ n: 'has(nodes.pause) ? nodes.pause.data_content.n : 0', all: 'previous.data_content' }),
    agent("{{ $('pause').text_content ?? 'none' }}"),
  ];
  expect(validate(spec(nodes))).toEqual([]);
  const edges = [
    { from: 'trigger', to: 'pause' },
    { from: 'pause', to: 'mail', when: 'has(nodes.pause) && nodes.pause.data_content.ok' },
  ];
  expect(validate(spec([webhook, off('pause'), mail(good)], edges))).toEqual([]);
});

test('a condition behind disabled steps reads the node before them as previous, also its headers', () => {
  const edges = (when: string) => [
    { from: 'trigger', to: 'pause' },
    { from: 'pause', to: 'again' },
    { from: 'again', to: 'mail', when },
  ];
  const nodes = [withHeaders(['x-event']), off('pause'), off('again'), mail(good)];
  expect(validate(spec(nodes, edges("previous.headers['x-event'] == 'new'")))).toEqual([]);
  expect(validate(spec(nodes, edges("previous.headers['x-other'] == 'new'")))).toMatchObject([
    { reason: 'UnknownReference', message: expect.stringContaining('Add the header to webhook.headers') },
  ]);
});

test('the fields of a disabled step are not checked, nor those in a disabled group', () => {
  const unfinished = { skill: { name: 'send_mial', parameters: { to: "{{ $('nobody').text_content" } } };
  expect(validate(spec([webhook, off('m', unfinished), mail(good)]))).toEqual([]);
  const group = [webhook, off('each', { group: {} }), { id: 'm', within: 'each', ...unfinished }, mail(good)];
  expect(validate(spec(group))).toEqual([]);
  const edges = [{ from: 'trigger', to: 'mail' }];
  expect(validate(spec([webhook, mail(good), off('unused')], edges))).toEqual([]);
});

test('a step after a disabled step that nothing leads to is unreached', () => {
  const edges = [{ from: 'pause', to: 'mail' }];
  expect(validate(spec([webhook, off('pause'), mail(good)], edges))).toMatchObject([
    { reason: 'UnreachableStep', message: expect.stringContaining('node pause: no edge leads to it') },
  ]);
});

test('values in CEL that name what came before are valid, and are no references in braces', () => {
  const nodes = [
    webhook,
    shape({ total: 'nodes.trigger.data_content.price * 2.0', text: '"{{ no reference }}"' }),
  ];
  expect(validate(spec(nodes))).toEqual([]);
});

test.each<Invalid>([
  [
    'items that are text beside a reference',
    spec([webhook, agent('Hi', { forEach: { items: "all {{ $('trigger').data_content }}" } })]),
    'InvalidExpression',
    /^node agent_1: forEach.items: must be one reference to an array/,
  ],
  [
    'a reference that is not closed',
    spec([webhook, agent("{{ $('trigger').text_content")]),
    'InvalidExpression',
    /^node agent_1: agent\.prompt: line 1, column \d+: /,
  ],
  [
    'an item outside of forEach',
    spec([webhook, agent('{{ $item.name }}')]),
    'InvalidExpression',
    /^node agent_1: agent\.prompt: \$item\.name exists only in a node with forEach/,
  ],
  [
    'the URL of a node that does not exist',
    spec([webhook, agent("{{ $url('done') }}"), { id: 'approve', wait: { callback: {} } }]),
    'UnknownReference',
    /^node agent_1: agent\.prompt: \$url\('done'\) names a node which does not exist\. Callbacks that agent_1 can name: approve$/,
  ],
  [
    'the URL of a node that waits for no callback',
    spec([webhook, agent("{{ $url('pause') }}"), { id: 'pause', wait: { duration: '1m' } }]),
    'UnknownReference',
    /\$url\('pause'\) names a node which does not wait for a callback\. .*: \(none\)$/,
  ],
  [
    'the URL of a node in a group, outside of the group',
    spec([
      webhook,
      agent("{{ $url('approve') }}"),
      { id: 'each', group: {} },
      { id: 'approve', within: 'each', wait: { callback: {} } },
    ]),
    'UnknownReference',
    /names a node which is in the group each: its URL exists only in that group/,
  ],
  [
    'the URL of a node with forEach',
    spec([
      webhook,
      agent("{{ $url('approve') }}"),
      {
        id: 'approve',
        wait: { callback: {} },
        forEach: { items: "{{ $('trigger').data_content.items }}" },
      },
    ]),
    'UnknownReference',
    /names a node which has forEach or repeat, so that it has no single URL/,
  ],
  [
    'a reference to a disabled step, without a default',
    spec([webhook, off('pause'), agent("{{ $('pause').text_content }}")]),
    'UnknownReference',
    /^node agent_1: agent\.prompt: \$\('pause'\)\.text_content never has a value, because node pause is disabled: enable pause, name another node, or give it a default, as in \{\{ \$\('pause'\)\.text_content \?\? 'none' \}\}$/,
  ],
  [
    'a value that reads a disabled step',
    spec([webhook, off('pause'), shape({ n: 'nodes.pause.data_content.n' })]),
    'UnknownReference',
    /^node shape: skill\.parameters\.values\.n: nodes\.pause never has a value, .* test it first with has\(nodes\.pause\)$/,
  ],
  [
    'a condition that reads a disabled step',
    spec(
      [webhook, off('pause'), mail(good)],
      [
        { from: 'trigger', to: 'pause' },
        { from: 'pause', to: 'mail', when: 'nodes.pause.data_content.n > 1' },
      ],
    ),
    'UnknownReference',
    /^edge pause → mail: when: nodes\.pause never has a value/,
  ],
  [
    'a condition of repeat that reads a disabled step',
    spec([
      webhook,
      off('pause'),
      agent('Hi', { repeat: { until: 'nodes.pause.data_content.n > 1', limit: 2 } }),
    ]),
    'UnknownReference',
    /^node agent_1: repeat\.until: nodes\.pause never has a value/,
  ],
  [
    'the URL of a disabled step',
    spec([webhook, agent("{{ $url('pause') }}"), off('pause', { wait: { callback: {} } })]),
    'UnknownReference',
    /names a node which is disabled/,
  ],
  [
    '$previous after a disabled step with several edges into it',
    spec(
      [webhook, shape({}), off('pause'), agent('{{ $previous.text_content }}')],
      [
        { from: 'trigger', to: 'shape' },
        { from: 'trigger', to: 'pause' },
        { from: 'shape', to: 'pause' },
        { from: 'pause', to: 'agent_1' },
      ],
    ),
    'UnknownReference',
    /needs exactly one edge/,
  ],
  [
    'previous in a condition behind a disabled step with several edges into it',
    spec(
      [webhook, shape({}), off('pause'), agent('Hi')],
      [
        { from: 'trigger', to: 'shape' },
        { from: 'trigger', to: 'pause' },
        { from: 'shape', to: 'pause' },
        { from: 'pause', to: 'agent_1', when: 'previous.data_content.ok' },
      ],
    ),
    'UnknownReference',
    /^edge pause → agent_1: when: previous needs exactly one edge into pause, since pause is disabled: name the node instead, one of trigger, shape$/,
  ],
  [
    'a reference to a node that does not exist',
    spec([webhook, agent("{{ $('triger').text_content }}")]),
    'UnknownReference',
    /^node agent_1: agent\.prompt: \$\('triger'\)\.text_content names a node that does not exist: use one of: trigger$/,
  ],
  [
    'a reference to a node that comes later, deep inside of parameters',
    spec([webhook, mail({ ...good, body: { deep: ["{{ $('agent_1').text_content }}"] } }), agent('Hi')]),
    'UnknownReference',
    /^node mail: skill\.parameters: .* does not come before mail: add an edge .*: trigger$/,
  ],
  [
    'a reference to a node of another branch',
    spec(
      [webhook, agent('Hi'), mail({ ...good, body: "{{ $('agent_1').text_content }}" })],
      [
        { from: 'trigger', to: 'agent_1' },
        { from: 'trigger', to: 'mail' },
      ],
    ),
    'UnknownReference',
    /does not come before mail/,
  ],
  [
    'the node before, where two edges come in',
    spec(
      [webhook, agent('Hi'), mail({ ...good, body: '{{ $previous.text_content }}' })],
      [
        { from: 'trigger', to: 'agent_1' },
        { from: 'trigger', to: 'mail' },
        { from: 'agent_1', to: 'mail' },
      ],
    ),
    'UnknownReference',
    /^node mail: skill\.parameters: \$previous\.text_content needs exactly one edge into mail: name the node instead, one of trigger, agent_1$/,
  ],
  [
    'a header of the node before, which is no webhook',
    spec([webhook, agent('Hi'), mail({ ...good, body: '{{ $previous.headers.a }}' })]),
    'UnknownReference',
    /\$\('agent_1'\)\.headers\.a never has a value/,
  ],
  [
    'a header of the node before in CEL, which the webhook does not admit',
    spec([webhook, shape({ a: 'previous.headers.a' })]),
    'UnknownReference',
    /values\.a: nodes\.trigger\.headers\.a never has a value/,
  ],
  [
    'a message of a fail node that names no node',
    spec([webhook, { id: 'stop', fail: { reason: 'Late', message: "{{ $('nope').text_content }}" } }]),
    'UnknownReference',
    /^node stop: fail\.message: /,
  ],
  [
    'a value that cannot be parsed',
    spec([webhook, shape({ total: '1 +' })]),
    'InvalidExpression',
    /^node shape: skill\.parameters: values\.total: line 1, column \d+: /,
  ],
  [
    'a value that names a node that comes later',
    spec([webhook, shape({ a: { b: 'nodes.agent_1.text_content' } }), agent('Hi')]),
    'UnknownReference',
    /^node shape: skill\.parameters\.values\.a\.b: nodes\.agent_1 names a node that does not come before shape/,
  ],
  [
    'a header of a webhook that admits none',
    spec([withHeaders(), reads("['x-shop']")]),
    'UnknownReference',
    /^node agent_1: agent\.prompt: \$\('trigger'\)\.headers\['x-shop'\] never has a value\. Add the header to webhook\.headers of node trigger: headers: \[x-shop\]$/,
  ],
  [
    'a header in other letters than those in which it comes',
    spec([withHeaders(['X-Shop']), reads("['X-Shop']")]),
    'UnknownReference',
    /Header names are lower case: write headers\['x-shop'\]$/,
  ],
  [
    'a header of a node that is no webhook',
    spec([{ id: 'trigger', manual: {} }, reads("['x-shop']")]),
    'UnknownReference',
    /Only a webhook trigger has headers, and trigger is not one$/,
  ],
  [
    'a header in CEL that the webhook does not admit',
    spec([withHeaders(['X-Other']), shape({ a: "nodes.trigger.headers['x-shop']" })]),
    'UnknownReference',
    /^node shape: skill\.parameters\.values\.a: nodes\.trigger\.headers\['x-shop'\] never has a value\./,
  ],
  [
    'a header in a condition that the webhook does not admit',
    spec(
      [withHeaders(), mail(good)],
      [{ from: 'trigger', to: 'mail', when: "nodes.trigger.headers['x-shop'] == 'a'" }],
    ),
    'UnknownReference',
    /^edge trigger → mail: when: nodes\.trigger\.headers\['x-shop'\] never has a value\./,
  ],
  [
    'a reference of n8n to the body of a webhook',
    spec([webhook, agent("{{ $('trigger').item.json.body.amount }}")]),
    'UnknownReference',
    /never has a value\. Use \.data_content of trigger: write \$\('trigger'\)\.data_content\.amount; \.item exists for groups/,
  ],
  [
    'a reference of n8n in CEL',
    spec([webhook, shape({ a: 'nodes.trigger.item.json.amount' })]),
    'UnknownReference',
    /Use \.data_content of trigger: write nodes\.trigger\.data_content\.amount; \.item exists/,
  ],
  [
    'the error of a node whose failure ends the run',
    spec([webhook, mail(good), { id: 'after', response: { body: "{{ $('mail').error.message }}" } }]),
    'UnknownReference',
    /never has a value\. A failure of mail ends the run: set its onError to Continue, or add an edge/,
  ],
  [
    'a condition that cannot be parsed',
    spec([webhook, mail(good)], [{ from: 'trigger', to: 'mail', when: 'nodes.trigger.data_content >' }]),
    'InvalidExpression',
    /^edge trigger → mail: when: line 1, column \d+: /,
  ],
  [
    'a condition that names its own end',
    spec([webhook, mail(good)], [{ from: 'trigger', to: 'mail', when: 'nodes.mail.text_content == ""' }]),
    'UnknownReference',
    /^edge trigger → mail: when: nodes\.mail names a node that does not come before mail/,
  ],
])('%s is refused with its reason, the place and what to do', (_sentence, refused, reason, says) => {
  expect(validate(refused)[0]).toMatchObject({ reason, message: expect.stringMatching(says) });
});

test.each<[sentence: string, spec: WorkflowSpec]>([
  ['all headers of a webhook that admits one', spec([withHeaders(['X-Shop']), reads('')])],
  ['a header that the webhook admits', spec([withHeaders(['X-Shop']), reads("['x-shop']")])],
  [
    'the header in CEL, asked for with has()',
    spec([
      withHeaders(['X-Shop']),
      {
        id: 'v',
        skill: {
          name: 'set',
          parameters: { values: { a: "has(nodes.trigger.headers) ? nodes.trigger.headers['x-shop'] : ''" } },
        },
      },
    ]),
  ],
  [
    'the error of a node that lets the run go on',
    spec(
      [webhook, mail(good), { id: 'after', response: { body: "{{ $('mail').error.message }}" } }].map(
        (node) => (node.id === 'mail' ? { ...node, onError: 'Continue' as const } : node),
      ),
    ),
  ],
  [
    'the error of a node that an edge follows after its failure',
    spec(
      [webhook, mail(good), { id: 'sorry', response: { body: "{{ $('mail').error.message }}" } }],
      [
        { from: 'trigger', to: 'mail' },
        { from: 'mail', to: 'sorry', after: 'Failure' },
      ],
    ),
  ],
])('%s is valid', (_sentence, spec) => {
  expect(validate(spec)).toEqual([]);
});
