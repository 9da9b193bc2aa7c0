/**
 * The child runs that a loop started for one item or for all: of its workflow node, or of those of its body.
 */
import { useQuery } from '@tanstack/react-query';
import { LABEL } from '../../api/group.ts';
import { listObjects } from '../kube/objects.ts';
import { RUNS } from '../kube/resources.ts';
import type { RunAt } from './live/runAt.ts';
import { ChildLink } from './live/ChildLink.tsx';
import { TextLink } from '../ui/links.tsx';
import { itemRunsOf } from './itemRunsOf.ts';

/** One for each attempt. More are not listed. */
const MOST = 10;
/** A child is recorded soon after it was accepted. */
const READ_AGAIN_MS = 2_000;
const MOST_READS = 10;
/** As many are read for the first of all items. */
const MOST_OF_ALL = 100;

/** `nodes`: the workflow nodes that are executed once for each item. */
type Props = { at: RunAt; nodes: readonly string[]; index: number };

/** The first child runs of all items, by their items, with a link to the list of all. */
export function AllItemRuns({ at: { namespace, run }, nodes }: Omit<Props, 'index'>) {
  const { data = [] } = useQuery({
    queryKey: ['item-runs', namespace, run, nodes],
    queryFn: async ({ signal }) => {
      const labelSelector = `${LABEL.parent}=${run}`;
      const { items } = await listObjects(RUNS, namespace, { labelSelector, limit: MOST_OF_ALL, signal });
      return itemRunsOf(items, nodes);
    },
    refetchInterval: ({ state: { dataUpdateCount } }) =>
      dataUpdateCount < MOST_READS ? READ_AGAIN_MS : false,
  });
  if (data.length === 0) return null;
  return (
    <div role="group" aria-label="Child runs">
      {data.slice(0, MOST).map(({ name, item }) => (
        <ChildLink key={name} project={namespace} run={name} item={item} />
      ))}
      <TextLink size="sm" to="/p/$project/runs" params={{ project: namespace }} search={{ parent: run }}>
        All child runs of this run
      </TextLink>
    </div>
  );
}

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
