/** The kinds of objects that the console reads and writes, and their paths below `/kube`. */
import type { Credential, ProjectSettings, Workflow, WorkflowDraft, WorkflowRun } from '../../api/kinds.ts';

/** `T` is only for the types. */
export type Resource<T extends KubeObject = KubeObject> = {
  group: string;
  version: string;
  plural: string;
  kind: string;
  /** Never set. */
  object?: T;
};

export type ObjectMeta = {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  managedFields?: ManagedField[];
  ownerReferences?: { uid?: string }[];
};

export type ManagedField = {
  manager?: string;
  operation?: string;
  subresource?: string;
  time?: string;
  fieldsV1?: Record<string, unknown>;
};

export type KubeObject = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
};

export type WorkflowObject = KubeObject & Pick<Workflow, 'spec' | 'status'>;
export type DraftObject = KubeObject & Pick<WorkflowDraft, 'spec'>;
export type RunObject = KubeObject & Pick<WorkflowRun, 'spec' | 'status'>;
export type CredentialObject = KubeObject & Pick<Credential, 'spec' | 'status'>;
export type SettingsObject = KubeObject & Pick<ProjectSettings, 'spec'>;
export type SecretObject = KubeObject & { type?: string; stringData?: Record<string, string> };
/** An immutable snapshot of a workflow's spec. */
export type RevisionObject = KubeObject & { revision: number; data?: unknown };

const own = { group: 'windlass.dev', version: 'v1alpha1' };

export const WORKFLOWS: Resource<WorkflowObject> = { ...own, plural: 'workflows', kind: 'Workflow' };
export const DRAFTS: Resource<DraftObject> = { ...own, plural: 'workflowdrafts', kind: 'WorkflowDraft' };
export const RUNS: Resource<RunObject> = { ...own, plural: 'workflowruns', kind: 'WorkflowRun' };
export const CREDENTIALS: Resource<CredentialObject> = { ...own, plural: 'credentials', kind: 'Credential' };
export const PROJECT_SETTINGS: Resource<SettingsObject> = {
  ...own,
  plural: 'projectsettings',
  kind: 'ProjectSettings',
};
export const SECRETS: Resource<SecretObject> = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
};
export const REVISIONS: Resource<RevisionObject> = {
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
};

/** `windlass.dev/v1alpha1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The path of a list at the API server. */
export function listPath(resource: Resource, namespace: string): string {
  const root = resource.group === '' ? '/api' : '/apis';
  return `${root}/${apiVersionOf(resource)}/namespaces/${encodeURIComponent(namespace)}/${resource.plural}`;
}

/** The path of an object at the API server. */
export function objectPath(resource: Resource, namespace: string, name: string): string {
  return `${listPath(resource, namespace)}/${encodeURIComponent(name)}`;
}
