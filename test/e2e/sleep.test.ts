/**
 * Runners that sleep on a real cluster: without work a project has no runner, and a webhook, a scheduled
 * time, a polled event and a callback each wake it.
 */
import { afterAll, test, type TestContext } from 'vitest';
import { waitForReady } from '../support/installation/install.ts';
import { deliverMail } from '../support/installation/demoMailbox.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  apply,
  cluster,
  createProject,
  exampleObjects,
  gateway,
  kube,
  mailsTo,
  namesAt,
  postWebhook,
  readAt,
  recordedRuns,
  removeProject,
  send,
  workflowOf,
  type RecordedRun,
} from './environment.ts';

const SOON = { timeoutMs: 100_000, everyMs: 200 };
/** Half a minute without work, and until the runner's pod has ended. */
const ASLEEP = { timeoutMs: 120_000, everyMs: 500 };
const TEST_MS = 300_000;

const projects: string[] = [];
afterAll(() => Promise.all(projects.map(removeProject)));

/**
 * A project whose runners sleep after half a minute, with these objects, once the workflow is ready.
 * `objectsOf`: of the project of this name.
 */
async function openProject(workflow: string, objectsOf: (project: string) => object[]): Promise<string> {
  const project = await createProject();
  projects.push(project);
  const settings = object('ProjectSettings', 'default', { runners: { sleepAfter: '30s' } });
  await apply(project, settings, ...objectsOf(project));
  await waitForReady(cluster, workflow, project);
  return project;
}

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});

type Pool = { spec: { replicas: number } };
type PollJob = { spec: { suspend: boolean } };

const RUNNERS = encodeURIComponent('app.kubernetes.io/name=windlass-runner');

async function untilAsleep(project: string): Promise<void> {
  const pool = () => readAt<Pool>(`/apis/apps/v1/namespaces/${project}/deployments/windlass-runner`);
  const pods = () => namesAt(`/api/v1/namespaces/${project}/pods?labelSelector=${RUNNERS}`);
  const hasNone = async () => (await pool()).spec.replicas === 0 && (await pods()).length === 0;
  await pollUntil(`no runner in ${project}`, hasNone, ASLEEP);
}

/** The run that succeeded last, once there are so many. */
const lastOf = (project: string, count: number): Promise<RecordedRun> =>
  pollUntil(
    `${count} runs in ${project}`,
    async () => {
      const runs = (await recordedRuns(project)).filter(({ status }) => status?.phase === 'Succeeded');
      const last = runs.toSorted((a, b) => startOf(a) - startOf(b)).at(-1);
      return runs.length >= count && last;
    },
    SOON,
  );
const startOf = ({ status }: RecordedRun): number => Date.parse(status?.startTime ?? '');

/** Reports from when on the node is started: the time of a wake is that from the event until then. */
async function reportWake(
  annotate: TestContext['annotate'],
  eventAt: number,
  run: RecordedRun,
  node: string,
): Promise<void> {
  const startedAt = Date.parse(run.status?.nodes?.find(({ id }) => id === node)?.startTime ?? '');
  await annotate(`from the event to the first node: ${((startedAt - eventAt) / 1_000).toFixed(1)} s`);
}

/** A mailbox of the project, at the server of the demo, which is polled so rarely that runners may sleep. */
function mailObjects(username: string): object[] {
  const passwordRef = { name: 'accounts', key: 'password' };
  const imap = { host: 'imap.windlass-demo.svc', port: 1143, tls: 'None', username, passwordRef };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: passwordRef.name } };
  const trigger = { id: 'trigger', mail: { credential: 'mailbox', pollIntervalSeconds: 300 } };
  return [
    { ...secret, stringData: { password: 'demo-password' } },
    object('Credential', 'mailbox', { imap }),
    workflowOf('inbox', [trigger, done]),
  ];
}

const done = { id: 'done', skill: { name: 'set', parameters: { values: { is: "'done'" } } } };

test.concurrent(
  'a webhook wakes the runners, and its caller gets the reply',
  async ({ expect, annotate }) => {
    const reply = { id: 'reply', response: { status: 201, body: { is: "{{ $('done').data_content.is }}" } } };
    const trigger = { id: 'trigger', webhook: { path: 'orders', replyTimeout: '2m' } };
    const project = await openProject('orders', () => [workflowOf('orders', [trigger, done, reply])]);
    await untilAsleep(project);
    const at = Date.now();
    const answer = await postWebhook(project, 'orders', 'orders', {});
    expect(answer).toMatchObject({ status: 201, text: '{"is":"done"}' });
    await reportWake(annotate, at, await lastOf(project, 1), 'done');
  },
  TEST_MS,
);

test.concurrent(
  'a scheduled time wakes the runners',
  async ({ expect, annotate }) => {
    const trigger = { id: 'trigger', schedule: { cron: '* * * * *' } };
    const project = await openProject('report', () => [workflowOf('report', [trigger, done])]);
    await untilAsleep(project);
    const before = (await recordedRuns(project)).length;
    const run = await lastOf(project, before + 1);
    const scheduled = Date.parse(run.status?.nodes?.[0]?.output?.text_content ?? '');
    expect(scheduled).toBeGreaterThan(0);
    await reportWake(annotate, scheduled, run, 'done');
  },
  TEST_MS,
);

test.concurrent(
  'runners poll while they are awake, and pods while they sleep: a mail that a pod finds wakes them',
  async ({ expect, annotate }) => {
    const project = await openProject('inbox', mailObjects);
    const cronJob = `/apis/batch/v1/namespaces/${project}/cronjobs/windlass-poll`;
    const isSuspended = async () => (await readAt<PollJob>(cronJob)).spec.suspend;
    await pollUntil('the poll of a runner', isSuspended, SOON);
    await untilAsleep(project);
    await pollUntil('poll pods', async () => !(await isSuspended()), SOON);
    const text = ['From: Ada <ada@example.com>', 'Subject: Order', '', 'Where is my lamp?', ''];
    await deliverMail(cluster, project, text.join('\n'));
    const at = Date.now();
    // The next pod comes within five minutes.
    await kube(['create', 'job', 'by-hand', '-n', project, '--from=cronjob/windlass-poll']);
    const run = await lastOf(project, 1);
    expect(run.status?.nodes?.[0]?.output?.data_content).toMatchObject({ subject: 'Order' });
    await reportWake(annotate, at, run, 'done');
  },
  TEST_MS,
);

test.concurrent(
  'a callback wakes the runners, and the run continues',
  async ({ expect, annotate }) => {
    const objects = await exampleObjects('long-job', 'accounts.yaml', 'workflow.yaml');
    const project = await openProject('long-job', () => objects);
    const number = `S-${project}`;
    await postWebhook(project, 'long-job', 'jobs', { number, what: 'a lamp' });
    const sent = async () =>
      (await mailsTo('workshop@example.com')).find(({ subject }) => subject === `Job ${number}`);
    const { text } = await pollUntil('the mail to the workshop', sent, SOON);
    const [, path = ''] = /(\/callback\/\S+)/.exec(text) ?? [];
    await untilAsleep(project);
    const at = Date.now();
    const answer = await send('POST', `${gateway.publicURL}${path}`, { result: 'one lamp' });
    expect(answer.status).toBe(200);
    const run = await lastOf(project, 1);
    expect(run.status?.nodes?.at(-1)?.output?.data_content).toEqual({ number, result: 'one lamp' });
    await reportWake(annotate, at, run, 'summary');
  },
  TEST_MS,
);
