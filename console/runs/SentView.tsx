/** The parameters that a node has sent, with references replaced by their values. Always plain text. */
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconCopy, IconScissors } from '@tabler/icons-react';
import { labelOf } from '../forms/labels.ts';
import { copyText } from '../ui/copy.tsx';
import { sentOf, valueText } from './live/sentValues.ts';
import type { NodeView } from './live/nodeView.ts';

export function SentView({ node }: { node: NodeView }) {
  const sent = sentOf(node);
  if (sent === undefined) return null;
  const { parameters, isTruncated, isMock } = sent;
  return (
    <Stack gap={8}>
      {isMock && (
        <Text size="xs" c="dimmed">
          A mock took the place of the node: this would have been sent.
        </Text>
      )}
      {node.phase === 'Failed' && !isMock && (
        <Text size="xs" c="dimmed">
          The node failed, perhaps before it sent this.
        </Text>
      )}
      {node.items !== undefined && (
        <Text size="xs" c="dimmed">
          Of one item: the first that failed, or else the last that ended.
        </Text>
      )}
      {isTruncated && (
        <Alert color="yellow" variant="light" p="xs" icon={<IconScissors />}>
          Shown up to 8 KiB. The node sent all of it.
        </Alert>
      )}
      <Group justify="flex-end">
        <Button
          variant="default"
          leftSection={<IconCopy size={13} />}
          onClick={() => void copyText(valueText(Object.fromEntries(parameters)), 'parameters')}
        >
          Copy
        </Button>
      </Group>
      {parameters.map(([name, value]) => (
        <div key={name}>
          <Text size="xs" fw={600} style={{ overflowWrap: 'anywhere' }} title={name}>
            {labelOf(name)}
          </Text>
          <Code
            block
            tabIndex={0}
            aria-label={`Sent: ${labelOf(name)}`}
            style={{ maxHeight: 240, overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
          >
            {valueText(value)}
          </Code>
        </div>
      ))}
    </Stack>
  );
}
