/** The child runs that a workflow node with `forEach` started for one item. */
import { useQuery } from '@tanstack/react-query';
import { LABEL } from '../../api/group.ts';
import { listObjects } from '../kube/objects.ts';
import { RUNS } from '../kube/resources.ts';
import type { RunAt } from './live/follow.ts';
import { ChildLink } from './NodeNotes.tsx';

/** One for each attempt. More are not listed. */
const MOST = 10;
/** A child is recorded soon after it was accepted. */
const READ_AGAIN_MS = 2_000;
const MOST_READS = 10;

type Props = { at: RunAt; node: string; index: number };

export function ItemRuns({ at: { namespace, run }, node, index }: Props) {
  const { data = [] } = useQuery({
    queryKey: ['item-runs', namespace, run, node, index],
    queryFn: async ({ signal }) => {
      const labelSelector = `${LABEL.parent}=${run},${LABEL.parentItem}=${index}`;
      const { items } = await listObjects(RUNS, namespace, { labelSelector, limit: MOST, signal });
      return items.filter(({ spec }) => spec.parent?.node === node).map(({ metadata }) => metadata.name);
    },
    refetchInterval: ({ state: { data: found = [], dataUpdateCount } }) =>
      found.length === 0 && dataUpdateCount < MOST_READS ? READ_AGAIN_MS : false,
  });
  return data.map((child) => <ChildLink key={child} project={namespace} run={child} />);
}
