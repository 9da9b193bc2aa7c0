/**
 * Before the end-to-end tests: a cluster of their own with Windlass and two replicas of each program. It goes
 * afterwards, also when somebody interrupts them, unless WINDLASS_KEEP=1 asks to keep it for the next time
 * and for looking around.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { E2E_GOGC } from '../../scripts/testProjects.ts';
import { ensureCluster } from '../cluster/cluster.ts';
import { REPLICATED, type TestCluster } from '../faults/harness.ts';
import { installWindlass, uninstallWindlass } from '../support/installation/install.ts';
import { createProgress } from '../support/process/progress.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: TestCluster;
  }
}

declare global {
  /** Vitest may evaluate this file for each of its projects, in one process. */
  var endToEndCluster: TestCluster | undefined;
}

const logFile = join(import.meta.dirname, '../../.windlass/e2e.log');

/**
 * Called by vitest for each project of end-to-end tests, one after the other, before the first test file. The
 * first call installs Windlass; what it returns is called after the last test file.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const known = globalThis.endToEndCluster;
  const { cluster, remove } = known ? { cluster: known, remove: async () => undefined } : await install();
  globalThis.endToEndCluster = cluster;
  project.provide('cluster', cluster);
  return remove;
}

async function install(): Promise<{ cluster: TestCluster; remove: () => Promise<void> }> {
  const progress = createProgress(process.stderr);
  await mkdir(join(logFile, '..'), { recursive: true });
  await rm(logFile, { force: true });
  process.env['GOGC'] = E2E_GOGC;
  const cluster = await ensureCluster({ name: 'windlass-e2e', progress, audit: true });
  const remove = () =>
    progress.step('remove the cluster of the end-to-end tests', () =>
      cluster.provider === 'current' ? uninstallWindlass(cluster) : cluster.down(),
    );
  if (!keeps()) whenInterrupted(remove);
  try {
    await installWindlass(cluster, { progress, log: logFile, values: REPLICATED, s3: true });
  } catch (error) {
    if (!keeps()) await remove();
    throw error;
  }
  const { name, provider, kubeconfigPath, binDir, nodePortRange, auditLog } = cluster;
  return {
    cluster: {
      name,
      provider,
      kubeconfigPath,
      binDir,
      ...(nodePortRange && { nodePortRange }),
      ...(auditLog && { auditLog }),
    },
    remove: async () => {
      if (keeps()) progress.say(`› cluster windlass-e2e is kept: export KUBECONFIG=${kubeconfigPath}`);
      else await remove();
    },
  };
}

const keeps = () => process.env['WINDLASS_KEEP'] === '1';

/** Does that before a signal ends the process, which would otherwise leave out what `setup` returns. */
function whenInterrupted(work: () => Promise<void>): void {
  let isAtWork = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Vite's own ends the process at once.
    process.removeAllListeners(signal);
    process.on(signal, () => {
      // It comes more than once: from the terminal, and from whoever started us.
      if (isAtWork) return;
      isAtWork = true;
      void work().finally(() => process.exit(1));
    });
  }
}
