/** Asks before a memory is deleted. */
import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { MemoryItem } from '../../api/memory.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { notifySuccess } from '../ui/notify.tsx';
import { deleteMemory, type WorkflowAt } from './memories.ts';

export function DeleteMemory({
  at,
  memory,
  onClose,
}: {
  at: WorkflowAt;
  memory: MemoryItem;
  onClose: (isDeleted: boolean) => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      await deleteMemory(at, memory);
      notifySuccess('Memory deleted');
      onClose(true);
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={() => onClose(false)} title="Delete this memory?">
      <Stack gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          This deletes what the agent "{memory.name}" remembers for this key, from test runs and from all
          others. This cannot be undone.
        </Text>
        <Code block fz="xs" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {memory.key}
        </Code>
        <Text size="sm" c="dimmed">
          Runs that were accepted before do not create it again. Records of runs, and what the agent sent, are
          kept.
        </Text>
        {failure !== undefined && <FailureNote error={failure} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => onClose(false)}>
            Cancel
          </Button>
          <Button color="red" loading={isBusy} onClick={() => void remove()}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
