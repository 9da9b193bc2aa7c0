/**
 * The conversation of an agent: messages, answers of the model, and tool calls that open. Live and from the
 * record. All content is shown as plain text.
 */
import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useState, useSyncExternalStore } from 'react';
import { stateOf, messagesOf, type Conversation } from '../live/conversation.ts';
import type { RunAt } from '../live/runAt.ts';
import { LiveText } from '../live/LiveText.tsx';
import type { NodeView } from '../live/nodeView.ts';
import { textsOf } from '../live/runStore.ts';
import { countsText } from './countsText.ts';
import { MessageView } from './MessageView.tsx';
import classes from './Conversation.module.css';

type Props = {
  at: RunAt | undefined;
  node: NodeView;
  conversation: Conversation;
};

export function ConversationView({ at, node, conversation }: Props) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  // An agent waits while its tool calls wait for child runs.
  const isLive = node.phase === 'Running' || node.phase === 'Waiting';
  const messages = messagesOf(conversation);
  const calls = messages.flatMap((message) => message.calls);
  const areAllOpen = calls.every(({ position }) => opened.has(position));
  const toggle = (position: number): void => {
    const next = new Set(opened);
    if (!next.delete(position)) next.add(position);
    setOpened(next);
  };
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs" wrap="wrap" mih={26}>
        <Text size="xs" c="dimmed">
          {countsText(node, conversation)}
        </Text>
        {calls.length > 1 && (
          <Button
            variant="default"
            onClick={() => setOpened(new Set(areAllOpen ? [] : calls.map(({ position }) => position)))}
          >
            {areAllOpen ? 'Collapse all calls' : 'Expand all calls'}
          </Button>
        )}
      </Group>
      <ol className={classes['messages'] ?? ''}>
        {messages.map((message) => (
          <MessageView
            key={message.position}
            project={at?.namespace}
            message={message}
            opened={opened}
            onToggle={toggle}
            isLive={isLive}
          />
        ))}
      </ol>
      {isLive && at !== undefined && <Progress at={at} nodeId={node.id} conversation={conversation} />}
    </Stack>
  );
}

type ProgressProps = { at: RunAt; nodeId: string; conversation: Conversation };

/** What the agent does now, with the text that the model is writing. */
function Progress({ at, nodeId, conversation }: ProgressProps) {
  const isWriting = useIsWriting(at, nodeId);
  return (
    <Stack gap={6}>
      <Group gap={8} role="status" wrap="nowrap" align="center">
        <Loader size={14} />
        <Text size="sm" className={classes['name'] ?? ''}>
          {isWriting ? 'The model is writing…' : doing(conversation)}
        </Text>
      </Group>
      <div hidden={!isWriting}>
        <LiveText at={at} nodeId={nodeId} />
      </div>
    </Stack>
  );
}

function useIsWriting({ namespace, workflow, run }: RunAt, nodeId: string): boolean {
  const texts = textsOf({ namespace, workflow, run });
  return useSyncExternalStore(
    (listener) => texts?.subscribe(listener) ?? (() => {}),
    () => (texts?.read(nodeId).text ?? '') !== '',
  );
}

function doing({ entries }: Conversation): string {
  const calls = [...entries.values()].filter(({ role }) => role === 'Tool');
  const running = calls.filter((entry) => stateOf(entry) === 'running').map(({ tool = 'tool' }) => tool);
  if (running.length > 0) return `Calling ${[...new Set(running)].join(', ')}…`;
  return 'Waiting for the model…';
}
