/** Ticks, as pods of the Jobs of a CronJob execute them. */
import { setTimeout as delay } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { cronJobs, secrets } from '../../../kube/resource.ts';
import { startProgram } from '../../support/process/program.ts';
import type { Flow } from '../flows/checker.ts';
import type { Play } from '../flows/run.ts';

const MINUTE_MS = 60_000;
/** A Job creates another pod after a failed one. */
const AGAIN_MS = 1_000;
const WITHIN_MS = 120_000;

/** Starts a tick for a minute of its own, again until it succeeds, and once more then. */
export function startTick(play: Play): Flow {
  const ticks = play.flows.filter(({ kind }) => kind === 'scheduled').length;
  const minute = Math.floor(Date.now() / MINUTE_MS) - 1 - ticks;
  const event = new Date(minute * MINUTE_MS).toISOString().replace('.000Z', 'Z');
  const flow: Flow = { kind: 'scheduled', event };
  play.flows.push(flow);
  play.sending.push(execute(play, flow, minute));
  return flow;
}

async function execute(play: Play, flow: Flow, minute: number): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (performance.now() < deadline) {
    const run = await executeOnce(play, minute).catch(() => undefined);
    if (run !== undefined) {
      flow.run = run;
      await executeOnce(play, minute).catch(() => undefined);
      return;
    }
    await delay(AGAIN_MS);
  }
}

/** The run that it has started, or that has been started for the same time before. */
async function executeOnce({ harness }: Play, minute: number): Promise<string | undefined> {
  const { base, links, project: namespace } = harness;
  const { items } = await base.client.list(cronJobs, { namespace });
  const cronJob = items.find(({ metadata }) => metadata.labels?.['windlass.dev/workflow'] === 'scheduled');
  const { data } = await base.client.get(secrets, { namespace, name: 'windlass-runner' });
  const given = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString();
  const template = cronJob?.spec?.jobTemplate.spec?.template.spec?.containers[0]?.env ?? [];
  const own = template.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  const program = startProgram('tick', {
    ...Object.fromEntries(own),
    REDIS_URL: `redis://127.0.0.1:${links.runner.redis.port}`,
    REDIS_USERNAME: given('username'),
    REDIS_PASSWORD: given('password'),
    JOB_NAME: `${cronJob?.metadata.name}-${minute}`,
    JOB_UID: randomUUID(),
  });
  await program.ended;
  const started = program.log.map((line) => JSON.parse(line) as { run?: string });
  return started.findLast(({ run }) => run !== undefined)?.run;
}
