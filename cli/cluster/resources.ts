/** The kinds of Windlass on the API server. */
import { GROUP, VERSION } from '../../api/group.ts';
import {
  CREDENTIAL,
  WORKFLOW,
  WORKFLOW_RUN,
  type Credential,
  type Kind,
  type Workflow,
  type WorkflowRun,
} from '../../api/kinds.ts';
import { namespacedResource, type KubeObject, type Resource } from '../../kube/resource.ts';

const resourceOf = <T extends KubeObject>(kind: Kind): Resource<T> =>
  namespacedResource<T>(GROUP, VERSION, kind.kind, kind.plural);

export const workflows = resourceOf<Workflow>(WORKFLOW);
export const workflowRuns = resourceOf<WorkflowRun>(WORKFLOW_RUN);
export const credentials = resourceOf<Credential>(CREDENTIAL);

/** As `-o name` prints an object. */
export const nameOf = ({ kind, metadata }: KubeObject): string =>
  `${kind.toLowerCase()}.${GROUP}/${metadata.name}`;
