/**
 * How soon runs begin that come one by one, at random, whatever becomes of those before: an open loop.
 * Measured by what the run store holds of every tenth run, read a while later, so that asking does not add to
 * the load.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { keysOf } from '../../store/keys.ts';
import { setWriteBudget } from '../../runs/limits.ts';
import type { NodeState } from '../../runs/types/node.ts';
import { PROJECT, putRoute } from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { EVENT } from './accept.ts';
import { emptyProject, submitOne, type Workflow } from './chain.ts';
import type { Figure } from './report.ts';
import { startRunnerProcess } from './runnerProcess.ts';
import type { Harness } from './harness.ts';
import { runWrk } from './wrk.ts';

const WARM_SECONDS = 3;
/**
 * Of the open loop. V8 optimizes what each event calls once, at about the same time in all programs, after
 * some ten thousand events: see `docs/benchmarks/README.md`.
 */
const WARM_EVENTS = 25_000;
const SECONDS = 10;
const TICK_MS = 1;
const SAMPLED_EVERY = 10;
const READ_AFTER_MS = 1_500;
const CONNECTIONS = 64;
/**
 * To an API server on the same processors: those of a project that shares the cluster's budget with three
 * others.
 */
const RECORD_WRITES = 50;
/** Times of steps are whole milliseconds, rounded down. */
const ROUNDED_MS = 0.5;

type Send = () => Promise<string>;
/**
 * Milliseconds to the first step: from the acceptance, and from when the event was due to be sent, be the
 * sender late or not.
 */
type Sample = { fromAccepted: number; fromDue: number };

/**
 * At this rate, submitted straight to the run store, without records and with some; then what the whole path
 * takes, from the gateway to the answer, with all of it on this machine; then at half of that, through the
 * gateway.
 */
export async function latency(harness: Harness, perSecond: number, nodeArgs: string[]): Promise<Figure[]> {
  const direct = await withRunner(harness, nodeArgs, () =>
    paced(harness, perSecond, () => submitOne(harness, 'chain')),
  );
  const recorded = await withRunner(harness, nodeArgs, async () => {
    await setWriteBudget(harness.runs, PROJECT, RECORD_WRITES);
    return paced(harness, perSecond, () => submitOne(harness, 'chain'));
  });
  const url = await served(harness, 'chain', false);
  const answeredURL = await served(harness, 'answered', true);
  const whole = await withRunner(harness, nodeArgs, async () => {
    const load = { url: answeredURL, connections: CONNECTIONS, body: EVENT };
    await runWrk({ ...load, seconds: WARM_SECONDS });
    return (await runWrk({ ...load, seconds: SECONDS })).perSecond;
  });
  console.error(`whole path: ${Math.round(whole)} runs/s`);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const through = await withRunner(harness, nodeArgs, () =>
    paced(harness, whole / 2, async () => {
      const run = await post(agent, url);
      if (run === undefined) throw new Error('The gateway did not accept an event.');
      return run;
    }),
  );
  agent.destroy();
  return [
    ...figures(direct, `at ${Math.round(perSecond)} runs/s`, { p50: 3, p99: 20 }),
    ...figures(
      recorded,
      `at ${Math.round(perSecond)} runs/s with ${RECORD_WRITES} writes of records a second`,
    ),
    { name: 'whole path, gateway to answer, at saturation', value: whole, unit: 'runs/s' },
    ...figures(through, `through the gateway at ${Math.round(whole / 2)} runs/s`),
  ];
}

async function withRunner<T>(harness: Harness, nodeArgs: string[], measure: () => Promise<T>): Promise<T> {
  await emptyProject(harness);
  const runner = await startRunnerProcess(harness, nodeArgs);
  try {
    return await measure();
  } finally {
    await runner.stop();
  }
}

function figures(samples: Sample[], load: string, goals?: { p50: number; p99: number }): Figure[] {
  return [0.5, 0.99].flatMap((share) => {
    const name = share === 0.5 ? 'p50' : 'p99';
    const at = (member: keyof Sample) =>
      samples.map((sample) => sample[member]).toSorted((a, b) => a - b)[Math.floor(samples.length * share)] ??
      Number.NaN;
    return [
      {
        name: `accepted to first step, ${name}, ${load}`,
        value: at('fromAccepted'),
        unit: 'ms',
        ...(goals && { goal: { at: 'most' as const, value: goals[name], of: 'value' as const } }),
      },
      { name: `due to be sent to first step, ${name}, ${load}`, value: at('fromDue'), unit: 'ms' },
    ];
  });
}

/** Warms up, then measures. */
async function paced(harness: Harness, perSecond: number, send: Send): Promise<Sample[]> {
  await sendPaced(harness, WARM_EVENTS, perSecond, send);
  return sendPaced(harness, perSecond * SECONDS, perSecond, send);
}

/** Sends as independent callers do: the times between two are distributed exponentially. */
async function sendPaced(harness: Harness, total: number, perSecond: number, send: Send): Promise<Sample[]> {
  const sent: Promise<string>[] = [];
  const sampled: Promise<Sample>[] = [];
  for (let dueAt = performance.now(); sent.length < total; await delay(TICK_MS)) {
    for (; dueAt <= performance.now() && sent.length < total; dueAt += between(perSecond)) {
      const run = send();
      sent.push(run);
      if (sent.length % SAMPLED_EVERY === 0)
        sampled.push(sampleOf(harness, run, performance.timeOrigin + dueAt));
    }
  }
  await Promise.all(sent);
  return Promise.all(sampled);
}

function between(perSecond: number): number {
  return (-Math.log(1 - Math.random()) / perSecond) * 1_000;
}

/** By the clock of the machine, which is that of store and runner. */
async function sampleOf({ runs }: Harness, sent: Promise<string>, dueAt: number): Promise<Sample> {
  const key = keysOf(PROJECT).run(await sent);
  await delay(READ_AFTER_MS);
  return pollUntil(
    'the first step of a run',
    async () => {
      const fields = await runs.command('hmget', key, 'accepted', 'n:sum');
      const [accepted, first] = fields as [string | null, string | null];
      if (accepted === null || first === null) return undefined;
      const { startedAt = Number.NaN } = JSON.parse(first) as NodeState;
      const begun = startedAt + ROUNDED_MS;
      return { fromAccepted: begun - Number(accepted) / 1_000, fromDue: begun - dueAt };
    },
    { timeoutMs: 20_000, everyMs: 500 },
  );
}

/** The address of the workflow's webhook. */
async function served(harness: Harness, workflow: Workflow, reply: boolean): Promise<string> {
  const url = harness.hook(workflow);
  await putRoute(harness.client, workflow, { webhook: { reply } });
  await pollUntil('the route being served', async () => (await fetch(url)).status === 405, {
    timeoutMs: 10_000,
  });
  return url;
}

/** The run of the event; undefined where the answer is another, or there is none. */
function post(agent: Agent, url: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(EVENT) };
    const call = request(url, { agent, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.once('close', () => resolve(/"run":"([^"]+)"/.exec(text)?.[1]));
    });
    call.once('error', () => resolve(undefined));
    call.end(EVENT);
  });
}
