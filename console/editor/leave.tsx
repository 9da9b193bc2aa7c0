/** Asks before unsaved changes are lost. */
import { Button, Group, Modal, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { useEditorPart, useEditorStore } from './store/store.ts';

export function LeaveGuard() {
  const store = useEditorStore();
  const isUnsaved = () => store.get().isDirty && store.get().mode === 'edit';
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved() && current.pathname !== next.pathname,
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  const [isSaving, setSaving] = useState(false);
  const isAskingLive = useEditorPart((state) => state.isAskingLive);
  const saveAndGo = async (): Promise<void> => {
    setSaving(true);
    const isSaved = await store.save();
    setSaving(false);
    if (isSaved) blocker.proceed?.();
    else blocker.reset?.();
  };
  return (
    <Modal
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      closeOnEscape={!isAskingLive}
      title="Unsaved changes"
    >
      <Text size="sm" mb="md">
        If you leave without saving, you lose your changes to this workflow.
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => blocker.reset?.()}>
          Stay
        </Button>
        <Button variant="light" color="red" onClick={() => blocker.proceed?.()}>
          Leave without saving
        </Button>
        <Button loading={isSaving} onClick={() => void saveAndGo()}>
          Save and leave
        </Button>
      </Group>
    </Modal>
  );
}
