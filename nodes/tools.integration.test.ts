import { afterAll, beforeEach, expect, test } from 'vitest';
import { StepError } from '../api/reasons.ts';
import type { RevisionStep } from '../api/revision.ts';
import type { AgentTool } from '../api/step.ts';
import { listen } from '../test/support/network/listen.ts';
import { agentCalls } from '../test/support/nodes/agentCalls.ts';
import { stepContext } from '../test/support/nodes/stepContext.ts';
import { startModelServer, type ModelFault } from '../test/support/providers/model/modelServer.ts';
import { executeAgent, type AgentFields } from './agent/agent.ts';
import { parametersOf } from './agent/tools.ts';
import type { StepBudget } from './contract/budget.ts';
import { effectOf, hasEffectOnce } from './register.ts';
import { toolProblems, toolsOf } from './tools.ts';

const model = await startModelServer();
const asked: string[] = [];
const api = await listen((request, response) => {
  asked.push(request.url ?? '');
  if (request.url === '/fails') return void response.writeHead(500).end();
  if (request.url === '/large') return void response.end('x'.repeat(8 * 1024 * 1024));
  response.end('{"stock":3}');
});
afterAll(async () => {
  await Promise.all([model.close(), api.close()]);
});
beforeEach(() => {
  model.requests.length = 0;
  model.setFault(undefined);
  asked.length = 0;
});

const spec = { openai: { baseURL: model.baseURL, apiKeyRef: { name: 'llm', key: 'apiKey' } } };
const http = (name: string, extra: Partial<AgentTool> = {}): AgentTool => ({
  name,
  skill: 'http_request',
  parameters: { url: `${api.url}/${name}` },
  ...extra,
});
const fixedOf = (tools: readonly AgentTool[]) => tools.map(({ parameters = {} }) => parameters);

type Options = { tools?: AgentTool[]; stored?: Map<string, string>; attempt?: number; timesOut?: string[] };

function converse(prompt: string, fields: Partial<AgentFields> = {}, options: Options = {}) {
  const { tools = [http('lookup'), http('fails'), http('large')], ...rest } = options;
  const context = stepContext(spec);
  const calls = agentCalls(context, rest);
  const result = executeAgent(
    { credential: 'llm', model: 'demo', prompt, ...fields },
    { ...context, calls },
    { tools: toolsOf({ tools }), fixed: fixedOf(tools) },
  );
  return { calls, result };
}

async function failureOf(promise: Promise<unknown>): Promise<StepError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StepError);
  return error as StepError;
}

test.each<[sentence: string, prompt: string, says: string]>([
  ['an unknown tool', 'call nope {}', 'there is no tool nope; the tools are: lookup, fails, large'],
  ['broken JSON', 'call lookup {"query":', 'the arguments are not valid JSON'],
  ['arguments that are no object', 'call lookup [1]', 'the arguments are not a JSON object'],
  [
    'arguments of 1 MB',
    `call lookup {"query":{"a":"${'x'.repeat(1_000_000)}"}}`,
    'the arguments have more than 32 KiB',
  ],
  [
    'an unknown parameter',
    'call lookup {"color":"red"}',
    'lookup has no parameter color; its parameters are: ',
  ],
  ['a fixed parameter', 'call lookup {"url":"https://evil.example"}', 'lookup has no parameter url'],
  ['a parameter of another type', 'call lookup {"query":7}', 'The call is wrong: query: '],
  ['a tool that fails', 'call fails {}', 'UpstreamError: '],
  ['a tool that returns 8 MB', 'call large {}', 'OutputTooLarge: '],
])('the model is told about %s, and continues', async (_sentence, prompt, says) => {
  const { result, calls } = converse(prompt);
  expect((await result).output.text_content).toContain(says);
  expect(calls.transcript().at(-2)).toMatchObject({ role: 'Tool', isError: true });
  expect(model.requests[1]?.body.messages.at(-1)?.content).toContain(says);
});

