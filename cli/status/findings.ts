/** What is unhealthy in projects, why, and the command that helps. Pure. */
import type { Credential, ProjectSettings, Workflow, WorkflowRun } from '../../api/kinds.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { nameOf } from '../cluster/objectName.ts';
import { phaseOf } from '../runs/show.ts';

export type StatusFinding = {
  severity: 'error' | 'warning';
  namespace: string;
  /** As `-o name` prints it. */
  object: string;
  reason: string;
  message: string;
  /** The command that mends it, or shows more. */
  command: string;
};

export type Observed = {
  workflows: readonly Workflow[];
  settings: readonly ProjectSettings[];
  credentials: readonly Credential[];
  runs: readonly WorkflowRun[];
  /** Milliseconds since 1970. */
  now: number;
};

/** Failures of the last day count. */
const RECENT_MS = 86_400_000;
/** A run that is not claimed for that long has no runner. */
const CLAIM_MS = 60_000;

/**
 * In the order of importance: workflows that are not in effect, settings that are not, credentials that do
 * not work, runs that nobody executes, workflows whose runs fail.
 */
export function statusFindings(observed: Observed): StatusFinding[] {
  return [
    ...observed.workflows.flatMap(ofWorkflow),
    ...observed.settings.flatMap(ofSettings),
    ...observed.credentials.flatMap(ofCredential),
    ...unclaimed(observed),
    ...failing(observed),
  ].toSorted((one, other) => rank(one) - rank(other));
}

const rank = ({ severity }: StatusFinding): number => (severity === 'error' ? 0 : 1);

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? '';

function ofWorkflow(workflow: Workflow): StatusFinding[] {
  const { name } = workflow.metadata;
  const ready = findCondition(workflow.status?.conditions, 'Ready');
  if (!ready || ready.status === 'True') return [];
  const isStalled = findCondition(workflow.status?.conditions, 'Stalled')?.status === 'True';
  const namespace = namespaceOf(workflow);
  const { reason, message } = ready;
  return [
    {
      severity: ready.status === 'False' || isStalled ? 'error' : 'warning',
      namespace,
      object: nameOf(workflow),
      reason,
      message,
      command:
        POOL_COMMANDS[reason]?.(namespace) ?? `kubectl edit workflows.windlass.dev ${name} -n ${namespace}`,
    },
  ];
}

const describePods = (namespace: string): string =>
  `kubectl describe pods -l app.kubernetes.io/name=windlass-runner -n ${namespace}`;

/** What shows more where the object need not change, but runners cannot start or be scaled. */
const POOL_COMMANDS: Readonly<Record<string, (namespace: string) => string>> = {
  PoolStarting: describePods,
  PodsNotReady: describePods,
  RollingOut: describePods,
  PodsRefused: (namespace) => `kubectl describe resourcequotas,limitranges -n ${namespace}`,
  ScalingConflict: (namespace) => `kubectl get hpa -n ${namespace}`,
  ScalerFailing: (namespace) => `kubectl describe hpa -n ${namespace}`,
};

function ofSettings(settings: ProjectSettings): StatusFinding[] {
  const { name } = settings.metadata;
  const ready = findCondition(settings.status?.conditions, 'Ready');
  if (!ready || ready.status === 'True') return [];
  const namespace = namespaceOf(settings);
  const { reason, message } = ready;
  return [
    {
      severity: ready.status === 'False' ? 'error' : 'warning',
      namespace,
      object: nameOf(settings),
      reason,
      message,
      command:
        POOL_COMMANDS[reason]?.(namespace) ??
        `kubectl edit projectsettings.windlass.dev ${name} -n ${namespace}`,
    },
  ];
}

const COMMANDS: Readonly<Record<string, (name: string, namespace: string) => string>> = {
  NotConnected: (name, namespace) => `windlass connect ${name} -n ${namespace}`,
  Expired: (name, namespace) => `windlass connect ${name} -n ${namespace}`,
  MissingScope: (name, namespace) => `windlass connect ${name} -n ${namespace}`,
  SecretMissing: (_name, namespace) => `kubectl create secret generic NAME -n ${namespace}`,
};

function ofCredential(credential: Credential): StatusFinding[] {
  const { name } = credential.metadata;
  const ready = findCondition(credential.status?.conditions, 'Ready');
  if (!ready || ready.status === 'True') return [];
  const namespace = namespaceOf(credential);
  const { reason, message } = ready;
  return [
    {
      severity: ready.status === 'False' ? 'error' : 'warning',
      namespace,
      object: nameOf(credential),
      reason,
      message,
      command: (COMMANDS[reason] ?? checkCommand)(name, namespace),
    },
  ];
}

const checkCommand = (name: string, namespace: string): string => `windlass check ${name} -n ${namespace}`;

function unclaimed({ runs, now }: Observed): StatusFinding[] {
  const waiting = runs.filter(
    (run) => phaseOf(run) === 'Pending' && now - Date.parse(run.metadata.creationTimestamp ?? '') > CLAIM_MS,
  );
  return [...Map.groupBy(waiting, namespaceOf)].map(([namespace, [first, ...more]]) => ({
    severity: 'error',
    namespace,
    object: first ? nameOf(first) : '',
    reason: 'NotClaimed',
    message: `${more.length === 0 ? '1 run has' : `${more.length + 1} runs have`} waited for a runner for more than a minute`,
    command: `kubectl get pods -n ${namespace}`,
  }));
}

function failing({ runs, now }: Observed): StatusFinding[] {
  const failed = runs.filter(
    (run) =>
      phaseOf(run) === 'Failed' &&
      run.spec.test !== true &&
      now - Date.parse(run.status?.completionTime ?? '') < RECENT_MS,
  );
  const groups = Map.groupBy(failed, (run) => `${namespaceOf(run)}/${run.spec.workflow}`);
  return [...groups.values()].map((group) => {
    const [last] = group.toSorted((one, other) => endOf(other).localeCompare(endOf(one)));
    const namespace = last ? namespaceOf(last) : '';
    const name = last?.metadata.name ?? '';
    return {
      severity: 'warning',
      namespace,
      object: `workflow.windlass.dev/${last?.spec.workflow ?? ''}`,
      reason: last?.status?.reason ?? 'Failed',
      message: `${group.length === 1 ? '1 recorded run' : `${group.length} recorded runs`} failed in the last day, the last one ${name}: ${last?.status?.message ?? ''}`,
      command: `windlass get ${name} -n ${namespace}`,
    };
  });
}

const endOf = ({ status }: WorkflowRun): string => status?.completionTime ?? '';
