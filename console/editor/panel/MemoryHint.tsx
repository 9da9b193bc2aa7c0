/** A hint for an agent that forgets the earlier messages of its chat, with a button that adds a memory. */
import { Alert, Button, Text } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { missingMemoryKey } from '../../workflows/chatMemory.ts';
import { useEditorPart } from '../store/store.ts';
import type { Change } from './LoopFields.tsx';

export function MemoryHint({ id, change }: { id: string; change: Change }) {
  const nodes = useEditorPart((state) => state.draft.spec.nodes);
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const key = missingMemoryKey(nodes, id);
  if (key === undefined) return null;
  const add = (): void =>
    change((node) => (node.agent ? { ...node, agent: { ...node.agent, memory: { key } } } : node), 'memory');
  return (
    <Alert color="blue" variant="light" p="xs" icon={<IconInfoCircle />}>
      <Text size="xs">
        The agent does not know the earlier messages of the chat: each message is a run of its own. A memory
        keeps the conversation of each session.
      </Text>
      {!isReadOnly && (
        <Button variant="default" mt={6} onClick={add}>
          Add a memory
        </Button>
      )}
    </Alert>
  );
}
