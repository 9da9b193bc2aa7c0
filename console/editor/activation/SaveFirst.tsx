/** Asks what becomes of changes that are not saved, before a workflow is switched on: what is saved is what runs. */
import { Button, Group, Modal, Text } from '@mantine/core';

type Props = {
  onClose: () => void;
  /** True: save the changes first. */
  onAnswer: (saves: boolean) => Promise<void>;
};

export function SaveFirst({ onClose, onAnswer }: Props) {
  return (
    <Modal opened onClose={onClose} title="There are changes that are not saved">
      <Text size="sm" mb="md">
        What is saved is what runs. Save the changes before the workflow is switched on?
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="default" onClick={() => void onAnswer(false)}>
          Switch on without them
        </Button>
        <Button data-autofocus onClick={() => void onAnswer(true)}>
          Save and switch on
        </Button>
      </Group>
    </Modal>
  );
}
