/** What an operator and its run store use over a time: requests, commands, processor time, memory. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorHarness } from '../support/operator/operatorHarness.ts';
import { processorTicks } from './singles.ts';

const TICKS_PER_SECOND = 100;
const MIB = 1_024;

export type Use = {
  /** Requests of the operator to the API server a second, by verb and resource. */
  requests: Map<string, number>;
  /** The same of all programs, by the count of the API server. */
  allRequests: number;
  /** Commands a second, those in scripts included. */
  commands: number;
  /** Of a core. */
  operatorPercent: number;
  redisPercent: number;
};

type Measured = { pid: number; url: string };

type Counts = { at: number; requests: Map<string, number>; allRequests: number; commands: number };

/** In ticks. */
type Processor = { at: number; operator: number; redis: number };

/** Measures for so many seconds. The processor time leaves out what showing the operator's metrics takes. */
export async function useOf(harness: OperatorHarness, operator: Measured, seconds: number): Promise<Use> {
  const before = await readCounts(harness, operator);
  const begin = await readProcessor(harness, operator);
  await delay(seconds * 1_000);
  const end = await readProcessor(harness, operator);
  const after = await readCounts(harness, operator);
  const passed = (after.at - before.at) / 1_000;
  const percent = (name: 'operator' | 'redis'): number =>
    (100_000 * (end[name] - begin[name])) / TICKS_PER_SECOND / (end.at - begin.at);
  return {
    requests: new Map(
      [...after.requests]
        .map(([key, count]) => [key, (count - (before.requests.get(key) ?? 0)) / passed] as const)
        .filter(([, perSecond]) => perSecond > 0)
        .toSorted(([, a], [, b]) => b - a),
    ),
    allRequests: (after.allRequests - before.allRequests) / passed,
    commands: (after.commands - before.commands) / passed,
    operatorPercent: percent('operator'),
    redisPercent: percent('redis'),
  };
}

export const sumOf = (requests: ReadonlyMap<string, number>): number =>
  [...requests.values()].reduce((sum, perSecond) => sum + perSecond, 0);

/** In MiB: what the process takes, and the most that it ever took. */
export async function memoryUse(pid: number): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { now: kib('VmRSS') / MIB, most: kib('VmHWM') / MIB };
}

async function readProcessor({ redis }: OperatorHarness, { pid }: Measured): Promise<Processor> {
  const at = performance.now();
  const [operator, ofRedis] = await Promise.all([processorTicks(pid), processorTicks(redis.pid())]);
  return { at, operator, redis: ofRedis };
}

async function readCounts(harness: OperatorHarness, operator: Measured): Promise<Counts> {
  const [own, server, stats] = await Promise.all([
    fetch(`${operator.url}/metrics`).then((answer) => answer.text()),
    harness.client.raw('GET', '/metrics'),
    harness.redisCommand('INFO', 'commandstats'),
  ]);
  const calls = stats.map((line) => Number(/calls=(\d+)/.exec(line)?.[1] ?? 0));
  return {
    at: performance.now(),
    requests: requestsIn(own),
    allRequests: sumOf(counters(String(server), 'apiserver_request_total')),
    commands: calls.reduce((sum, count) => sum + count, 0),
  };
}

function requestsIn(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const [labels, count] of counters(text, 'windlass_operator_requests_total')) {
    const label = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const key = `${label('verb')} ${label('resource')}`;
    found.set(key, (found.get(key) ?? 0) + count);
  }
  return found;
}

function counters(text: string, name: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, labels, count] = new RegExp(`^${name}\\{(.*)\\} (\\S+)$`).exec(line) ?? [];
    if (labels !== undefined) found.set(labels, Number(count));
  }
  return found;
}
