/**
 * The support bundle: what helps to find a fault, chosen field by field, so that no secret, event, output or
 * text of an author is in it. Pure.
 */
import type { Credential, Workflow, WorkflowRun } from '../../api/kinds.ts';
import { kindOf } from '../../api/workflow.ts';
import type { Condition, Pod } from '../../kube/resource.ts';
import type { Check } from './check.ts';
import type { Program } from './judge.ts';

export type Collected = {
  versions: Readonly<Record<string, string>>;
  checks: readonly Check[];
  programs: readonly Program[];
  pods: readonly Pod[];
  workflows: readonly Workflow[];
  credentials: readonly Credential[];
  runs: readonly WorkflowRun[];
};

/** Newest runs in a bundle. */
const MOST_RUNS = 200;

/** The content of the file. */
export function supportBundle(collected: Collected): object {
  const { versions, checks, programs, pods, workflows, credentials, runs } = collected;
  return {
    versions,
    checks,
    programs: programs.map(({ kind, metadata, spec, status }) => ({
      kind,
      name: metadata.name,
      replicas: spec?.replicas,
      readyReplicas: status?.readyReplicas ?? 0,
      images: (spec?.template.spec?.containers ?? []).map(({ image }) => image),
    })),
    pods: pods.map(podOf),
    workflows: workflows.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      active: spec.active,
      nodes: spec.nodes.map(kindOf),
      conditions: (status?.conditions ?? []).map(withoutMessage),
      runs: status?.runs,
    })),
    credentials: credentials.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      kind: Object.keys(spec)[0],
      conditions: (status?.conditions ?? []).map(withoutMessage),
    })),
    runs: runs.slice(-MOST_RUNS).map(runOf),
  };
}

/** Messages may quote what users wrote. */
const withoutMessage = ({ type, status, reason, lastTransitionTime }: Condition): object => ({
  type,
  status,
  reason,
  lastTransitionTime,
});

function podOf({ metadata, status }: Pod): object {
  return {
    name: metadata.name,
    phase: status?.phase,
    containers: (status?.containerStatuses ?? []).map(({ name, ready, restartCount, state }) => ({
      name,
      ready,
      restartCount,
      reason: state?.waiting?.reason ?? state?.terminated?.reason,
    })),
  };
}

function runOf({ metadata, spec, status }: WorkflowRun): object {
  return {
    name: metadata.name,
    workflow: spec.workflow,
    phase: status?.phase,
    reason: status?.reason,
    startTime: status?.startTime,
    completionTime: status?.completionTime,
    nodes: (status?.nodes ?? []).map(({ id, phase, attempts, reason }) => ({ id, phase, attempts, reason })),
  };
}
