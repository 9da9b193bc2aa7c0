/** The chart as Helm renders it, whole or in parts, for an API server that tests started. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiServer } from './apiserver.ts';
import { helm, type ClusterAccess } from './kubectl.ts';
import { createObjectApplier } from './objectApplier.ts';

/** The folder of the chart. */
export const CHART = join(import.meta.dirname, '../../../charts/windlass');

/** The templates with the admission policies. */
export const ADMISSION = readdirSync(join(CHART, 'templates'))
  .filter((file) => file.startsWith('admission'))
  .map((file) => file.replace('.yaml', ''));

export type Rendering = {
  /** Templates by their file name without an ending; all when left out. */
  templates?: string[];
  /** Values, as of a file of values. */
  values?: Record<string, unknown>;
};

/**
 * The manifests of a release `windlass` in that namespace. Throws with Helm's words when the values are
 * refused.
 */
export function renderChart(
  access: ClusterAccess,
  namespace: string,
  { templates = [], values = {} }: Rendering = {},
): Promise<string> {
  const only = templates.flatMap((name) => ['-s', `templates/${name}.yaml`]);
  const where = ['-n', namespace, '--kube-version', '1.34', '-f', '-'];
  return helm(access, ['template', 'windlass', CHART, ...where, ...only], { input: JSON.stringify(values) });
}

/** Renders and applies, server-side. */
export async function applyChart(server: ApiServer, namespace: string, rendering?: Rendering): Promise<void> {
  const applier = createObjectApplier(server);
  try {
    await applier.apply(namespace, await renderChart(server, namespace, rendering));
  } finally {
    await applier.close();
  }
}
