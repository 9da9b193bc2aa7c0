/**
 * Nodes that are lost, cut off, deleted and drained under load, one after the other: the next one begins when
 * nothing is left of the one before.
 */
import type { Cluster } from '../../cluster/cluster.ts';
import { installWindlass } from '../../support/installation/install.ts';
import type { Progress } from '../../support/process/progress.ts';
import { REPLICATED, startHarness, type Harness } from '../harness.ts';
import { underLoad, type FaultRun } from '../load.ts';
import { NotSteady } from '../recovery.ts';
import { startSinks } from '../sinks.ts';
import { targetsOf } from '../workflows.ts';
import { nodeOf } from './cuts.ts';
import { cordon } from './pods.ts';
import { SCENES, type SceneName } from './scenes.ts';
import { contextOf } from './context.ts';

export type NodesOptions = {
  harness: Harness;
  cluster: Cluster;
  scenes: readonly SceneName[];
  /** Events a second. */
  rate: number;
  tell: (line: string) => void;
};

/** The first one has what no scene takes away by itself. */
export const NODES = 3;

/** The scenes that are chosen by these words; all of them without any. Throws for a word that means none. */
export function scenesOf(words: readonly string[]): SceneName[] {
  const names = Object.keys(SCENES) as SceneName[];
  const unknown = words.find((word) => !names.some((name) => name === word));
  if (unknown !== undefined)
    throw new Error(`no scene is named "${unknown}": choose from ${names.join(', ')}`);
  return names.filter((name) => words.length === 0 || words.includes(name));
}

/** Windlass on a cluster of three nodes: the run store and the sinks on the first one. */
export async function installOnNodes(
  cluster: Cluster,
  { progress, log }: { progress: Progress; log: string },
): Promise<Harness> {
  const [first, ...others] = Array.from(
    { length: NODES },
    (_, index) => nodeOf(cluster.name, index + 1).name,
  );
  for (const node of others) await cordon(cluster, node, true);
  await installWindlass(cluster, { progress, log, values: REPLICATED });
  await startSinks(cluster);
  for (const node of others) await cordon(cluster, node, false);
  if (first !== undefined) await cordon(cluster, first, true);
  return progress.step('start the workflows', () => startHarness(cluster));
}

/** Never throws for what the system did: that is a violation, or makes the run invalid. */
export function runNodes({ harness, cluster, scenes, rate, tell }: NodesOptions): Promise<FaultRun> {
  const targets = targetsOf(harness.gateway.publicURL, harness.project);
  return underLoad({ harness, targets, rate, tell }, async (load) => {
    const context = contextOf(load, cluster);
    try {
      for (const name of scenes) await SCENES[name](context);
      return undefined;
    } catch (error) {
      // A scene that does not come to its end shows nothing.
      const message = error instanceof Error ? error.message : String(error);
      tell(`✗ ${message}`);
      if (error instanceof NotSteady) return message;
      return `a scene failed: ${message}`;
    }
  });
}
