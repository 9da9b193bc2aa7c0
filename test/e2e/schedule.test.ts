/** A schedule on a real cluster: its CronJob fires, and each of its times is one run. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getJson } from '../support/kubectl.ts';
import { pollUntil } from '../support/poll.ts';
import {
  apply,
  cluster,
  condition,
  createProject,
  kube,
  recordedRuns,
  removeProject,
  workflowOf,
} from './environment.ts';

let project: string;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => removeProject(project));

const nodes = [
  { id: 'trigger', schedule: { cron: '* * * * *', timeZone: 'Europe/Berlin' } },
  {
    id: 'say',
    skill: { name: 'set', parameters: { values: { at: 'nodes.trigger.data_content.scheduled_time' } } },
  },
];

type Scheduled = { status: { schedule?: { last?: string; next?: string } } };
const scheduleOf = async () =>
  (await getJson<Scheduled>(cluster, 'workflows.windlass.dev', 'minutely', '-n', project)).status.schedule;

test('a schedule fires at the time that its status named, and starts one run, with the time as its output', async () => {
  await apply(project, workflowOf('minutely', nodes));
  await condition(project, 'workflows.windlass.dev/minutely', 'Ready', { status: 'True' });
  const next = (await scheduleOf())?.next ?? '';
  expect(next).toMatch(/:00Z$/);
  const first = await pollUntil(
    'the first run',
    async () => (await recordedRuns(project)).find(({ status }) => status?.phase === 'Succeeded'),
    { timeoutMs: 100_000, everyMs: 1_000 },
  );
  // A replay of the Job finds the run that is there.
  const [pod = ''] = (
    await kube(['get', 'pods', '-n', project, '-l', 'app.kubernetes.io/name=windlass-tick', '-o', 'name'])
  ).split('\n');
  expect(await kube(['logs', '-n', project, pod])).toContain('"msg":"run started"');
  expect(first.status?.nodes?.[0]?.output).toMatchObject({
    text_content: next,
    data_content: { scheduled_time: next, time_zone: 'Europe/Berlin' },
  });
  expect(first.status?.nodes?.[1]?.output?.data_content).toEqual({ at: next });
  await pollUntil('the time in the status', async () => (await scheduleOf())?.last === next, {
    timeoutMs: 10_000,
  });
  await kube([
    'patch',
    '-n',
    project,
    'workflows.windlass.dev',
    'minutely',
    '--type=merge',
    '-p',
    '{"spec":{"active":false}}',
  ]);
  await pollUntil(
    'no CronJob',
    async () => (await kube(['get', 'cronjobs', '-n', project, '-o', 'name'])).trim() === '',
    { timeoutMs: 20_000 },
  );
});
