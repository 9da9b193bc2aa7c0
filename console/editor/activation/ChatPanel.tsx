/** The URL of the chat page of an active workflow. */
import { Anchor, Text } from '@mantine/core';

export function ChatPanel({ url }: { url: string | undefined }) {
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
