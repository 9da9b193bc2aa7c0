/**
 * The display names of the nodes of a workflow as it is now, for what names nodes of runs of several
 * versions. Read once for some minutes: names change rarely.
 */
import { queryOptions } from '@tanstack/react-query';
import { listObjects } from '../kube/objects.ts';
import { WORKFLOWS } from '../kube/resources.ts';
import { nodeNamesOf } from '../workflows/nodeNames.ts';

const FRESH_MS = 5 * 60_000;

/** None, if the workflow no longer exists. */
export function presentNamesQuery(namespace: string, workflow: string) {
  return queryOptions({
    queryKey: ['node names', namespace, workflow],
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const fieldSelector = `metadata.name=${workflow}`;
      const { items } = await listObjects(WORKFLOWS, namespace, { fieldSelector, limit: 1, signal });
      return items[0]?.spec.nodes ?? [];
    },
    select: nodeNamesOf,
  });
}

/** The message of a run in two parts: the ID of the node that it begins with, and what follows it. */
export function messageParts(message: string): { node: string; rest: string } | undefined {
  const [, node, rest] = /^node (\w+): (.*)$/s.exec(message) ?? [];
  return node === undefined || rest === undefined ? undefined : { node, rest };
}
