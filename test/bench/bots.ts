/**
 * `bots`: how long a messaging service waits for the answer to an update, at 200 updates a second of which
 * every fourth repeats one that is just under way, sent to two gateways alternately: an open loop, since
 * services do not wait for each other's answers.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { isUnavailable } from '../../store/connection.ts';
import { readCounts } from '../../runs/read.ts';
import { putBot, SHOWN } from '../support/gateway/botRoutes.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  workflowUid,
  type GatewayHarness,
} from '../support/gateway/gatewayHarness.ts';
import { startGateway } from '../support/gateway/gatewayProcess.ts';
import { pollUntil } from '../support/time/poll.ts';
import type { Figure } from './report.ts';

const PER_SECOND = 200;
const SECONDS = 30;
/** Every so many updates one is the same as the one three before it, at the other gateway. */
const REPEATED = 4;
const TICK_MS = 5;
const WORKFLOW = 'answers';

type Answer = { status: number; body: string; ms: number };

export async function bots(): Promise<Figure[]> {
  const harness = await startGatewayHarness();
  try {
    await putBot(harness.client, WORKFLOW, 'helper');
    const second = await startGateway({
      kubeconfigPath: harness.api.kubeconfigPath,
      redisURL: harness.redis.url,
      pod: 'gateway-second',
      namespace: NAMESPACE,
    });
    try {
      const urls = [harness.gateway, second].map(({ publicURL }) => `${publicURL}/bot/${NAMESPACE}.helper`);
      return await measure(harness, urls);
    } finally {
      await second.stop();
    }
  } finally {
    await harness.close();
  }
}

async function measure(harness: GatewayHarness, urls: readonly string[]): Promise<Figure[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  for (const url of urls)
    await pollUntil('the bot', async () => (await send(agent, url, 0)).status === 200, { timeoutMs: 20_000 });
  // What is compiled late would count against the first.
  await sendPaced(agent, urls, { from: 1, seconds: 3 });
  const before = await startedRuns(harness);
  const { ids, answers } = await sendPaced(agent, urls, { from: 1_000_000, seconds: SECONDS });
  agent.destroy();
  const names = new Map<number, Set<string>>();
  answers.forEach(({ status, body }, at) => {
    const id = ids[at] ?? 0;
    const known = names.get(id) ?? new Set();
    names.set(id, status === 200 ? known.add(body) : known);
  });
  const events = names.size;
  const runs = (await startedRuns(harness)) - before;
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
  const stored = answers.filter(({ status }) => status === 200).length;
  return [
    { name: 'updates', value: answers.length, unit: 'updates' },
    {
      name: 'answered with 200',
      value: stored,
      unit: 'updates',
      goal: { at: 'least', value: answers.length, of: 'value' },
    },
    { name: 'events', value: events, unit: 'events' },
    {
      name: 'runs more or fewer than events',
      value: Math.abs(runs - events),
      unit: 'runs',
      goal: { at: 'most', value: 0, of: 'value' },
    },
    {
      name: 'events of two runs',
      value: [...names.values()].filter(({ size }) => size > 1).length,
      unit: 'events',
      goal: { at: 'most', value: 0, of: 'value' },
    },
    { name: 'answer p50', value: at(0.5), unit: 'ms' },
    { name: 'answer p99', value: at(0.99), unit: 'ms', goal: { at: 'most', value: 100, of: 'value' } },
    { name: 'slowest answer', value: at(1), unit: 'ms' },
  ];
}

type Span = { from: number; seconds: number };

async function sendPaced(
  agent: Agent,
  urls: readonly string[],
  { from, seconds }: Span,
): Promise<{ ids: number[]; answers: Answer[] }> {
  const total = PER_SECOND * seconds;
  const begin = performance.now();
  const ids: number[] = [];
  const sent: Promise<Answer>[] = [];
  while (sent.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - begin) / 1_000) * PER_SECOND));
    while (sent.length < due) {
      const at = sent.length;
      const id = from + (at % REPEATED === REPEATED - 1 ? at - 3 : at);
      ids.push(id);
      sent.push(send(agent, urls[at % urls.length] ?? '', id));
    }
    await delay(TICK_MS);
  }
  return { ids, answers: await Promise.all(sent) };
}

/** Never rejects: a broken connection has the status 0. */
function send(agent: Agent, url: string, id: number): Promise<Answer> {
  const body = JSON.stringify({
    update_id: id,
    message: {
      message_id: id,
      date: 1_441_645_532,
      chat: { id: 1111, type: 'private', first_name: 'Ada', username: 'ada' },
      from: { id: 1111, is_bot: false, first_name: 'Ada', username: 'ada' },
      text: `What is left of order ${id}?`,
    },
  });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...SHOWN,
  };
  const begin = performance.now();
  return new Promise((resolve) => {
    const end = (status: number, text = '') => resolve({ status, body: text, ms: performance.now() - begin });
    const call = request(url, { agent, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('close', () => end(answer.complete ? (answer.statusCode ?? 0) : 0, text));
    });
    call.once('error', () => end(0));
    call.end(body);
  });
}

/** There is no runner, so that none has ended. */
async function startedRuns({ runs }: GatewayHarness): Promise<number> {
  const counts = await readCounts(runs, PROJECT, workflowUid(WORKFLOW));
  if (isUnavailable(counts)) throw new Error('the run store does not answer');
  return counts.active;
}
