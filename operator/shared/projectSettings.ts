/** The spec of a workflow with the defaults of its project filled in, from which everything is made that depends on them. Pure. */
import type { ProjectSettings, Workflow } from '../../api/kinds.ts';
import { SETTINGS_NAME, type ProjectSettingsSpec } from '../../api/projectSettings.ts';
import type { Caches } from './caches.ts';

export type WorkflowDefaults = NonNullable<ProjectSettingsSpec['workflowDefaults']>;

/** The workflow with `history` and `timeout` of the defaults where its own spec leaves them out, member by member. */
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

/** The settings of the namespace, if it has some that are not being deleted. */
export function settingsOf(
  { settings }: Pick<Caches, 'settings'>,
  namespace: string,
): ProjectSettings | undefined {
  const found = settings.get(namespace, SETTINGS_NAME);
  return found?.metadata.deletionTimestamp === undefined ? found : undefined;
}

/** What counts for workflows of the namespace that leave it out. */
export function workflowDefaults(caches: Pick<Caches, 'settings'>, namespace: string): WorkflowDefaults {
  return settingsOf(caches, namespace)?.spec.workflowDefaults ?? {};
}
