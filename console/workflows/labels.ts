/** The labels of workflows by which the list can be filtered. Pure. */
import type { ObjectMeta } from '../kube/resources.ts';

type Labeled = { metadata: Pick<ObjectMeta, 'labels'> };

/** `all`: no filter. */
export const ANY_LABEL = 'all';

/** Labels that tools write for themselves, with a domain in front: nobody searches for them. */
const OF_TOOLS =
  /^(?:app\.kubernetes\.io\/(?:instance|managed-by|version)|[^/]*(?:helm\.sh|fluxcd\.io|argoproj\.io)\/.*)$/;

/** The labels of a workflow as they are written: `team=billing`, or the key alone if it has no value. */
export function labelsOf({ metadata }: Labeled): string[] {
  return Object.entries(metadata.labels ?? {})
    .filter(([key]) => !OF_TOOLS.test(key))
    .map(([key, value]) => (value === '' ? key : `${key}=${value}`));
}

/** All labels of these workflows, each once, in order. */
export function labelsIn(items: readonly Labeled[]): string[] {
  return [...new Set(items.flatMap(labelsOf))].toSorted();
}