test('the model is not asked again before the last result is stored, and not at all if it cannot be', async () => {
  const settled: unknown[] = [];
  const second = Promise.withResolvers<void>();
  let reservations = 0;
  const budget: StepBudget = {
    reserve: async () => {
      if ((reservations += 1) === 2) second.resolve();
      return { isLimited: false, settle: (usage) => (settled.push(usage), usage) };
    },
  };
  const context = { ...stepContext(spec), budget };
  const calls = agentCalls(context);
  const storing = Promise.withResolvers<void>();
  const result = executeAgent(
    { credential: 'llm', model: 'demo', prompt: 'call lookup {}' },
    {
      ...context,
      calls: {
        ...calls,
        store: (entries, bytes) => (entries.has('m1.0') ? storing.promise : calls.store(entries, bytes)),
      },
    },
    { tools: toolsOf({ tools: [http('lookup')] }), fixed: fixedOf([http('lookup')]) },
  );
  await second.promise;
  expect(model.requests).toHaveLength(1);
  storing.reject(new StepError('Cancelled', 'the run is no longer executed here'));
  expect(await failureOf(result)).toMatchObject({ reason: 'Cancelled' });
  expect(model.requests).toHaveLength(1);
  expect(settled).toEqual([expect.anything(), { inputTokens: 0, outputTokens: 0 }]);
});

test('the model is told about a tool that hangs', async () => {
  const { result } = converse('call lookup {}', {}, { timesOut: ['step/1/m1.0'] });
  expect((await result).output.text_content).toContain('Timeout: the tool took too long');
});

test('of 50 calls at once 32 are executed', async () => {
  const prompt = `call ${Array.from({ length: 50 }, () => 'lookup {}').join(' & ')}`;
  const { result } = converse(prompt);
  expect((await result).output.text_content).toContain('at most 32 tools are called at once');
  expect(asked).toHaveLength(32);
});

test('the same call for ever ends with the limit of steps, and says what was done', async () => {
  const { result } = converse('always call lookup {}');
  expect(await failureOf(result)).toMatchObject({
    reason: 'StepLimit',
    retryable: false,
    message: expect.stringMatching(
      /^the model still calls tools \(lookup\) in answer 10.*\. It called lookup 9 times\./,
    ) as string,
  });
  expect(model.requests).toHaveLength(10);
  expect(asked).toHaveLength(9);
});

test('an agent whose last allowed step calls a tool fails: its output is no success', async () => {
  const { result, calls } = converse('call lookup {}', { maxSteps: 1 });
  expect(await failureOf(result)).toMatchObject({ reason: 'StepLimit' });
  expect(asked).toEqual([]);
  expect(calls.transcript().map(({ role }) => role)).toEqual(['User']);
});

test('three answers in a row with a wrong call fail the step', async () => {
  const { result } = converse('always call nope {}');
  expect(await failureOf(result)).toMatchObject({
    reason: 'InvalidToolCall',
    message: expect.stringContaining('there is no tool nope') as string,
  });
  expect(model.requests).toHaveLength(3);
});

test('a right call between wrong ones counts them from the start', async () => {
  const { result } = converse('call nope {}\ncall nope {}\ncall lookup {}\ncall nope {}\ncall nope {}');
  expect((await result).output.text_content).toContain('Done');
});

test('an empty message is no answer', async () => {
  const { result } = converse('call lookup {}\nsay nothing');
  expect(await failureOf(result)).toMatchObject({ reason: 'InvalidAnswer', retryable: true });
});

test.each<[ModelFault, string, string]>([
  ['half-stream', 'Unreachable', 'the answer ended before the model was done'],
  ['bad-json', 'InvalidAnswer', ''],
  ['garbage', 'InvalidAnswer', ''],
  ['nothing', 'InvalidAnswer', ''],
  ['rate-limit', 'RateLimited', ''],
  ['context-length', 'ContextTooLong', 'maximum context length'],
])('a model that does "%s" after a tool call fails the step as %s', async (fault, reason, says) => {
  const { calls, result } = converse('call lookup {}');
  await result;
  const stored = new Map(calls.stored);
  model.setFault(fault);
  const error = await failureOf(converse('call lookup {}', {}, { stored }).result);
  expect(error).toMatchObject({ reason });
  expect(error.message).toContain(says);
  expect(asked).toHaveLength(1);
});

test('a retry continues the transcript: only the failed request has the key of another attempt', async () => {
  const first = converse('call lookup {}\ncall lookup {}');
  await first.result;
  const stored = new Map([...first.calls.stored].filter(([key]) => key.startsWith('m1')));
  const second = converse('call lookup {}\ncall lookup {}', {}, { stored, attempt: 2 });
  await second.result;
  const keys = second.calls.performed.map(({ effectKey }) => effectKey);
  expect(keys).toEqual(['step/2/m2', 'step/2/m2.0', 'step/2/m3']);
});

