/** The child runs that a node started: that of a workflow node, and those of the tools of an agent. */
import { useQuery } from '@tanstack/react-query';
import { LABEL } from '../../api/group.ts';
import { listObjects } from '../kube/objects.ts';
import { RUNS } from '../kube/resources.ts';
import type { RunAt } from './live/runAt.ts';
import type { NodeView } from './live/nodeView.ts';
import { ChildLink } from './live/ChildLink.tsx';

/** More are not listed. The transcript names the child run of each call. */
const MOST = 100;
const READ_AGAIN_MS = 2_000;

type Props = { at: RunAt; node: NodeView; hasWorkflowTools: boolean };

export function StartedRuns({ at, node, hasWorkflowTools }: Props) {
  return (
    <>
      {node.run !== undefined && <ChildLink project={at.namespace} run={node.run} />}
      {hasWorkflowTools && node.items === undefined && <ToolRuns at={at} node={node} />}
    </>
  );
}

function ToolRuns({
  at: { namespace, run },
  node: { id, phase, run: shown },
}: Omit<Props, 'hasWorkflowTools'>) {
  const { data = [] } = useQuery({
    queryKey: ['tool-runs', namespace, run, id, phase],
    queryFn: async ({ signal }) => {
      const labelSelector = `${LABEL.parent}=${run}`;
      const { items } = await listObjects(RUNS, namespace, { labelSelector, limit: MOST, signal });
      return items.filter(({ spec }) => spec.parent?.node === id).map(({ metadata }) => metadata.name);
    },
    refetchInterval: phase === 'Running' || phase === 'Waiting' ? READ_AGAIN_MS : false,
  });
  return data
    .filter((child) => child !== shown)
    .map((child) => <ChildLink key={child} project={namespace} run={child} />);
}
