/** What happens to events and runs when the programs under them are killed, restarted or away. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doFaults } from '../faults/faultRun.ts';
import { underLoad, type FaultRun } from '../faults/load.ts';
import { doOutages } from '../faults/outage.ts';
import { KILLS, planFaults } from '../faults/plan.ts';
import { offendersOf } from '../faults/report.ts';
import { runRolling } from '../faults/rolling.ts';
import { startHarness, type Harness } from '../faults/harness.ts';
import { takeOver, TAKEOVERS } from '../faults/takeover.ts';
import { targetsOf } from '../faults/workflows.ts';
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
  runInPhase,
} from './environment.ts';

let project: string;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => removeProject(project));

/**
 * The example with a model that takes ten seconds for its answer, so that there is a middle to break it in.
 */
async function applySlowOrder(): Promise<void> {
  const objects = await exampleObjects('order-confirmation', 'accounts.yaml', 'workflow.yaml');
  const text = JSON.stringify(objects).replace('"model":"gpt-4o-mini"', '"model":"demo-slow"');
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
    { timeoutMs: 20_000 },
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
    await applySlowOrder();
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
    const { status } = await runInPhase(project, name, 'Succeeded', 100_000);
    expect(status?.nodes?.map(({ phase }) => phase)).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
    expect(await mailsTo(email)).toHaveLength(1);
  },
);

const tell = (line: string) => console.log(`faults: ${line}`);

/**
 * Everything that is known of what broke a promise, or why the run does not count; nothing where all is well.
 */
const faultsOf = ({ violations, evidence, invalid }: FaultRun): string =>
  violations.length === 0 ? (invalid ?? '') : JSON.stringify(offendersOf(violations, evidence), undefined, 2);

describe('under fire', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness(cluster);
  });
  afterAll(() => harness.remove());

  test('of 1,000 events at 50/s nothing is lost, done twice or changed, whatever is killed or away', async () => {
    const targets = targetsOf(gateway.publicURL, harness.project);
    const plan = planFaults({ seed: 1, kinds: KILLS, perKind: 1 });
    const run = await underLoad({ harness, targets, rate: 50, tell }, async (load) => {
      const invalid = await doFaults(load, { plan, events: 1_000, minutes: 5 });
      return invalid ?? doOutages(load, 15);
    });
    expect(faultsOf(run)).toBe('');
    expect(run.evidence.faults.map(({ kind }) => kind)).toEqual(expect.arrayContaining([...KILLS]));
    expect(run.evidence.events.length).toBeGreaterThanOrEqual(1_000);
  }, 600_000);
});

describe('in daily life', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness(cluster);
  });
  afterAll(() => harness.remove());

  test.each(TAKEOVERS)(
    'after a %s of its leader, the operator is led by another within %i s',
    async (how, most) => {
      const { leaseSeconds, reconcileSeconds } = await takeOver(harness, how);
      expect(leaseSeconds).toBeLessThanOrEqual(most);
      expect(reconcileSeconds).toBeLessThanOrEqual(most);
    },
  );

  test('while gateway, operator and runners are restarted, each of 1,500 requests at 100/s gets its 2xx', async () => {
    const run = await runRolling({ harness, requests: 1_500, rate: 100, tell });
    expect(faultsOf(run)).toBe('');
  }, 300_000);
});
