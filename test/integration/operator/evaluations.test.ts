/** Evaluations, from their object and cases to test runs, verdicts and results. */
import { afterEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { EvaluationSpec, EvaluationStatus } from '../../../api/evaluation.ts';
import { LABEL } from '../../../api/group.ts';
import { createRecorder } from '../../../runs/record/recorder.ts';
import { evaluations, workflowRuns } from '../../../operator/shared/resources.ts';
import { configMaps } from '../../../kube/resource.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { startModelServer } from '../../support/providers/model/modelServer.ts';
import { startTestRunner, type CredentialTable } from '../../support/runner/runnerProject.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

const SOON = { timeoutMs: 40_000, everyMs: 50 };
const READY = { type: 'Ready', status: 'True' };
const API = 'windlass.dev/v1alpha1';

let harness: OperatorHarness;
let namespace: string;
let uid: string;
let endRunners: (() => Promise<void>)[] = [];

setUpProject((project) => void ({ harness, namespace, uid } = project));
afterEach(async () => {
  await Promise.all(endRunners.map((end) => end()));
  endRunners = [];
});

/** A runner that executes and records, as the runners of a pool. */
function startRunner(credentials: CredentialTable = {}): void {
  const stop = new AbortController();
  const { conn, client: kube, log } = harness;
  const recording = createRecorder({ conn, kube, project: uid, namespace, log }).run(stop.signal);
  const runner = startTestRunner(conn, uid, { credentials });
  endRunners.push(async () => {
    await runner.stop(0);
    stop.abort();
    await recording;
  });
}

async function applyWorkflow(): Promise<string> {
  const order = "{{ $('trigger').data_content.order }}";
  const parameters = { url: 'https://api.shop.example/refunds', method: 'POST', body: { order } };
  const nodes = [
    { id: 'trigger', manual: { testData: {} } },
    { id: 'refund', skill: { name: 'http_request', parameters } },
  ];
  const metadata = { name: 'refunds' };
  await harness.apply(namespace, stringify({ apiVersion: API, kind: 'Workflow', metadata, spec: { nodes } }));
  const { status } = await harness.waitFor(namespace, 'refunds', READY);
  return status?.revision ?? '';
}

const putCases = (cases: unknown) =>
  harness.apply(
    namespace,
    stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cases' },
      data: { 'cases.yaml': typeof cases === 'string' ? cases : stringify(cases) },
    }),
  );

const evaluate = (spec: Partial<EvaluationSpec> = {}) =>
  harness.apply(
    namespace,
    stringify({
      apiVersion: API,
      kind: 'Evaluation',
      metadata: { name: 'one' },
      spec: { workflow: 'refunds', cases: { configMap: { name: 'cases', key: 'cases.yaml' } }, ...spec },
    }),
  );

const statusWhen = (what: string, is: (status: EvaluationStatus) => boolean): Promise<EvaluationStatus> =>
  pollUntil(
    what,
    async () => {
      const { status = {} } = await harness.client.get(evaluations, { namespace, name: 'one' });
      return is(status) && status;
    },
    SOON,
  );
const ended = () => statusWhen('the end', ({ phase }) => phase === 'Succeeded' || phase === 'Failed');
const runs = async () => (await harness.client.list(workflowRuns, { namespace })).items;

const refunded = (name: string) => ({
  name,
  data: { order: 7 },
  mocks: [{ node: 'refund', output: { text_content: 'Refunded.', data_content: { refunded: 12 } } }],
  expect: [
    { contains: 'Refunded' },
    { cel: 'nodes.refund.data_content.refunded == 12.0 && nodes.refund.parameters.body.order == 7.0' },
    { schema: { type: 'object', required: ['refunded'] }, of: 'refund' },
    { tokensAtMost: 10 },
  ],
});
const wrong = { ...refunded('wrong'), expect: [{ contains: 'Rejected', of: 'refund' }] };
const notMocked = { name: 'not-mocked', data: { order: 8 } };