test('a marked call that must not be repeated is in doubt for the next runner, after its siblings', async () => {
  const tools = [http('lookup'), http('once', { effect: 'AtMostOnce' })];
  const first = converse('call once {} & lookup {}', {}, { tools });
  await first.result;
  const stored = new Map([...first.calls.stored].filter(([key]) => key === 'm1'));
  asked.length = 0;
  const second = converse('call once {} & lookup {}', {}, { tools, stored });
  expect(await failureOf(second.result)).toMatchObject({ reason: 'EffectUnknown' });
  expect(asked).toEqual(['/lookup']);
  expect([...second.calls.stored.keys()]).toEqual(['m1', 'm1.1']);
});

test.each<[what: string, call: string, next: AgentTool]>([
  ['its tool is gone', 'once {}', http('other')],
  [
    'its parameters are wrong',
    'once {"query":{}}',
    http('once', { parameters: { url: api.url, query: {} } }),
  ],
])('a marked call is in doubt for the next runner also if %s since', async (_what, call, next) => {
  const first = converse(`call ${call}`, {}, { tools: [http('once', { effect: 'AtMostOnce' })] });
  await first.result;
  const stored = new Map([...first.calls.stored].filter(([key]) => key === 'm1'));
  const second = converse(`call ${call}`, {}, { tools: [{ ...next, effect: 'AtMostOnce' }], stored });
  expect(await failureOf(second.result)).toMatchObject({ reason: 'EffectUnknown' });
});

test('a transcript without room for further results fails before its tools', async () => {
  const call = `post {"body":{"a":"${'x'.repeat(30_000)}"}}`;
  const prompt = `always call ${Array.from({ length: 16 }, () => call).join(' & ')}`;
  const tools = [http('post', { parameters: { url: api.url, method: 'POST' } })];
  const { result } = converse(prompt, {}, { tools });
  expect(await failureOf(result)).toMatchObject({ reason: 'TranscriptTooLarge', retryable: false });
  expect(asked).toHaveLength(16 * (model.requests.length - 1));
});

const mail = (extra: Partial<AgentTool> = {}): AgentTool => ({
  skill: 'send_email',
  credential: 'smtp',
  parameters: { to: 'ada@example.com', subject: 's' },
  ...extra,
});

test('the model sees neither fixed parameters nor those that say where data goes', () => {
  const [tool] = toolsOf({ tools: [mail()] });
  const names = Object.keys(tool?.inputSchema['properties'] as object);
  expect(names).toContain('body');
  for (const name of ['to', 'subject', 'cc', 'bcc', 'replyTo']) expect(names).not.toContain(name);
});

test('descriptions of parameters replace those of the skill', () => {
  const [tool] = toolsOf({ tools: [http('a', { parameterDescriptions: { body: 'The order as JSON.' } })] });
  expect(tool?.inputSchema['properties']).toMatchObject({ body: { description: 'The order as JSON.' } });
});

test.each<[sentence: string, tool: AgentTool, given: object, isAllowed: boolean]>([
  [
    'a recipient that matches',
    mail({ modelMaySet: { cc: '*@example.com' } }),
    { cc: 'bob@example.com' },
    true,
  ],
  ['another domain', mail({ modelMaySet: { cc: '*@example.com' } }), { cc: 'bob@evil.example' }, false],
  [
    'a second recipient',
    mail({ modelMaySet: { cc: '*@example.com' } }),
    { cc: 'eve@evil.example,bob@example.com' },
    false,
  ],
  [
    'a name that is an address',
    mail({ modelMaySet: { cc: '*@example.com' } }),
    { cc: '"eve@evil.example" <bob@example.com' },
    false,
  ],
  ['a recipient without a pattern', mail(), { bcc: 'eve@evil.example' }, false],
  ...(
    [
      ['https://api.example.com/v1/orders', true],
      ['https://api.example.com/v1/../admin', false],
      ['https://api.example.com/v1/%2e%2e/admin', false],
      ['https://api.example.com.evil.example/v1/a', false],
      ['https://user@api.example.com/v1/a', false],
      ['https://api.example.com@evil.example/v1/a', false],
      ['http://api.example.com/v1/a', false],
      ['https://api.example.com:8443/v1/a', false],
      ['https:\\\\evil.example/v1/a', false],
    ] as const
  ).map(([url, isAllowed]): [string, AgentTool, object, boolean] => [
    `the URL ${url}`,
    { skill: 'http_request', modelMaySet: { url: 'https://api.example.com/v1/*' } },
    { url },
    isAllowed,
  ]),
])('destinations that the model sets: %s', (_sentence, written, given, isAllowed) => {
  const [tool] = toolsOf({ tools: [written] });
  if (!tool) throw new Error('there is no tool');
  const call = {
    id: '1',
    name: tool.name,
    arguments: JSON.stringify({ ...given, ...(written.skill === 'send_email' && { body: 'b' }) }),
  };
  expect('parameters' in parametersOf(tool, written.parameters ?? {}, call)).toBe(isAllowed);
});

