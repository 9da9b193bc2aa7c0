/**
 * The display names of the nodes of a workflow as it is now, for lists, which name nodes of runs of several
 * versions. Read once for some minutes: names change rarely, and one that is a little old still names the
 * node.
 */
import { queryOptions } from '@tanstack/react-query';
import { ApiFailure } from '../http/failure.ts';
import { listObjects } from '../kube/objects.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { nodeNamesOf } from '../workflows/nodeNames.ts';

const FRESH_MS = 5 * 60_000;

/** None, if the workflow no longer exists or may not be read. */
export function presentNamesQuery(namespace: string, workflow: string) {
  return queryOptions({
    queryKey: ['node names', namespace, workflow],
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const fieldSelector = `metadata.name=${workflow}`;
      try {
        const { items } = await listObjects(WORKFLOWS, namespace, { fieldSelector, limit: 1, signal });
        return items[0]?.spec.nodes ?? [];
      } catch (error) {
        // An error would be asked for again by each row.
        if (error instanceof ApiFailure && error.status === 403) return [];
        throw error;
      }
    },
    select: nodeNamesOf,
  });
}
