/** Says how a pasted workflow of n8n is imported. */
import { Button, Group, Modal, Text } from '@mantine/core';
import { count } from '../../ui/format.ts';
import { useReturnFocus } from '../../ui/useReturnFocus.ts';
import { N8nSteps } from '../../workflows/N8nSteps.tsx';

type Props = {
  /** How many nodes were pasted. */
  nodes: number;
  onClose: () => void;
};

export function N8nDialog({ nodes, onClose }: Props) {
  useReturnFocus();
  return (
    <Modal opened onClose={onClose} title="Import from n8n" size="lg">
      <Text size="sm" mb="xs">
        This is an n8n workflow with {count(nodes, 'node')}. Nothing was added.
      </Text>
      <N8nSteps />
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          Close
        </Button>
      </Group>
    </Modal>
  );
}