test.each<[sentence: string, tools: AgentTool[], says: string | RegExp]>([
  ['an unknown skill', [{ skill: 'fly' }], /^tools\[0\]: there is no skill named fly; use one of /],
  ['a skill of expressions', [{ skill: 'set' }], /^tools\[0\]: set cannot be a tool, because /],
  [
    'a skill that remembers',
    [{ skill: 'remove_duplicates' }],
    /^tools\[0\]: remove_duplicates cannot be a tool/,
  ],
  [
    'two tools of one name',
    [http('lookup'), http('lookup')],
    'tools[1]: tools[0] has the same name lookup: set name',
  ],
  [
    'a missing credential',
    [{ skill: 'send_email', parameters: { to: 'a@example.com' } }],
    /^tools\[0\]: credential is missing: send_email needs the name of a Credential of kind /,
  ],
  [
    'a fixed parameter that does not fit',
    [http('a', { parameters: { url: 'https://a.example', method: 'STEAL' } })],
    /^tools\[0\]: parameters: method: /,
  ],
  [
    'an unknown fixed parameter',
    [http('a', { parameters: { url: 'https://a.example', color: 'red' } })],
    /^tools\[0\]: parameters: there is no parameter named color/,
  ],
  [
    'a destination that nobody sets',
    [{ skill: 'http_request' }],
    'tools[0]: parameters: url: is missing. It says where data goes: set it here, or let the model set it with a pattern in modelMaySet',
  ],
  [
    'a pattern for a parameter that is no destination',
    [http('a', { modelMaySet: { query: '*' } })],
    'tools[0]: modelMaySet: query: is not a destination parameter; the destination parameters of this skill are: url, method',
  ],
  [
    'a pattern for a fixed parameter',
    [http('a', { modelMaySet: { url: 'https://a.example/*' } })],
    'tools[0]: modelMaySet: url: has a fixed value in parameters: remove one of the two',
  ],
  [
    'a pattern for any host',
    [{ skill: 'http_request', modelMaySet: { url: 'https://*.example.com/*' } }],
    /^tools\[0\]: modelMaySet: url: must begin with a scheme and a host/,
  ],
  [
    'a description of a parameter that the model does not set',
    [http('a', { parameterDescriptions: { url: 'Where it is.' } })],
    /^tools\[0\]: parameterDescriptions: url: the model sets no such parameter; it sets: .*body/,
  ],
  ['a description of a parameter', [http('a', { parameterDescriptions: { body: 'The order.' } })], ''],
  ['a workflow', [{ workflow: 'refund.v2' }, { workflow: 'report' }], ''],
  [
    'two workflows of one name',
    [{ workflow: 'refund.v2' }, { name: 'refund_v2', workflow: 'report' }],
    'tools[1]: tools[0] has the same name refund_v2: set name',
  ],
  [
    'references in fixed parameters',
    [http('a', { parameters: { url: "https://a.example/{{ $('t').text_content }}" } })],
    '',
  ],
])('the check of tools: %s', (_sentence, tools, says) => {
  const [problem = ''] = toolProblems({ tools });
  expect(problem).toMatch(typeof says === 'string' ? new RegExp(`^${RegExp.escape(says)}$`) : says);
});

test('an agent that may call a tool with an effect that must not be repeated counts as such a step', () => {
  const step = (...tools: AgentTool[]) =>
    ({
      id: 'a',
      kind: 'agent',
      agent: { credential: 'llm', model: 'm', prompt: 'p', tools },
    }) as RevisionStep;
  expect(hasEffectOnce(step(http('lookup')))).toBe(false);
  expect(hasEffectOnce(step(http('lookup'), mail()))).toBe(true);
  expect(hasEffectOnce(step(mail({ effect: 'AtLeastOnce' })))).toBe(false);
  expect(effectOf(step(mail()))).toBe('AtLeastOnce');
});
