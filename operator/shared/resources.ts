/** The API resources of the seven kinds of Windlass, and of built-in kinds that only the operator creates. */
import { GROUP, VERSION } from '../../api/group.ts';
import {
  CREDENTIAL,
  EVALUATION,
  PROJECT_SETTINGS,
  WEBHOOK_ROUTE,
  WORKFLOW,
  WORKFLOW_DRAFT,
  WORKFLOW_RUN,
  type Credential,
  type Evaluation,
  type Kind,
  type ProjectSettings,
  type WebhookRoute,
  type Workflow,
  type WorkflowDraft,
  type WorkflowRun,
} from '../../api/kinds.ts';
import { namespacedResource, type Condition, type KubeObject, type Resource } from '../../kube/resource.ts';

const resourceOf = <T extends KubeObject>(kind: Kind): Resource<T> =>
  namespacedResource<T>(GROUP, VERSION, kind.kind, kind.plural);

export const workflows = resourceOf<Workflow>(WORKFLOW);
export const drafts = resourceOf<WorkflowDraft>(WORKFLOW_DRAFT);
export const workflowRuns = resourceOf<WorkflowRun>(WORKFLOW_RUN);
export const credentials = resourceOf<Credential>(CREDENTIAL);
export const webhookRoutes = resourceOf<WebhookRoute>(WEBHOOK_ROUTE);
export const evaluations = resourceOf<Evaluation>(EVALUATION);
export const projectSettings = resourceOf<ProjectSettings>(PROJECT_SETTINGS);

/** The chart writes the rules, and the API server validates them. */
export type NetworkPolicy = KubeObject<{
  podSelector: {
    matchLabels: Record<string, string>;
    matchExpressions: { key: string; operator: 'In'; values: string[] }[];
  };
  policyTypes: string[];
  ingress: Record<string, unknown>[];
  egress: Record<string, unknown>[];
}>;
export type PodDisruptionBudget = KubeObject<{
  maxUnavailable: number;
  unhealthyPodEvictionPolicy: 'AlwaysAllow' | 'IfHealthyBudget';
  selector: { matchLabels: Record<string, string> };
}>;

/** The part of a HorizontalPodAutoscaler that says whether it sets the number of runners. */
export type HorizontalPodAutoscaler = KubeObject<
  { scaleTargetRef: { kind: string; name: string } },
  { conditions?: Condition[] | null }
>;
export type ScaledObject = KubeObject<
  {
    scaleTargetRef: { apiVersion: string; kind: string; name: string };
    pollingInterval: number;
    minReplicaCount: number;
    maxReplicaCount: number;
    triggers: { type: string; metadata: Record<string, string> }[];
  },
  { conditions?: Condition[] | null }
>;

export const horizontalPodAutoscalers = namespacedResource<HorizontalPodAutoscaler>(
  'autoscaling',
  'v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
);
export const scaledObjects = namespacedResource<ScaledObject>(
  'keda.sh',
  'v1alpha1',
  'ScaledObject',
  'scaledobjects',
);
export const networkPolicies = namespacedResource<NetworkPolicy>(
  'networking.k8s.io',
  'v1',
  'NetworkPolicy',
  'networkpolicies',
);
export const podDisruptionBudgets = namespacedResource<PodDisruptionBudget>(
  'policy',
  'v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
