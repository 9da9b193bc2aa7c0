/**
 * What `kubectl apply` refuses and says, what becomes a condition, and that manifests converge in any order.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXAMPLES } from '../demo/examples.ts';
import { exampleFolder, waitForReady } from '../support/installation/install.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  apply,
  cluster,
  condition,
  createProject,
  exampleObjects,
  kube,
  postWebhook,
  recordedRuns,
  removeProject,
  runInPhase,
  workflowOf,
} from './environment.ts';

let project: string;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => removeProject(project));

const trigger = { id: 'trigger', webhook: { path: 'in' } };
const reply = { id: 'reply', response: { body: 'ok' } };
const workflow = (nodes: object[], rest: object = {}) => workflowOf('refused', nodes, rest);
const edges = (...pairs: [string, string][]) => ({ edges: pairs.map(([from, to]) => ({ from, to })) });

test.each([
  ['no trigger', workflow([reply]), /a workflow needs a trigger: add a node/],
  [
    'two triggers',
    workflow([trigger, { id: 'other', manual: {} }]),
    /exactly one trigger, and this one has more/,
  ],
  [
    'an edge to nowhere',
    workflow([trigger, reply], edges(['trigger', 'gone'])),
    /edge trigger to gone names a node that does not exist, gone/,
  ],
  [
    'an edge into the trigger',
    workflow([trigger, reply], edges(['reply', 'trigger'])),
    /edge reply to trigger leads into the trigger/,
  ],
  [
    'a backward edge',
    workflow([trigger, reply, { ...reply, id: 'last' }], edges(['trigger', 'last'], ['last', 'reply'])),
    /edge last to reply points backward/,
  ],
  [
    'a node of two kinds',
    workflow([trigger, { ...reply, agent: { credential: 'a', model: 'm', prompt: 'p' } }]),
    /exactly one/,
  ],
  ['a node of no kind', workflow([trigger, { id: 'reply' }]), /exactly one/],
  ['a duplicate id', workflow([trigger, reply, reply]), /node IDs must be unique/],
  [
    'a bad cron',
    workflow([{ id: 'trigger', schedule: { cron: '61 * * * *' } }]),
    /cron must have five fields/,
  ],
  ['an unknown field', workflow([{ ...trigger, colour: 'red' }]), /unknown field "spec.nodes\[0\].colour"/],
])('%s is refused, and the message says what is wrong', async (_what, object, message) => {
  await expect(apply(project, object)).rejects.toThrow(message);
});

test.each(Object.keys(EXAMPLES))('the cluster takes examples/%s as it lies there', async (name) => {
  const dryRun = ['apply', '--dry-run=server', '--validate=strict', '-n', project, '-f', exampleFolder(name)];
  expect(await kube(dryRun)).toContain(`workflow.windlass.dev/${name} created`);
});

test('what is missing is a condition that says what to do, and heals when it appears', async () => {
  const [secret, model, mail, order] = await exampleObjects(
    'order-confirmation',
    'accounts.yaml',
    'workflow.yaml',
  );
  if (!secret || !model || !mail || !order) throw new Error('the example has changed');
  const object = 'workflows.windlass.dev/order-confirmation';
  await apply(project, order);
  const missing = await condition(project, object, 'Ready', { status: 'False', reason: 'CredentialMissing' });
  expect(missing.message).toMatch(/order-(mail|model)/);
  await apply(project, mail, model);
  const secretMissing = await condition(project, 'credentials.windlass.dev/order-mail', 'Ready', {
    status: 'False',
  });
  expect(secretMissing).toMatchObject({
    reason: 'SecretMissing',
    message: expect.stringContaining('order-accounts'),
  });
  await kube([
    'create',
    'secret',
    'generic',
    'order-accounts',
    '-n',
    project,
    '--from-literal=model-api-key=demo-key',
  ]);
  const keyMissing = await condition(project, 'credentials.windlass.dev/order-mail', 'Ready', {
    status: 'False',
    reason: 'KeyMissing',
  });
  expect(keyMissing.message).toContain('mail-password');
  await kube(['delete', 'secret', 'order-accounts', '-n', project]);
  await apply(project, secret);
  await waitForReady(cluster, 'order-confirmation', project);
});

test('an expression that names no predecessor is a condition that names both, until the spec is mended', async () => {
  const body = (text: string) => [trigger, { id: 'reply', response: { body: text } }];
  await apply(project, workflowOf('references', body("{{ $('nobody').text_content }}")));
  const invalid = await condition(project, 'workflows.windlass.dev/references', 'Valid', {
    status: 'False',
    reason: 'UnknownReference',
  });
  expect(invalid.message).toMatch(/reply.*nobody|nobody.*reply/s);
  await apply(project, workflowOf('references', body("{{ $('trigger').data_content }}")));
  await waitForReady(cluster, 'references', project);
});

test('a trigger that can never fire says so and never pretends', async () => {
  await apply(project, workflowOf('never', [{ id: 'trigger', schedule: { cron: '0 0 30 2 *' } }]));
  await condition(project, 'workflows.windlass.dev/never', 'Valid', {
    status: 'False',
    reason: 'InvalidSchedule',
  });
  const ready = await condition(project, 'workflows.windlass.dev/never', 'Ready', { status: 'False' });
  expect(ready.reason).toBe('InvalidSchedule');
});

test.each([
  ['client-side', []],
  ['server-side', ['--server-side']],
])('kubectl diff is empty after a %s apply, and after runs', async (_side, flags) => {
  const folder = exampleFolder('order-confirmation');
  const diff = () => kube(['diff', ...flags, '-n', project, '-f', folder]);
  await kube(['apply', ...flags, '-n', project, '-f', folder]);
  await waitForReady(cluster, 'order-confirmation', project);
  expect(await diff()).toBe('');
  const order = {
    number: 'A-1',
    customer: { name: 'Ada', email: 'diff@example.com' },
    items: [{ name: 'lamp' }],
  };
  expect((await postWebhook(project, 'order-confirmation', 'orders', order)).status).toBe(201);
  expect(await diff()).toBe('');
});

test('an ended run keeps its phase and its status, whoever writes', async () => {
  await apply(project, workflowOf('once', [trigger, reply]));
  await waitForReady(cluster, 'once', project);
  await postWebhook(project, 'once', 'in', {});
  const run = await pollUntil(
    'the record of the run',
    async () => (await recordedRuns(project)).find(({ spec }) => spec.workflow === 'once'),
    { timeoutMs: 100_000 },
  );
  const { name } = run.metadata;
  await runInPhase(project, name, 'Succeeded');
  const patch = (status: object | null) =>
    kube([
      'patch',
      '-n',
      project,
      'wlr',
      name,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    ]);
  await expect(patch(null)).rejects.toThrow(/the status of a run cannot be removed/);
  await expect(patch({ phase: 'Failed' })).rejects.toThrow(/its phase cannot change/);
});
