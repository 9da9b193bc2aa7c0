/** Notes on a node of a run: what it waits for, and whose item it shows. */
import { Alert, Text } from '@mantine/core';
import { IconClockPause } from '@tabler/icons-react';
import { sampleText, waitText, type NodeView } from './live/nodeView.ts';

export function WaitNote({ node: { phase, waitingFor } }: { node: NodeView }) {
  if (phase !== 'Waiting' || waitingFor === undefined) return null;
  return (
    <Alert color="yellow" variant="light" p="xs" icon={<IconClockPause />}>
      <Text size="sm">{waitText(waitingFor)}</Text>
    </Alert>
  );
}

export function SampleNote({ item }: { item: number }) {
  return (
    <Text size="xs" c="dimmed">
      {sampleText(item)}
    </Text>
  );
}
