/** The URL of the chat page, while it is served. */
import { Anchor, Text } from '@mantine/core';
import type { WorkflowStatus } from '../../../api/workflow.ts';

export function ChatPanel({ status }: { status: WorkflowStatus | undefined }) {
  const url = status?.url;
  if (url === undefined) return null;
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      Chat page:{' '}
      <Anchor href={url} target="_blank" rel="noreferrer">
        {url}
      </Anchor>
    </Text>
  );
}
