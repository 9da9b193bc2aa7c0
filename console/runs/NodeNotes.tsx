/** Notes on a node of a run: what it waits for, what a reference found, and whose item it shows. */
import { Alert, Text } from '@mantine/core';
import { IconClockPause } from '@tabler/icons-react';
import { foundText } from '../../api/expression/found.ts';
import { sampleText, waitText, type NodeView } from './live/nodeView.ts';

export function WaitNote({ node: { phase, waitingFor } }: { node: NodeView }) {
  if (phase !== 'Waiting' || waitingFor === undefined) return null;
  return (
    <Alert color="yellow" variant="light" p="xs" icon={<IconClockPause />}>
      <Text size="sm">{waitText(waitingFor)}</Text>
      {waitingFor.callback !== undefined && (
        <Text size="sm">
          The console never shows its URL, with which anybody can end the wait. Take it from where the
          workflow has sent it.
        </Text>
      )}
    </Alert>
  );
}

/** What there was in place of the value of a reference. */
export function FoundNote({ missing }: Pick<NodeView, 'missing'>) {
  const text = missing && foundText(missing);
  if (text === undefined) return null;
  return (
    <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
      {text}
    </Text>
  );
}

export function SampleNote({ item }: { item: number }) {
  return (
    <Text size="xs" c="dimmed">
      {sampleText(item)}
    </Text>
  );
}
