/**
 * An upgrade of chart and image while requests come: none may be refused, and what holds them must not
 * restart.
 */
import { join } from 'node:path';
import { runCommand } from '../support/process/command.ts';
import { upgradeWindlass, windlassNamespace } from '../support/installation/install.ts';
import { getJson, kubectl } from '../support/cluster/kubectl.ts';
import { nextChart } from '../support/cluster/nextVersion.ts';
import { pollUntil } from '../support/time/poll.ts';
import { underLoad, type FaultRun } from './load.ts';
import { dropped } from './rolling.ts';
import type { Harness } from './harness.ts';
import type { Target } from './sender.ts';
import { targetsOf } from './workflows.ts';

export type UpgradeOptions = {
  harness: Harness;
  /** At least so many requests, and until runners of the new version have taken over. */
  requests: number;
  rate: number;
  tell: (line: string) => void;
};

/**
 * Nothing may be refused or lost. How fast answers come depends on the processors, which all programs share.
 */
const ANSWERED_WITHIN_MS = 65_000;
/**
 * As many as are sent in four seconds. Requests that are unanswered when a gateway is told to end must be
 * answered before it is killed, 40 s later, also where fewer runs a second are executed than are sent.
 */
const MAX_UNFINISHED = 400;
const SYSTEM = ['-n', windlassNamespace];

/**
 * Each request is sent once: answers at once, chains that answer later, and steps that are counted. Of the
 * counted ones half as many, since each takes two calls of a sink.
 */
export function runUpgrade({ harness, requests, rate, tell }: UpgradeOptions): Promise<FaultRun> {
  const turns: Record<string, number> = { reply: 2, chain: 2, count: 1 };
  const targets = targetsOf(harness.gateway.publicURL, harness.project).flatMap((target) =>
    target.refusal === undefined ? Array<Target>(turns[target.workflow] ?? 0).fill(target) : [],
  );
  return underLoad(
    {
      harness,
      targets,
      rate,
      repeats: false,
      timeoutMs: ANSWERED_WITHIN_MS,
      maxUnfinished: MAX_UNFINISHED,
      tell,
    },
    async ({ sender, violations }) => {
      await upgrade(harness, tell);
      await pollUntil('the last request', () => sender.events.length >= requests, { timeoutMs: 120_000 });
      await sender.end(ANSWERED_WITHIN_MS);
      violations.push(...dropped(sender.events));
      return undefined;
    },
  );
}

/**
 * Upgrades to the next chart and to an image of another name; resolves when every pod of ours and the
 * project's runners are new.
 */
async function upgrade(harness: Harness, tell: UpgradeOptions['tell']): Promise<void> {
  const { cluster, project } = harness;
  const image = await tagImage(harness);
  const began = performance.now();
  const since = () => `${((performance.now() - began) / 1_000).toFixed(1)} s`;
  await upgradeWindlass(cluster, { image }, { chart: await nextChart() });
  tell(`✓ the chart was upgraded after ${since()}`);
  const runners = ['-n', project, 'deployment/windlass-runner'];
  const imageOf = () => kubectl(cluster, ['get', ...runners, '-o', 'jsonpath={..containers[0].image}']);
  const isNew = async () => (await imageOf()) === `${image.repository}:${image.tag}`;
  await pollUntil('runners with the new image', isNew, { timeoutMs: 120_000 });
  await kubectl(cluster, ['rollout', 'status', ...runners, '--timeout=120s'], { timeoutMs: 130_000 });
  tell(`✓ runners were replaced after ${since()}`);
}

/** Gives the node the image that it has by another tag. */
async function tagImage({ cluster }: Harness): Promise<{ repository: string; tag: string }> {
  const operator = [...SYSTEM, 'deployment/windlass-operator', '-o', 'jsonpath={..containers[0].image}'];
  const before = await kubectl(cluster, ['get', ...operator]);
  const [, repository = '', tag = ''] = /^(.*):([^:]+)$/.exec(before) ?? [];
  const next = tag.endsWith('-next') ? tag.replace(/-next$/, '') : `${tag}-next`;
  const socket = join(cluster.kubeconfigPath, '../containerd.sock');
  const ctr = ['--address', socket, '--namespace', 'k8s.io', 'images', 'tag', '--force'];
  await runCommand('ctr', [...ctr, before, `${repository}:${next}`]);
  return { repository, tag: next };
}

type Pod = {
  metadata: { name: string; uid: string };
  status: { containerStatuses?: { restartCount: number }[] };
};

/** The pods of a part of ours: the uid of each, and how often its containers were started again. */
export async function podsOf({ cluster }: Harness, component: string): Promise<[string, number][]> {
  const label = `app.kubernetes.io/component=${component}`;
  const { items } = await getJson<{ items: Pod[] }>(cluster, 'pods', ...SYSTEM, '-l', label);
  return items.map(({ metadata, status: { containerStatuses = [] } }) => [
    metadata.uid,
    containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
  ]);
}
