import { describe, expect, test } from 'vitest';
import type { Variables } from '../../api/expression/variables.ts';
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../api/workflow.ts';
import { parseEgressRules } from '../../nodes/egress/rules.ts';
import { compileSources } from './checks/code.ts';
import { validate } from './validate.ts';

const webhook: WorkflowNode = { id: 'trigger', webhook: { path: 'orders' } };
const agent = (prompt: string, more: Partial<WorkflowNode> = {}): WorkflowNode => ({
  id: 'agent_1',
  agent: { credential: 'llm', model: 'small', prompt },
  ...more,
});
const mail = (parameters: Record<string, unknown>): WorkflowNode => ({
  id: 'mail',
  skill: { name: 'send_email', credential: 'smtp', parameters },
});
const good = { to: 'ada@example.com', subject: 'Hello', body: 'Text' };

function spec(nodes: WorkflowNode[], edges?: WorkflowEdge[]): WorkflowSpec {
  return { active: true, nodes, ...(edges && { edges }) };
}

test('a webhook, an agent, a mail and a response that refer to what came before are valid', () => {
  const nodes = [
    webhook,
    agent("{{ $('trigger').data_content.items[0].name }}"),
    mail({ ...good, body: "{{ $('agent_1').text_content }}" }),
    { id: 'reply', response: { status: 201, body: { summary: "{{ $('agent_1').text_content }}" } } },
  ];
  expect(validate(spec(nodes))).toEqual([]);
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

const stop: WorkflowNode = { id: 'stop', fail: { reason: 'OutOfStock', message: 'sold out' } };

test('variables must exist, unless they are tested or have a default', () => {
  const nodes = [
    webhook,
    agent("{{ $vars.tone }} {{ $vars.name ?? 'Ada' }} {{ $vars['limits.json'].max }}"),
    shape({ a: 'vars.url', b: 'has(vars.c) ? vars.c : vars.?d.orValue("")' }),
    mail(good),
  ];
  const edges = [
    { from: 'trigger', to: 'agent_1' },
    { from: 'agent_1', to: 'shape' },
    { from: 'shape', to: 'mail', when: 'vars.on == "yes"' },
  ];
  const values = { tone: 'kind', 'limits.json': { max: 1 }, url: 'x', on: 'yes' };
  const reasons = (variables: Variables) =>
    validate(spec(nodes, edges), { variables }).map(({ reason, message }) => `${reason} ${message}`);
  expect(reasons({ values, invalid: [] })).toEqual([]);
  expect(reasons({ values: { tone: 'kind' }, invalid: ['limits.json'] })).toEqual([
    'VariableInvalid node agent_1: agent.prompt: the value of the variable limits.json is not JSON as an event may have it: correct it in the ConfigMap windlass-variables',
    'VariableMissing node shape: skill.parameters: the variable url does not exist: add the key to the ConfigMap windlass-variables, or write a default',
    'VariableMissing edge shape → mail: when: the variable on does not exist: add the key to the ConfigMap windlass-variables, or write a default',
  ]);
  expect(reasons({ values: {}, invalid: [], isTooLarge: true })).toEqual([
    'VariablesTooLarge the ConfigMap windlass-variables is larger than 64 KiB, so that runs keep the values from before: make it smaller',
  ]);
  expect(
    validate(spec([webhook, agent('Hi')]), { variables: { values: {}, invalid: [], isTooLarge: true } }),
  ).toEqual([]);
});

test('variables that code reads must exist, unless it tests them', () => {
  const code = (source: string): WorkflowNode => ({ id: 'code', code: { source } });
  const reasons = (source: string, variables: Variables) =>
    validate(spec([webhook, code(source)]), { variables }).map(
      ({ reason, message }) => `${reason} ${message}`,
    );
  const source = "const url = vars.url;\nreturn [url, vars['limits.json'].max, vars.tone ?? 'kind'];";
  expect(reasons(source, { values: { url: 'x', 'limits.json': {} }, invalid: [] })).toEqual([]);
  expect(reasons(source, { values: {}, invalid: ['limits.json'] })).toEqual([
    'VariableMissing node code: code.source: line 1, column 13: the variable url does not exist: add the key to the ConfigMap windlass-variables, or write a default',
    'VariableInvalid node code: code.source: line 2, column 14: the value of the variable limits.json is not JSON as an event may have it: correct it in the ConfigMap windlass-variables',
  ]);
});

const schedule = (cron: string, timeZone = 'UTC'): WorkflowNode => ({
  id: 'tick',
  schedule: { cron, timeZone },
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

test.each([
  [
    'Set-Cookie',
    { headers: { 'Set-Cookie': 'a=b' } },
    /^node reply: response: the header Set-Cookie cannot be/,
  ],
  [
    'Content-Length',
    { headers: { 'content-length': '{{ $index }}' } },
    /the header content-length cannot be/,
  ],
  ['a name with a space', { headers: { 'X A': 'b' } }, /a name in headers is not a valid HTTP header name/],
  ['a value with a line break', { headers: { 'X-A': 'a\nb' } }, /the value of X-A holds a line break/],
  ['a content type with a line break', { contentType: 'text/plain\n' }, /the value of contentType holds/],
])('a response that can never be sent is refused: %s', (_what, response, says) => {
  expect(validate(spec([webhook, { id: 'reply', response }]))).toContainEqual({
    reason: 'InvalidParameters',
    message: expect.stringMatching(says),
  });
});

test('a header whose value a reference gives is valid', () => {
  const headers = { 'X-Name': "{{ $('trigger').data_content.name }}", 'Content-Type': 'text/csv' };
  expect(validate(spec([webhook, { id: 'reply', response: { headers } }]))).toEqual([]);
});

const shape = (values: unknown): WorkflowNode => ({
  id: 'shape',
  skill: { name: 'set', parameters: { values } },
});

test('values in CEL that name what came before are valid, and are no references in braces', () => {
  const nodes = [
    webhook,
    shape({ total: 'nodes.trigger.data_content.price * 2.0', text: '"{{ no reference }}"' }),
  ];
  expect(validate(spec(nodes))).toEqual([]);
});

const reads = (header: string): WorkflowNode => agent(`{{ $('trigger').headers${header} }}`);
const withHeaders = (headers?: string[]): WorkflowNode => ({
  id: 'trigger',
  webhook: { path: 'orders', ...(headers && { headers }) },
});
const call = (url: string): WorkflowNode => ({
  id: 'call',
  skill: { name: 'http_request', parameters: { url } },
});

type Invalid = [sentence: string, spec: WorkflowSpec, reason: string, says: RegExp];
const invalid: Invalid[] = [
  [
    'a day that never comes',
    spec([schedule('0 0 30 2 *')]),
    'InvalidSchedule',
    /^node tick: schedule: no day has these fields/,
  ],
  [
    'a time zone that is not there',
    spec([schedule('0 0 * * *', 'Mars/Olympus')]),
    'InvalidSchedule',
    /^node tick: schedule: unknown time zone Mars\/Olympus/,
  ],
  [
    'items that are text beside a reference',
    spec([webhook, agent('Hi', { forEach: { items: "all {{ $('trigger').data_content }}" } })]),
    'InvalidExpression',
    /^node agent_1: forEach.items: must be one reference to an array/,
  ],
  [
    'a tool without the credential of its skill',
    spec([
      webhook,
      {
        id: 'a',
        agent: {
          credential: 'llm',
          model: 'm',
          prompt: 'p',
          tools: [{ skill: 'send_email', parameters: { to: 'a@example.com' } }],
        },
      },
    ]),
    'InvalidParameters',
    /^node a: agent\.tools\[0\]: credential is missing: send_email needs/,
  ],
  [
    'an invalid output schema',
    spec([
      webhook,
      { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'p', outputSchema: { type: 'objekt' } } },
    ]),
    'InvalidParameters',
    /^node a: agent: outputSchema cannot be used: /,
  ],
  [
    'options that the step itself sets',
    spec([
      webhook,
      { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'p', options: { stream: false } } },
    ]),
    'InvalidParameters',
    /^node a: agent: options: stream cannot be set here/,
  ],
  [
    'a skill that does not exist',
    spec([webhook, { id: 's', skill: { name: 'send_fax' } }]),
    'UnknownSkill',
    /^node s: skill: there is no skill named send_fax; use one of .*send_email/,
  ],
  [
    'a parameter that the skill lacks',
    spec([webhook, mail({ ...good, colour: 'red' })]),
    'InvalidParameters',
    /^node mail: skill: parameters: .*colour/,
  ],
  [
    'a skill without the credential that it needs',
    spec([webhook, { id: 's', skill: { name: 'send_email', parameters: good } }]),
    'InvalidParameters',
    /^node s: skill: credential is missing: .*smtp/,
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
  ...['tomorrow', '2026-05-01T08:00:00', '2026-02-30T08:00:00Z', "{{ 'soon' }}"].map(
    (until): Invalid => [
      `a wait until ${until}`,
      spec([webhook, { id: 'pause', wait: { until } }]),
      'InvalidParameters',
      /^node pause: wait\.until: ".*" is not a time in RFC 3339: write a date/,
    ],
  ),
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
    'an edge from a fail node',
    spec([webhook, stop, agent('Hi')]),
    'UnreachableStep',
    /^edge stop → agent_1: is never taken, since the fail node stop ends the run: remove the edge/,
  ],
  [
    'a message of a fail node that names no node',
    spec([webhook, { ...stop, fail: { reason: 'Late', message: "{{ $('nope').text_content }}" } }]),
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
    'a step that no edge leads to',
    spec([webhook, agent('Hi'), mail(good)], [{ from: 'trigger', to: 'mail' }]),
    'UnreachableStep',
    /^node agent_1: no edge leads to it, so it would never run: add an edge to it, or remove it$/,
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
    'the error of a node whose failure ends the run',
    spec([webhook, mail(good), { id: 'after', response: { body: "{{ $('mail').error.message }}" } }]),
    'UnknownReference',
    /never has a value\. A failure of mail ends the run: set its onError to Continue, or add an edge/,
  ],
  [
    'the failure of a trigger',
    spec([webhook, mail(good)], [{ from: 'trigger', to: 'mail', after: 'Failure' }]),
    'UnreachableStep',
    /^edge trigger → mail: after: Failure is never taken, since a trigger does not fail: remove after$/,
  ],
  [
    'a request to a private address',
    spec([webhook, call('http://10.0.0.7:8080/orders')]),
    'AddressForbidden',
    /^node call: skill: parameters: url: 10\.0\.0\.7 is a private address, which steps may not connect to: .*runner\.egress\.allow/,
  ],
  [
    'a request to where clouds tell a machine who it is',
    spec([webhook, call('http://169.254.169.254/latest/meta-data')]),
    'AddressForbidden',
    /169\.254\.169\.254 is a link-local address/,
  ],
  [
    'a request to this very machine',
    spec([webhook, call("http://localhost:8000/{{ $('trigger').data_content.id }}")]),
    'AddressForbidden',
    /localhost leads to a loopback address/,
  ],
  [
    'a request to an address of IPv6',
    spec([webhook, call('http://[::1]:6379/')]),
    'AddressForbidden',
    /::1 is a loopback address/,
  ],
  [
    'a request to a Service of the cluster',
    spec([webhook, call('http://redis.windlass-system.svc:6379/x')]),
    'AddressForbidden',
    /redis\.windlass-system\.svc is a Service of the cluster, .* add it to runner\.egress\.allow/,
  ],
  [
    'a request to a Service of the cluster by its full name',
    spec([webhook, call('http://redis.windlass-system.svc.cluster.local./x')]),
    'AddressForbidden',
    /is a Service of the cluster/,
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
];

test.each<[sentence: string, spec: WorkflowSpec]>([
  ['a header that the webhook admits', spec([withHeaders(['X-Shop']), reads("['x-shop']")])],
  ['a wait until a time', spec([webhook, { id: 'pause', wait: { until: '2026-05-01T08:00:00+02:00' } }])],
  [
    'a wait until a time that a reference gives',
    spec([webhook, { id: 'pause', wait: { until: "{{ $('trigger').data_content.day }}T08:00:00Z" } }]),
  ],
  ['all headers of a webhook that admits one', spec([withHeaders(['X-Shop']), reads('')])],
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
  ['a host that only a name server knows', spec([webhook, call('http://orders.example.com:8080/')])],
  ['an address of the Internet', spec([webhook, call('https://1.1.1.1/dns-query')])],
  ['a host that a reference gives', spec([webhook, call("http://{{ $('trigger').data_content.host }}/")])],
])('%s is valid', (_sentence, spec) => {
  expect(validate(spec)).toEqual([]);
});

test('an address that the installation admits is valid, and one that it denies is not', () => {
  const egress = parseEgressRules(['10.0.0.0/8', 'localhost:11434'], ['1.1.1.1']);
  const problems = (url: string) =>
    validate(spec([webhook, call(url)]), { egress }).map(({ reason }) => reason);
  expect(problems('http://10.1.2.3:8080/orders')).toEqual([]);
  expect(problems('http://localhost:11434/v1')).toEqual([]);
  expect(problems('http://localhost:11435/v1')).toEqual(['AddressForbidden']);
  expect(problems('https://1.1.1.1/')).toEqual(['AddressForbidden']);
});

test.each<[allow: string[], url: string, isAdmitted: boolean]>([
  [['model.models.svc:8080'], 'http://model.models.svc:8080/v1', true],
  [['model.models.svc:8080'], 'http://model.models.svc:8081/v1', false],
  // The Service may have an address in it.
  [['10.0.0.0/8'], 'http://model.models.svc/v1', true],
  [['10.1.2.3:80'], 'http://model.models.svc/v1', true],
  [['10.1.2.3:81'], 'http://model.models.svc/v1', false],
  [['127.0.0.0/8'], 'http://model.models.svc/v1', false],
  [[], 'https://svc.example.com/v1', true],
])('with %j allowed a step that calls %s is valid: %s', (allow, url, isAdmitted) => {
  const egress = parseEgressRules(allow, []);
  expect(validate(spec([webhook, call(url)]), { egress }).length === 0).toBe(isAdmitted);
});

test.each(invalid)(
  '%s is refused with its reason, the place and what to do',
  (_sentence, spec, reason, says) => {
    const [violation] = validate(spec);
    expect(violation).toMatchObject({ reason, message: expect.stringMatching(says) });
  },
);

test('what is wrong with the trigger is marked so, because nothing may be served under it', () => {
  const open = spec([schedule('0 0 30 2 *'), agent('{{')]);
  expect(validate(open).map(({ trigger }) => trigger)).toEqual([true, undefined]);
});

test('everything that is wrong is found at once', () => {
  const nodes = [schedule('0 0 30 2 *'), agent('{{'), mail({ to: 'nobody', subject: 'Hello', body: 'Text' })];
  expect(validate(spec(nodes)).map(({ reason }) => reason)).toEqual([
    'InvalidSchedule',
    'InvalidParameters',
    'InvalidExpression',
  ]);
});

describe('a code node', () => {
  const code = (source: string): WorkflowNode => ({ id: 'code', code: { source } });

  test.each<[string, string]>([
    ['a function body', 'const { items } = nodes.trigger.data_content; return items.length;'],
    ['await', 'return await Promise.all([1, 2]);'],
    ['a comment at its end', 'return 1; // done'],
    ['names of nodes in texts and comments', "// nodes.gone is renamed\nreturn 'nodes.gone';"],
  ])('with %s is valid', async (_what, source) => {
    expect(validate(spec([webhook, code(source)]))).toEqual([]);
    expect(await compileSources(spec([webhook, code(source)]))).toEqual([]);
  });

  test.each<[string, string, string]>([
    ['invalid syntax', 'const a = 1;\nconst b = ;', 'line 2, column 11: unexpected token in expression'],
    [
      'a } that ends its function',
      'return 1; } , async function () {',
      'line 1, column 13: a } ends the function',
    ],
    [
      'a } between functions',
      'return 1; }\n[x] = async function () { return 2;',
      'ends the function of the code early',
    ],
    ['an open text', 'return `a', 'unexpected end'],
    ['an import', 'import fs from "node:fs";', 'line 1'],
  ])('with %s is invalid', async (_what, source, says) => {
    const compiled = await compileSources(spec([webhook, code(source)]));
    expect(compiled).toMatchObject([
      { reason: 'InvalidCode', message: expect.stringContaining(`node code: code.source: line`) },
    ]);
    expect(compiled[0]?.message).toContain(says);
    expect(validate(spec([webhook, code(source)]), { compiled })).toEqual(compiled);
  });

  test('that compiles for seconds is invalid, and delays nothing else', async () => {
    const source = `return /[${String.raw`\p{L}`.repeat(12_500)}]/iu;`;
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 10);
    const [first, ...rest] = await compileSources(spec([webhook, code(source), code(source)]));
    clearInterval(timer);
    expect(first?.message).toMatch(/the code takes more than 2 s to compile: shorten or simplify it$/);
    expect(rest).toEqual([]);
    expect(ticks).toBeGreaterThan(20);
  });

  test.each<[string, string]>([
    ['quotes', `\`${String.raw`\"`.repeat(32_000)}\``],
    ['comments', `\`${'/* '.repeat(21_000)}\``],
  ])('with a template of many open %s is checked in linear time', (_what, source) => {
    // Processor time, which other work on the machine does not prolong: in square time it takes minutes.
    const started = process.cpuUsage();
    expect(validate(spec([webhook, code(source)]))).toEqual([]);
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });

  test.each(['nodes.later', 'nodes?.later', "nodes['later']", 'nodes["later"]', 'nodes.code', 'nodes.gone'])(
    'that names %s, which does not come before it, is invalid',
    (written) => {
      const later: WorkflowNode = { id: 'later', response: { body: 1 } };
      expect(
        validate(spec([webhook, code(`const a = 1;\n  return ${written}.data_content;`), later])),
      ).toMatchObject([
        {
          reason: 'UnknownReference',
          message: expect.stringMatching(/^node code: code\.source: line 2, column 10: nodes\./),
        },
      ]);
    },
  );

  test('is invalid in an installation that does not execute code', () => {
    expect(validate(spec([webhook, code('return 1;')]), { code: false })).toEqual([
      {
        reason: 'CodeDisabled',
        message:
          'node code: this installation does not execute code (chart value runner.code.enabled): use the skill set',
      },
    ]);
  });
});
