/** Asks what becomes of changes that are not saved, before a workflow is switched on: what is saved is what runs. */
import { Button, Group, Modal, Text } from '@mantine/core';

type Props = {
  onClose: () => void;
  /** True: save the changes first. */
  onAnswer: (saves: boolean) => Promise<void>;
};

export function SaveFirst({ onClose, onAnswer }: Props) {
  return (
    <Modal opened onClose={onClose} title="Unsaved changes">
      <Text size="sm" mb="md">
        Only saved changes run. Save them before you activate the workflow?
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="default" onClick={() => void onAnswer(false)}>
          Activate without saving
        </Button>
        <Button data-autofocus onClick={() => void onAnswer(true)}>
          Save and activate
        </Button>
      </Group>
    </Modal>
  );
}
