/** What happens to a run whose runner ends in the middle of a model's answer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callerToken, liveEvents } from '../support/installation/installedGateway.ts';
import { waitForReady } from '../support/installation/install.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  apply,
  cluster,
  createProject,
  exampleObjects,
  gateway,
  kube,
  mailsTo,
  postWebhook,
  recordedRuns,
  removeProject,
  resumeModel,
  runInPhase,
  timesAsked,
} from './environment.ts';

let project: string;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => removeProject(project));

/**
 * The example with a model that stops in the middle of its answer, so that there is a middle to break it in.
 */
async function applyPausedOrder(): Promise<void> {
  const objects = await exampleObjects('order-confirmation', 'accounts.yaml', 'workflow.yaml');
  const text = JSON.stringify(objects).replace('"model":"gpt-4o-mini"', '"model":"demo-paused"');
  await apply(project, ...(JSON.parse(text) as object[]));
  await waitForReady(cluster, 'order-confirmation', project);
}

/** Sends an order and waits until the agent speaks; gives the name of its run. */
async function orderUntilAgentSpeaks(email: string): Promise<string> {
  const before = new Set((await recordedRuns(project)).map((run) => run.metadata.name));
  const order = {
    number: 'A-1',
    customer: { name: 'Ada', email },
    items: [{ name: 'lamp', quantity: 2, price: 3 }],
  };
  // The answer may come too late for the caller, which is not what is tested here.
  postWebhook(project, 'order-confirmation', 'orders', order).catch(() => undefined);
  const name = await pollUntil(
    'a record of the order',
    async () =>
      (await recordedRuns(project)).map((run) => run.metadata.name).find((each) => !before.has(each)),
    { timeoutMs: 100_000 },
  );
  const token = await callerToken(cluster);
  const events = `${gateway.internalURL}/workflows/${project}.order-confirmation/runs/${name}/events`;
  for await (const event of liveEvents(events, token)) if (event.type === 'text') return name;
  throw new Error('the run ended before its agent spoke');
}

async function allowCaller(): Promise<void> {
  const account = 'windlass-demo:caller';
  await kube([
    'create',
    'rolebinding',
    'caller',
    '-n',
    project,
    '--clusterrole=windlass-execute',
    `--serviceaccount=${account}`,
  ]);
}

test.each([
  ['asked to end', []],
  ['killed', ['--force', '--grace-period=0']],
])(
  'a runner that is %s in the middle of an answer costs neither the run nor a second mail',
  async (how, flags) => {
    if (how === 'asked to end') await allowCaller();
    await applyPausedOrder();
    const email = `${how.replaceAll(' ', '-')}@${project}.example.com`;
    const name = await orderUntilAgentSpeaks(email);
    await kube([
      'delete',
      'pod',
      '-n',
      project,
      '-l',
      'app.kubernetes.io/name=windlass-runner',
      '--wait=false',
      ...flags,
    ]);
    // A runner that is still alive would get as far as the mail.
    if (how === 'killed')
      await pollUntil('the question of another runner', async () => (await timesAsked(email)) > 1, {
        timeoutMs: 100_000,
      });
    await resumeModel(email);
    const { status } = await runInPhase(project, name, 'Succeeded', 200_000);
    expect(status?.nodes?.map(({ phase }) => phase)).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
    expect(await mailsTo(email)).toHaveLength(1);
  },
);