test('cases are run as test runs, and the results of variants are side by side', async () => {
  const revision = await applyWorkflow();
  await putCases([refunded('good'), wrong, notMocked]);
  startRunner();
  await evaluate({
    variants: [
      { name: 'baseline', revision },
      { name: 'small', model: { model: 'mini' } },
    ],
  });
  const status = await ended();
  expect(status).toMatchObject({ phase: 'Failed', total: 6, passed: 2, failed: 4, started: 6 });
  expect(status.variants).toMatchObject([
    { name: 'baseline', revision, passed: 1, failed: 2, total: 3, passRate: 33, tokens: 0 },
    { name: 'small', revision, passed: 1, failed: 2 },
  ]);
  expect(status.failures?.map(({ case: name, variant }) => `${name} ${variant}`)).toEqual([
    'wrong baseline',
    'wrong small',
    'not-mocked baseline',
    'not-mocked small',
  ]);
  expect(status.failures?.[0]).toMatchObject({
    expectation: 'contains: Rejected (of refund)',
    got: 'Refunded.',
  });
  expect(status.failures?.[2]?.got).toContain('NotMocked');
  expect(status.conditions).toMatchObject([{ type: 'Complete', status: 'True', reason: 'SomeFailed' }]);
  const shown = await kubectl(harness.server, ['-n', namespace, 'get', 'wle']);
  expect(shown).toMatch(/one +refunds +Failed +2 +4 +6 +baseline: 1\/3 \(33%\), 0 tokens, .* \| small: 1\/3/);
});

test('an Evaluation that was applied before its workflow starts as soon as the workflow is valid', async () => {
  await putCases([refunded('good')]);
  await evaluate();
  await statusWhen('its problem', ({ conditions }) => conditions?.[0]?.reason === 'WorkflowMissing');
  await applyWorkflow();
  const took = stopwatch();
  await expect.poll(async () => (await runs()).length, { interval: 50 }).toBe(1);
  // Less than the interval after which an Evaluation with a problem is read again.
  expect(took()).toBeLessThan(8_000);
});

test('a pattern that takes exponential time ends the Evaluation, not the operator', async () => {
  await applyWorkflow();
  const output = { data_content: { text: `${'a'.repeat(40)}!` } };
  const text = { type: 'string', pattern: '^(a+)+$' };
  const expectation = { schema: { type: 'object', properties: { text } } };
  await putCases([{ ...refunded('slow'), mocks: [{ node: 'refund', output }], expect: [expectation] }]);
  startRunner();
  await evaluate();
  const { conditions } = await ended();
  expect(conditions).toMatchObject([{ status: 'True', reason: 'CasesInvalid' }]);
  expect(conditions?.[0]?.message).toMatch(/^judging run one-\w+-0 takes more than 1 s: create another/);
});

test('an agent is evaluated with two models: its tool is mocked, and its tokens count', async () => {
  const model = await startModelServer({ apiKey: 'test-secret' });
  const openai = { baseURL: model.baseURL, apiKeyRef: { name: 'llm', key: 'key' } };
  const tools = [{ name: 'ask', skill: 'http_request', parameters: { url: 'https://api.shop.example' } }];
  const agent = {
    credential: 'llm',
    model: 'demo',
    prompt: "{{ $('trigger').data_content.question }}",
    tools,
  };
  const own = (kind: string, name: string, spec: object) =>
    stringify({ apiVersion: API, kind, metadata: { name }, spec });
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'agent', agent },
  ];
  await harness.apply(namespace, own('Workflow', 'support', { nodes }));
  await harness.waitFor(namespace, 'support', { type: 'Valid', status: 'True' });
  const called = "nodes.agent.data_content.tool_calls.exists(call, call.name == 'ask' && !call.error)";
  await putCases([
    {
      name: 'asks',
      data: { question: 'call ask {}' },
      mocks: [{ node: 'agent', tool: 'ask', output: { data_content: { paid: 12 } } }],
      expect: [{ cel: called }, { tokensAtMost: 1_000 }],
    },
  ]);
  startRunner({ llm: { spec: { openai } } });
  const variants = [{ name: 'current' }, { name: 'small', model: { model: 'demo-small' } }];
  await evaluate({ workflow: 'support', variants });
  const status = await ended();
  await model.close();
  expect(status).toMatchObject({ phase: 'Succeeded', total: 2, passed: 2 });
  expect(status.variants?.map(({ tokens }) => tokens > 0)).toEqual([true, true]);
  const asked = model.requests.map(({ body }) => (body as { model: string }).model);
  expect(new Set(asked)).toEqual(new Set(['demo', 'demo-small']));
});

test('its runs belong to it and are test runs with mocks, also where a case has none', async () => {
  await applyWorkflow();
  await putCases([notMocked]);
  await evaluate();
  const [run] = await pollUntil('its run', async () => (await runs()).length === 1 && runs(), SOON);
  const { metadata } = await harness.client.get(evaluations, { namespace, name: 'one' });
  expect(run?.metadata.ownerReferences).toMatchObject([{ kind: 'Evaluation', uid: metadata.uid }]);
  expect(run?.metadata.labels).toMatchObject({ [LABEL.evaluation]: 'one' });
  expect(run?.spec).toMatchObject({ test: true, mocks: [], input: { data_content: { order: 8 } } });
});

