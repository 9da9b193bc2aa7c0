/** The child runs that one item of a loop started: of its workflow node, or of those of its body. */
import { useQuery } from '@tanstack/react-query';
import { LABEL } from '../../api/group.ts';
import { listObjects } from '../kube/objects.ts';
import { RUNS } from '../kube/resources.ts';
import type { RunAt } from './live/follow.ts';
import { ChildLink } from './live/ChildLink.tsx';

/** One for each attempt. More are not listed. */
const MOST = 10;
/** A child is recorded soon after it was accepted. */
const READ_AGAIN_MS = 2_000;
const MOST_READS = 10;

/** `nodes`: the workflow nodes that are executed once for each item. */
type Props = { at: RunAt; nodes: readonly string[]; index: number };

export function ItemRuns({ at: { namespace, run }, nodes, index }: Props) {
  const { data = [] } = useQuery({
    queryKey: ['item-runs', namespace, run, nodes, index],
    queryFn: async ({ signal }) => {
      const labelSelector = `${LABEL.parent}=${run},${LABEL.parentItem}=${index}`;
      const { items } = await listObjects(RUNS, namespace, { labelSelector, limit: MOST, signal });
      return items
        .filter(({ spec }) => nodes.includes(spec.parent?.node ?? ''))
        .map(({ metadata }) => metadata.name);
    },
    refetchInterval: ({ state: { data: found = [], dataUpdateCount } }) =>
      found.length === 0 && dataUpdateCount < MOST_READS ? READ_AGAIN_MS : false,
  });
  return data.map((child) => <ChildLink key={child} project={namespace} run={child} />);
}
