/** What the node produced: in the run on the canvas, or else in the newest run in which it produced something. */
import { Alert, Group, Stack, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { NodeOutputs } from '../run/lastOutputs.ts';
import { LiveText } from '../run/LiveText.tsx';
import type { NodeView } from '../run/runState.ts';
import { useRunView, useShownRun } from '../run/runStore.ts';
import { RunToHere } from '../run/RunToHere.tsx';
import { PhaseLabel } from '../../runs/phases.tsx';

const OutputView = lazy(async () => ({ default: (await import('../../runs/OutputView.tsx')).OutputView }));

export function OutputTab({ nodeId, last }: { nodeId: string; last: NodeOutputs | undefined }) {
  const at = useShownRun();
  const { nodes } = useRunView();
  const node = nodes.get(nodeId);
  const output = node === undefined ? last : node.output;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {node !== undefined && <Progress node={node} />}
        <RunToHere nodeId={nodeId} />
      </Group>
      {node?.message !== undefined && (
        <Alert color={node.phase === 'Failed' ? 'red' : 'gray'} variant="light" p="xs" title={node.reason}>
          <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
            {node.message}
          </Text>
        </Alert>
      )}
      {at !== undefined && node?.phase === 'Running' && <LiveText at={at} nodeId={nodeId} />}
      {node === undefined && last !== undefined && (
        <Text size="xs" c="dimmed">
          From the last run in which this node produced something.
        </Text>
      )}
      {output === undefined ? (
        <NothingYet node={node} />
      ) : (
        <Suspense>
          <OutputView output={output} nodeId={nodeId} isTruncated={node?.truncated === true} />
        </Suspense>
      )}
    </Stack>
  );
}

/** Of a node that works or waits its state says enough. */
function NothingYet({ node }: { node: NodeView | undefined }) {
  if (node?.phase === 'Running' || node?.phase === 'Pending') return null;
  return (
    <Text size="xs" c="dimmed">
      Nothing yet. Run a test to see here what the node produces.
    </Text>
  );
}

function Progress({ node: { phase, attempts = 0 } }: { node: NodeView }) {
  return (
    <>
      <PhaseLabel phase={phase} />
      {attempts > 1 && <Text size="xs">{attempts} attempts</Text>}
    </>
  );
}
