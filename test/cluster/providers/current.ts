/** Any cluster that the current kubeconfig context names. Nothing of it is made, and nothing removed. */
import { join } from 'node:path';
import { runCommand } from '../../support/process/command.ts';
import { quiet, stepFailure } from '../../support/process/progress.ts';
import { readClusterConfig } from '../config.ts';
import type { Cluster, ClusterProvider, ClusterRequest, PartStatus } from '../provider.ts';
import { ensureTools } from './tools.ts';

export const currentProvider: ClusterProvider = {
  name: 'current',
  up,
  down: async (_name, progress) =>
    progress.say('› WINDLASS_CLUSTER=current: the cluster is not ours, nothing of it is removed'),
  status,
  access: async (_name, progress) => ({
    kubeconfigPath: readClusterConfig().currentKubeconfig,
    binDir: await ensureTools(progress),
  }),
};

async function up({ name, progress }: ClusterRequest): Promise<Cluster> {
  const path = readClusterConfig().currentKubeconfig;
  const binDir = await ensureTools(progress);
  await progress.step('reach the cluster of the current context', () => ask(binDir, path));
  return {
    name,
    provider: 'current',
    kubeconfigPath: path,
    binDir,
    loadImage: async (_archive, reference) => {
      throw new Error(
        `${reference} cannot be loaded into a cluster that is not ours: push the images to a registry that its nodes can ` +
          'pull from, and name them in the values of the chart',
      );
    },
    down: async () => {},
  };
}

async function ask(binDir: string, path: string): Promise<string> {
  try {
    const args = ['--kubeconfig', path, '--request-timeout=10s', 'get', 'nodes', '--output=name'];
    return await runCommand(join(binDir, 'kubectl'), args);
  } catch (cause) {
    const remedy =
      'make `kubectl get nodes` work, or leave WINDLASS_CLUSTER out to have a cluster started here';
    throw stepFailure('the cluster of the current context does not answer', { cause, remedy });
  }
}

async function status(): Promise<PartStatus[]> {
  const names = await ask(await ensureTools(quiet), readClusterConfig().currentKubeconfig);
  return names
    .trim()
    .split('\n')
    .map((part) => ({ part, state: 'works', detail: 'of the current context' }));
}
