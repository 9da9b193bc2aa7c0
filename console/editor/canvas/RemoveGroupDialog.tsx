/** Asks whether the body of a group is removed with the group. */
import { Button, Group, Modal, Text } from '@mantine/core';
import { memo } from 'react';
import { count } from '../../ui/format.ts';
import { scopesOf } from '../model/scopes.ts';
import { removeSelectedNodes } from '../store/commands.ts';
import { useEditorPart, useEditorStore } from '../store/store.ts';

export const RemoveGroupDialog = memo(function RemoveGroupDialog() {
  const store = useEditorStore();
  const removing = useEditorPart((state) => state.removing);
  const nodes = useEditorPart(({ draft }) => draft.spec.nodes);
  const { bodyOf } = scopesOf(nodes);
  const inside = new Set((removing ?? []).flatMap(bodyOf)).size;
  const groups = (removing ?? []).filter((id) => bodyOf(id).length > 0);
  return (
    <Modal
      opened={removing !== undefined}
      onClose={() => store.askRemoval(undefined)}
      size="lg"
      title={
        groups.length === 1 ? `Remove the group ${groups[0]}?` : `Remove ${count(groups.length, 'group')}?`
      }
    >
      <Text size="sm" mb="md">
        {count(inside, 'node is', 'nodes are')} inside. You can keep {inside === 1 ? 'it' : 'them'} in place
        of the group.
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => store.askRemoval(undefined)}>
          Cancel
        </Button>
        <Button variant="light" color="red" onClick={() => removeSelectedNodes(store, true)}>
          Remove with {inside === 1 ? 'its node' : `its ${inside} nodes`}
        </Button>
        <Button data-autofocus onClick={() => removeSelectedNodes(store, false)}>
          Keep {inside === 1 ? 'the node' : 'the nodes'}
        </Button>
      </Group>
    </Modal>
  );
});
