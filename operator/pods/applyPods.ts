/**
 * Applies a Deployment or CronJob of a project. If the API server, or a policy of the cluster, refuses its
 * pods with the settings of the project, placement and resources stay as they are, so that a new image, or a
 * bound of the installation, takes effect before the settings are corrected.
 */
import { GROUP } from '../../api/group.ts';
import { applyIfChanged } from '../../kube/apply.ts';
import type { Manifest } from '../../kube/writes.ts';
import { isForbidden, isInvalid } from '../../kube/errors.ts';
import type { CronJob, Deployment, Resource } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { withPodsOf, withSettings, type ProjectConfig } from './settings.ts';
import { settingsOf } from '../shared/projectSettings.ts';

type WithPods = Deployment | CronJob;

export type PodsToApply<T extends WithPods> = {
  namespace: string;
  resource: Resource<T>;
  /** The cached object, if there is one. */
  cached: T | undefined;
  manifestOf: (config: ProjectConfig) => Manifest<T>;
};

/**
 * `refused`: why the API server refuses it with the settings of the project. Throws if it refuses it without
 * them, too.
 */
export async function applyPods<T extends WithPods>(
  { client, config, caches }: Pick<OperatorContext, 'client' | 'config' | 'caches'>,
  { namespace, resource, cached, manifestOf }: PodsToApply<T>,
): Promise<{ object: T; written: boolean; refused?: string }> {
  const settings = settingsOf(caches, namespace)?.spec;
  const apply = (projectConfig: ProjectConfig) =>
    applyIfChanged({ client, resource, manifest: manifestOf(projectConfig), cached, prefix: GROUP });
  try {
    return await apply(withSettings(config, settings));
  } catch (error) {
    const isRefused = isInvalid(error) || isForbidden(error);
    if (!isRefused || settings?.runners === undefined) throw error;
    const applied = await apply(withPodsOf(config, settings, cached && podOf(cached)));
    return { ...applied, refused: (error as Error).message };
  }
}

function podOf({ spec }: WithPods) {
  if (spec === undefined) return undefined;
  return 'jobTemplate' in spec ? spec.jobTemplate.spec?.template.spec : spec.template.spec;
}
