/** The ProjectSettings of a namespace, and the defaults for its workflows. Pure but for reading caches. */
import type { ProjectSettings, Workflow } from '../../api/kinds.ts';
import { SETTINGS_NAME } from '../../api/group.ts';
import type { ProjectSettingsSpec } from '../../api/projectSettings.ts';
import type { Caches } from './caches.ts';

export type WorkflowDefaults = NonNullable<ProjectSettingsSpec['workflowDefaults']>;

/**
 * The workflow with each field of `history`, and `timeout`, that its spec leaves out taken from the defaults.
 */
export function withDefaults(workflow: Workflow, { history, timeout }: WorkflowDefaults): Workflow {
  const { spec } = workflow;
  return {
    ...workflow,
    spec: {
      ...(timeout !== undefined && { timeout }),
      ...spec,
      ...((history ?? spec.history) && { history: { ...history, ...spec.history } }),
    },
  };
}

/** The settings of the namespace, unless they are being deleted. */
export function settingsOf(
  { settings }: Pick<Caches, 'settings'>,
  namespace: string,
): ProjectSettings | undefined {
  const found = settings.get(namespace, SETTINGS_NAME);
  return found?.metadata.deletionTimestamp === undefined ? found : undefined;
}

/** The defaults for workflows of the namespace. */
export function workflowDefaults(caches: Pick<Caches, 'settings'>, namespace: string): WorkflowDefaults {
  return settingsOf(caches, namespace)?.spec.workflowDefaults ?? {};
}
