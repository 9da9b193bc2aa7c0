/** The conversation of a node, live or from its record, or why there is none to show. */
import { Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { conversationOf, type Conversation } from '../live/conversation.ts';
import type { RunAt } from '../live/runAt.ts';
import type { NodeView } from '../live/nodeView.ts';
import { isEnded } from '../live/runState.ts';
import { REDACTED } from '../output/OutputView.tsx';
import { countsText } from './countsText.ts';
import { ConversationView } from './ConversationView.tsx';

type Props = {
  at: RunAt | undefined;
  node: NodeView;
  /** As live events told it. */
  live: Conversation | undefined;
  /** Whether live events withhold it. */
  isWithheld: boolean;
};

export function NodeConversation({ at, node, live, isWithheld }: Props) {
  const { transcript } = node;
  const recorded = useMemo(() => transcript && conversationOf(transcript), [transcript]);
  const conversation = recorded ?? live;
  if (conversation !== undefined) return <ConversationView at={at} node={node} conversation={conversation} />;
  return (
    <Stack gap="xs">
      {node.agent !== undefined && isEnded(node.phase) && (
        <Text size="xs" c="dimmed">
          {countsText(node)}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {isWithheld || isEnded(node.phase) ? REDACTED : 'The agent is starting.'}
      </Text>
    </Stack>
  );
}
