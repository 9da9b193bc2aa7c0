/** Drains of nodes under load, by the eviction API as `kubectl drain` uses it. */
import { setTimeout as delay } from 'node:timers/promises';
import { kubectl } from '../../support/cluster/kubectl.ts';
import type { SentEvent } from '../evidence.ts';
import { NO_ANSWER } from '../attempt.ts';
import { dropped } from '../rolling.ts';
import type { Violation } from '../violation.ts';
import { cordon, placedPods, SPREAD, type Spread } from './pods.ts';
import { beginScene, endScene, measure, type SceneContext } from './context.ts';

const DRAINED_WITHIN_SECONDS = 180;
const SAMPLE_MS = 500;

/** One node is drained; its pods are evicted at once, since each has another one. */
export async function drainOne(context: SceneContext): Promise<void> {
  const [node] = context.workers;
  await drainUnderLoad(context, 'drain', [node.name]);
}

/** Both nodes are drained at the same time: the budgets hold one of the drains up until the other is done. */
export async function drainBoth(context: SceneContext): Promise<void> {
  const names = context.workers.map(({ name }) => name);
  await drainUnderLoad(context, 'drain of both nodes', names);
}

async function drainUnderLoad(context: SceneContext, kind: string, nodes: readonly string[]): Promise<void> {
  const { load, cluster, first } = context;
  const fault = await beginScene(context, kind, nodes.join(', '));
  await cordon(cluster, first, false);
  const sampling = sampleAvailability(context);
  await Promise.all(nodes.map((node) => drain(context, node)));
  const seconds = ((Date.now() - fault.at) / 1_000).toFixed(1);
  const least = await sampling.end();
  measure(load, kind, 'done after', `${seconds} s`);
  measure(
    load,
    kind,
    'fewest ready gateways, operators and runners meanwhile',
    told(least),
    'at least 1 of each',
  );
  for (const program of SPREAD) {
    if (least[program] >= 1) continue;
    load.violations.push({ kind: 'dropped', message: `${kind}: at times no ${program} was ready` });
  }
  await endScene(context, fault);
  const isDuring = ({ attempts: [first], refusal }: SentEvent) =>
    refusal === undefined && first !== undefined && first.at >= fault.at && first.at < fault.endedAt;
  load.violations.push(...refusedOnes(load.sender.events.filter(isDuring)));
}

/**
 * Drops while nodes were drained. An event without an answer in time is none: its run may wait for a
 * processor while pods start, and it is sent again.
 */
function refusedOnes(events: readonly SentEvent[]): Violation[] {
  const answered = events.map((event) => ({
    ...event,
    attempts: event.attempts.filter(({ error }) => error !== NO_ANSWER),
  }));
  return dropped(answered);
}

const told = (least: Record<Spread, number>): string => SPREAD.map((program) => least[program]).join(', ');

function drain({ cluster }: SceneContext, node: string): Promise<string> {
  const args = ['drain', node, '--ignore-daemonsets', '--delete-emptydir-data'];
  return kubectl(cluster, [...args, `--timeout=${DRAINED_WITHIN_SECONDS}s`], {
    timeoutMs: (DRAINED_WITHIN_SECONDS + 10) * 1_000,
  });
}

/** The least number of ready pods of each program, as the API server shows it again and again. */
function sampleAvailability({ cluster, load }: SceneContext): { end(): Promise<Record<Spread, number>> } {
  const least: Record<Spread, number> = { gateway: Infinity, operator: Infinity, runner: Infinity };
  const ending = new AbortController();
  const sampling = (async () => {
    while (!ending.signal.aborted) {
      const pods = await placedPods(cluster, load.harness.project);
      for (const program of SPREAD) {
        const ready = pods.filter((pod) => pod.program === program && pod.ready && !pod.ending);
        least[program] = Math.min(least[program], ready.length);
      }
      await delay(SAMPLE_MS);
    }
  })();
  return {
    end: async () => {
      ending.abort();
      await sampling;
      return least;
    },
  };
}