test('at most maxParallel runs are unfinished, and an operator that restarts creates none twice', async () => {
  await applyWorkflow();
  await putCases(['a', 'b', 'c', 'd'].map(refunded));
  await evaluate({ maxParallel: 2 });
  await statusWhen('two runs', ({ started }) => started === 2);
  const before = (await runs()).map(({ metadata }) => metadata.uid);
  expect(before).toHaveLength(2);
  await harness.stopOperator();
  harness.startOperator();
  startRunner();
  expect(await ended()).toMatchObject({ phase: 'Succeeded', total: 4, passed: 4, failed: 0 });
  const after = (await runs()).map(({ metadata }) => metadata.uid);
  expect(after).toHaveLength(4);
  expect(after).toEqual(expect.arrayContaining(before));
});

test('cases that change while it runs end it, and say what to do', async () => {
  await applyWorkflow();
  await putCases(['a', 'b'].map(refunded));
  await evaluate({ maxParallel: 1 });
  await statusWhen('a run', ({ started }) => started === 1);
  await putCases([refunded('a')]);
  startRunner();
  const { conditions } = await ended();
  expect(conditions).toMatchObject([
    {
      status: 'True',
      reason: 'CasesChanged',
      message: expect.stringContaining('create another Evaluation') as string,
    },
  ]);
});

const real = { name: 'real', data: { order: 9 }, mocks: [{ node: 'refund', real: true }] };
const pending = (reason: string) =>
  statusWhen(reason, ({ conditions, casesHash }) => conditions?.[0]?.reason === reason && !!casesHash);

test.each([
  ['changes', [notMocked]],
  ['is created', undefined],
])('a ConfigMap that %s while the Evaluation waits adds no real effect', async (_what, before) => {
  if (before) await putCases(before);
  await evaluate();
  await pending('WorkflowMissing');
  await putCases([real]);
  await applyWorkflow();
  const { conditions } = await ended();
  expect(conditions).toMatchObject([
    { status: 'True', reason: 'CasesChanged', message: expect.stringContaining('real: true') as string },
  ]);
  expect(await runs()).toEqual([]);
});

test('while the Evaluation waits its cases can be corrected, and those with a real effect stay as they were', async () => {
  await putCases([real]);
  await evaluate();
  await pending('WorkflowMissing');
  await applyWorkflow();
  await statusWhen('its run', ({ started }) => started === 1);
  expect((await runs())[0]?.spec.mocks).toEqual(real.mocks);
  await harness.client.delete(evaluations, { namespace, name: 'one' });
  await putCases('a: [');
  await evaluate();
  await pending('CasesInvalid');
  await putCases([notMocked]);
  await statusWhen('a run of the corrected cases', ({ started }) => started === 1);
});

test('a run that was deleted counts as failed, and is not created again', async () => {
  await applyWorkflow();
  await putCases([refunded('a')]);
  await evaluate();
  await statusWhen('a run', ({ started }) => started === 1);
  await harness.stopOperator();
  const [run] = await runs();
  await harness.client.delete(workflowRuns, { namespace, name: run?.metadata.name ?? '' });
  harness.startOperator();
  expect((await ended()).failures).toMatchObject([{ got: 'its run was deleted before it was judged' }]);
  expect(await runs()).toEqual([]);
});

const RUNS = {
  apiGroups: ['windlass.dev'],
  apiVersions: ['*'],
  operations: ['CREATE'],
  resources: ['workflowruns'],
};
const REFUSED = { expression: 'false', reason: 'Forbidden', message: 'no runs today' };

