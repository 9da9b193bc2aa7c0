/**
 * Schedules on a real cluster: their runs, Jobs and statuses. faults.test.ts watches them while programs are
 * killed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applySchedules } from '../support/installation/schedules.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  cluster,
  createProject,
  kube,
  recordedRuns,
  removeProject,
  type RecordedRun,
} from './environment.ts';

const SOON = { timeoutMs: 100_000, everyMs: 500 };

let project: string;
/** A time whose run was there. */
let ran: number;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => removeProject(project));

type Scheduled = { status: { schedule?: { last?: string; next?: string } } };
const scheduleOf = async (name: string) =>
  (await getJson<Scheduled>(cluster, 'workflows.windlass.dev', name, '-n', project)).status.schedule;
const runsOf = async (name: string): Promise<RecordedRun[]> =>
  (await recordedRuns(project)).filter(({ spec }) => spec.workflow === name);

/** Makes the Job from the workflow's CronJob, as people do, and gives what its pod said last. */
async function makeJob(cronJob: string, job: string): Promise<string> {
  await kube(['create', 'job', job, '-n', project, `--from=cronjob/${cronJob}`]);
  await kube(['wait', `job/${job}`, '-n', project, '--for=condition=Complete', '--timeout=150s'], {
    timeoutMs: 170_000,
  });
  return (await kube(['logs', '-n', project, `job/${job}`])).trim().split('\n').at(-1) ?? '';
}

test('a schedule starts one run at the next minute, with its time as output', async () => {
  const [name = ''] = await applySchedules({ cluster, project }, 2);
  const next = (await scheduleOf(name))?.next ?? '';
  expect(next).toMatch(/:00Z$/);
  ran = Date.parse(next);
  const ofNext = async () =>
    (await runsOf(name)).filter(({ status }) => status?.nodes?.[0]?.output?.text_content === next);
  const isEnded = async () => (await ofNext()).some(({ status }) => status?.phase === 'Succeeded');
  await pollUntil('the run of the next minute', isEnded, { timeoutMs: 100_000, everyMs: 500 });
  const [first, ...others] = await ofNext();
  expect(others).toEqual([]);
  expect(first?.status?.nodes?.[0]?.output).toMatchObject({
    text_content: next,
    data_content: {
      scheduled_time: next,
      fired_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      time_zone: 'Europe/Berlin',
    },
  });
  expect(first?.status?.nodes?.[1]?.output?.data_content).toEqual({ at: next });
}, 150_000);

test('the status says when it fired last; a Job that is done again finds its run, and one made by hand starts another', async () => {
  const name = 'minutely-0';
  expect(Date.parse((await scheduleOf(name))?.last ?? '')).toBeGreaterThanOrEqual(ran);
  const [, cronJob = ''] = (
    await kube(['get', 'cronjobs', '-n', project, '-l', `windlass.dev/workflow=${name}`, '-o', 'name'])
  )
    .trim()
    .split('/');
  const again = `${cronJob}-${ran / 60_000}`;
  await kube(['delete', 'job', again, '-n', project, '--ignore-not-found']);
  expect(await makeJob(cronJob, again)).toContain('"msg":"run already started"');
  expect(await makeJob(cronJob, 'by-hand')).toContain('"msg":"run started"');
  await kube(['delete', 'job', 'by-hand', '-n', project]);
  expect(await makeJob(cronJob, 'by-hand')).toContain('"msg":"run started"');
  const byHand = (run: RecordedRun) => run.spec.trigger?.key?.startsWith('job/') === true;
  await pollUntil('the records of both', async () => (await runsOf(name)).filter(byHand).length === 2, SOON);
}, 240_000);

test('switched off, schedules leave neither CronJobs nor Jobs and pods of ticks', async () => {
  const ofTicks = ['-l', 'app.kubernetes.io/name=windlass-tick', '-o', 'name'];
  const left = async () => (await kube(['get', 'cronjobs,jobs,pods', '-n', project, ...ofTicks])).trim();
  expect(await left()).toMatch(/cronjob\..*job\..*pod\//s);
  for (const name of ['minutely-0', 'minutely-1']) {
    const patch = '{"spec":{"active":false}}';
    await kube(['patch', '-n', project, `workflows.windlass.dev/${name}`, '--type=merge', '-p', patch]);
  }
  await expect.poll(left, { timeout: SOON.timeoutMs, interval: SOON.everyMs }).toBe('');
});
