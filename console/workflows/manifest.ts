/** Manifests and copies of workflows, without fields that the API server and tools added. */
import { apiVersionOf, WORKFLOWS, type ObjectMeta, type WorkflowObject } from '../kube/resources.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';

/** A workflow as a person wrote it, without a namespace. */
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>;
  spec: WorkflowSpec;
};

/**
 * Labels and annotations by which a tool would adopt a copy and change or delete it, or that say who
 * published the original.
 */
const TOOL_MARKS =
  /^(kubectl\.kubernetes\.io\/|argocd\.argoproj\.io\/|([a-z-]+\.)?toolkit\.fluxcd\.io\/|meta\.helm\.sh\/|helm\.sh\/|app\.kubernetes\.io\/managed-by$|windlass\.dev\/published-)/;

export function manifestOf({ metadata, spec }: Pick<WorkflowObject, 'metadata' | 'spec'>): Manifest {
  return {
    apiVersion: apiVersionOf(WORKFLOWS),
    kind: WORKFLOWS.kind,
    metadata: { name: metadata.name, ...keptMarks(metadata) },
    spec,
  };
}

/** The labels and annotations that people set. */
export function keptMarks({ labels, annotations }: Pick<ObjectMeta, 'labels' | 'annotations'>) {
  const kept = { labels: withoutTools(labels), annotations: withoutTools(annotations) };
  return {
    ...(Object.keys(kept.labels).length > 0 && { labels: kept.labels }),
    ...(Object.keys(kept.annotations).length > 0 && { annotations: kept.annotations }),
  };
}

function withoutTools(marks: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(marks).filter(([name]) => !TOOL_MARKS.test(name)));
}

/** The spec of a copy. It is inactive, so that two workflows do not do the same unintentionally. */
export function copiedSpec(
  { suspend: _ofTheOriginal, ...spec }: WorkflowSpec,
  displayName: string,
): WorkflowSpec {
  return { ...spec, displayName, active: false };
}
