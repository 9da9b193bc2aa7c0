/**
 * Webhook calls at a steady rate over kept connections, whatever becomes of those before: an open loop, which
 * wrk cannot do.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export type Pace = {
  /** Called one after the other. */
  urls: readonly string[];
  perSecond: number;
  total: number;
  /** The JSON text of every request. */
  body: string;
};

export type Sent = {
  accepted: number;
  /** Every other status, or `0` for a broken connection, with how often it came. */
  others: Map<number, number>;
  /** From the first request to the last answer. */
  seconds: number;
};

const TICK_MS = 5;
const CONNECTIONS = 64;
const TIMEOUT_MS = 30_000;

/** Sends all of it and waits for the answers. Never rejects: what was not accepted is in the answer. */
export async function sendPaced({ urls, perSecond, total, body }: Pace): Promise<Sent> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const begin = performance.now();
  const answers: Promise<number>[] = [];
  while (answers.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - begin) / 1_000) * perSecond));
    while (answers.length < due) answers.push(sendOne(agent, urls[answers.length % urls.length] ?? '', body));
    await delay(TICK_MS);
  }
  const statuses = await Promise.all(answers);
  agent.destroy();
  const others = new Map<number, number>();
  for (const status of statuses) if (status !== 200) others.set(status, (others.get(status) ?? 0) + 1);
  const accepted = statuses.filter((status) => status === 200).length;
  return { accepted, others, seconds: (performance.now() - begin) / 1_000 };
}

function sendOne(agent: Agent, url: string, body: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const call = request(url, { agent, method: 'POST', headers, timeout: TIMEOUT_MS }, (answer) => {
      answer.resume();
      answer.once('close', () => resolve(answer.complete ? (answer.statusCode ?? 0) : 0));
    });
    call.once('timeout', () => call.destroy());
    call.once('error', () => resolve(0));
    call.end(body);
  });
}