type Bad = [what: string, cases: unknown, spec: Partial<EvaluationSpec>, reason: string, says: RegExp];
const BAD: Bad[] = [
  ['an unknown workflow', [], { workflow: 'nobody' }, 'WorkflowMissing', /no valid workflow nobody/],
  ['no ConfigMap', undefined, {}, 'CasesMissing', /key cases.yaml of ConfigMap cases does not exist/],
  ['broken YAML', 'a: [', {}, 'CasesInvalid', /is neither YAML nor JSON/],
  ['no list', 'a: 1', {}, 'CasesInvalid', /the list of cases: must be a list/],
  [
    '201 cases',
    Array.from({ length: 201 }, (_, i) => refunded(`c${i}`)),
    {},
    'CasesInvalid',
    /has 201 cases/,
  ],
  ['two cases of a name', [refunded('a'), refunded('a')], {}, 'CasesInvalid', /two cases are named a/],
  ['an unknown field', [{ ...notMocked, expects: [] }], {}, 'CasesInvalid', /expects/],
  [
    'CEL that does not compile',
    [{ ...notMocked, expect: [{ cel: 'nodes.' }] }],
    {},
    'CasesInvalid',
    /case not-mocked: expect\[0\]: cel: /,
  ],
  [
    'an unknown node in CEL',
    [{ ...notMocked, expect: [{ cel: 'nodes.x.data_content == 1' }] }],
    {},
    'CasesInvalid',
    /no node x/,
  ],
  [
    'an unknown node of an output',
    [{ ...notMocked, expect: [{ contains: 'a', of: 'x' }] }],
    {},
    'CasesInvalid',
    /no node x/,
  ],
  [
    'a schema that admits everything',
    [{ ...notMocked, expect: [{ schema: { required: ['a'] } }] }],
    {},
    'CasesInvalid',
    /schema: without one of type/,
  ],
  [
    'a mock of an unknown node',
    [{ ...notMocked, mocks: [{ node: 'x', real: true }] }],
    {},
    'CasesInvalid',
    /mocks\[0\]: the workflow has no step x/,
  ],
  [
    'an unknown revision',
    [notMocked],
    { variants: [{ name: 'a', revision: 'refunds-0' }] },
    'RevisionMissing',
    /no revision refunds-0/,
  ],
  [
    'a model for no agent',
    [notMocked],
    { variants: [{ name: 'a', model: { node: 'refund', model: 'm' } }] },
    'InvalidVariant',
    /no agent refund/,
  ],
  [
    'too many runs',
    Array.from({ length: 101 }, (_, i) => refunded(`c${i}`)),
    { repeat: 10 },
    'TooManyRuns',
    /are 1010 runs/,
  ],
];

test('bad input is said with its place and a remedy, starts no run, and can be corrected', async () => {
  await applyWorkflow();
  for (const [what, cases, spec, reason, says] of BAD) {
    if (cases === undefined)
      await harness.client.delete(configMaps, { namespace, name: 'cases' }).catch(() => undefined);
    else await putCases(cases);
    await evaluate(spec);
    const { phase, conditions } = await statusWhen(
      what,
      (status) => status.conditions?.[0]?.reason === reason,
    );
    expect({ what, phase, message: conditions?.[0]?.message }).toEqual({
      what,
      phase: 'Pending',
      message: expect.stringMatching(says) as string,
    });
    await harness.client.delete(evaluations, { namespace, name: 'one' });
  }
  expect(await runs()).toEqual([]);
}, 120_000);

test('a refused run is said in the words of the API server, and is created once it is admitted', async () => {
  const metadata = { name: 'no-evaluated-runs' };
  const policy = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [RUNS] },
    validations: [REFUSED],
  };
  const own = (kind: string, spec: object) =>
    stringify({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata, spec });
  await applyWorkflow();
  await putCases([notMocked]);
  await harness.apply(namespace, own('ValidatingAdmissionPolicy', policy));
  const binding = { policyName: metadata.name, validationActions: ['Deny'] };
  await harness.apply(namespace, own('ValidatingAdmissionPolicyBinding', binding));
  const draft = { metadata: { name: 'x', namespace }, spec: { workflow: 'refunds' } };
  const isRefused = () =>
    harness.client.create(workflowRuns, draft, { dryRun: true }).then(
      () => false,
      () => true,
    );
  await pollUntil('the policy in effect', isRefused, SOON);
  await evaluate();
  const { conditions } = await statusWhen(
    'the refusal',
    (status) => status.conditions?.[0]?.reason === 'Unauthorized',
  );
  expect(conditions?.[0]?.message).toContain('no runs today');
  const names = ['ValidatingAdmissionPolicyBinding', 'ValidatingAdmissionPolicy'];
  for (const kind of names) await kubectl(harness.server, ['delete', kind, metadata.name]);
  await statusWhen('its run', ({ started }) => started === 1);
});

test('its spec cannot be changed', async () => {
  await applyWorkflow();
  await putCases([notMocked]);
  await evaluate();
  await expect(evaluate({ repeat: 2 })).rejects.toThrow(/cannot be changed: create another Evaluation/);
});
