/**
 * Schedules at every minute, while programs are killed: each minute is one run of each schedule. This module
 * kills operator, gateway and runners one after the other, or what its caller names.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { kubeconfigConnection, type KubeConnection } from '../../kube/config.ts';
import { applySchedules } from '../support/installation/schedules.ts';
import { pollUntil } from '../support/time/poll.ts';
import { askObject } from './api.ts';
import { inject, type FaultHarness } from './inject.ts';
import type { FaultKind } from './plan.ts';
import { brokenBy, isComplete, type ScheduleEvidence, type ScheduledRun } from './scheduleChecker.ts';

/** `killed`: what is killed, in this order; `KILLED` by default. */
export type SchedulesOptions = {
  minutes: number;
  tell: (line: string) => void;
  killed?: readonly FaultKind[];
};

const MINUTE_MS = 60_000;
const KILLED: readonly FaultKind[] = ['kill-operator', 'kill-gateway', 'kill-runner'];
/**
 * So that a program that was killed is back before it is killed again, also where the kubelet makes it wait.
 */
const PAUSE_MS = MINUTE_MS / KILLED.length;
const SAMPLED_MS = 10_000;
const ENDED_WITHIN_MS = 150_000;

/**
 * Kills until the last of the minutes has come, then waits for their runs to end. Throws for nothing that the
 * system did.
 */
export async function watchSchedules(
  harness: FaultHarness,
  schedules: readonly string[],
  { minutes, tell, killed = KILLED }: SchedulesOptions,
): Promise<ScheduleEvidence> {
  const connection = await kubeconfigConnection(harness.cluster.kubeconfigPath);
  const first = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
  const times = Array.from({ length: minutes }, (_, index) => first + index * MINUTE_MS);
  const starts = new Map<string, number>();
  const sampling = setInterval(() => void sample(connection, harness.project, starts), SAMPLED_MS);
  let kills = 0;
  try {
    for (const time of times) {
      // In each minute another one is hit when the ticks come; after the last minute's nothing is left to
      // disturb.
      await delay(Math.max(time - Date.now(), 0));
      for (const slot of time === times.at(-1) ? killed.slice(0, 1).keys() : killed.keys()) {
        await delay(Math.max(time + slot * PAUSE_MS - Date.now(), 0));
        await killNext(harness, killed, kills + times.indexOf(time), tell);
        kills += 1;
      }
    }
    const seen = () => readRuns(connection, harness.project, schedules);
    const isDone = async () => isComplete({ schedules, times, runs: await seen() });
    await pollUntil('a run of each time', isDone, { timeoutMs: ENDED_WITHIN_MS, everyMs: 1_000 }).catch(
      (error: unknown) => tell(`✗ ${String(error)}`),
    );
    await sample(connection, harness.project, starts);
    return { schedules, times, runs: await seen(), starts, kills };
  } finally {
    clearInterval(sampling);
  }
}

/** All of it, with what was measured as rows of a page. */
export async function runSchedules(
  harness: FaultHarness,
  count: number,
  options: SchedulesOptions,
): Promise<{ broken: string[]; rows: string[] }> {
  const names = await applySchedules(harness, count);
  const evidence = await watchSchedules(harness, names, options);
  return brokenBy(evidence);
}

async function killNext(
  harness: FaultHarness,
  killed: readonly FaultKind[],
  turn: number,
  tell: (line: string) => void,
): Promise<void> {
  const kind = killed[turn % killed.length] ?? 'kill-operator';
  // Replicas alternately.
  const pick = (Math.floor(turn / killed.length) % 2) / 2;
  try {
    await inject(harness, { number: turn, kind, seconds: 0, pick }, (target) => tell(`${kind}: ${target}`));
  } catch (error) {
    // It has not come back yet since it was killed last.
    tell(`${kind}: ${String(error)}`);
  }
}

type Pod = {
  metadata: { labels?: Record<string, string> };
  status: {
    containerStatuses?: {
      state: { running?: { startedAt: string }; terminated?: { startedAt: string } };
    }[];
  };
};

/** When the container of each tick started, by schedule and minute, as far as its pod is still there. */
async function sample(
  connection: KubeConnection,
  project: string,
  starts: Map<string, number>,
): Promise<void> {
  const selector = encodeURIComponent('app.kubernetes.io/name=windlass-tick');
  const path = `/api/v1/namespaces/${project}/pods?labelSelector=${selector}`;
  const pods = await askObject<{ items: Pod[] }>(connection, path).catch(() => undefined);
  for (const { metadata, status } of pods?.items ?? []) {
    const { running, terminated } = status.containerStatuses?.[0]?.state ?? {};
    const startedAt = Date.parse((terminated ?? running)?.startedAt ?? '');
    const minute = Number(metadata.labels?.['batch.kubernetes.io/job-name']?.split('-').at(-1));
    const key = `${metadata.labels?.['windlass.dev/workflow']} ${minute * MINUTE_MS}`;
    if (!Number.isNaN(startedAt)) starts.set(key, Math.min(startedAt, starts.get(key) ?? Infinity));
  }
}

type RecordedRun = {
  metadata: { name: string };
  spec: { workflow: string };
  status?: {
    phase?: string;
    acceptedTime?: string;
    nodes?: { output?: { text_content?: string } }[];
  };
};

/** The recorded runs of these schedules of a project. */
export async function readRuns(
  connection: KubeConnection,
  project: string,
  schedules: readonly string[],
): Promise<ScheduledRun[]> {
  const path = `/apis/windlass.dev/v1alpha1/namespaces/${project}/workflowruns`;
  const { items } = await askObject<{ items: RecordedRun[] }>(connection, path);
  return items
    .filter(({ spec }) => schedules.includes(spec.workflow))
    .map(({ metadata, spec, status }) => ({
      run: metadata.name,
      schedule: spec.workflow,
      phase: status?.phase ?? 'Pending',
      time: Date.parse(status?.nodes?.[0]?.output?.text_content ?? ''),
      acceptedAt: Date.parse(status?.acceptedTime ?? ''),
    }));
}
