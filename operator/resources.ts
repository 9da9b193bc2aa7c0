/** Where the API server serves the four kinds of Windlass. */
import { GROUP, VERSION } from '../api/group.ts';
import {
  CREDENTIAL,
  WEBHOOK_ROUTE,
  WORKFLOW,
  WORKFLOW_RUN,
  type Credential,
  type Kind,
  type WebhookRoute,
  type Workflow,
  type WorkflowRun,
} from '../api/kinds.ts';
import { namespacedResource, type KubeObject, type Resource } from '../kube/resource.ts';

const resourceOf = <T extends KubeObject>(kind: Kind): Resource<T> =>
  namespacedResource<T>(GROUP, VERSION, kind.kind, kind.plural);

export const workflows = resourceOf<Workflow>(WORKFLOW);
export const workflowRuns = resourceOf<WorkflowRun>(WORKFLOW_RUN);
export const credentials = resourceOf<Credential>(CREDENTIAL);
export const webhookRoutes = resourceOf<WebhookRoute>(WEBHOOK_ROUTE);
