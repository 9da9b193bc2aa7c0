/** Disables or enables the node of the panel, as the key D does for the selection. */
import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconPower } from '@tabler/icons-react';
import { switchNodes, switchOf } from '../model/disabling.ts';
import { useEditor } from '../store/store.ts';

/** Nothing for a trigger. */
export function DisableButton({ id }: { id: string }) {
  const { draft, apply, isReadOnly } = useEditor();
  const action = switchOf(draft, [id]);
  if (action === undefined || isReadOnly) return null;
  const isEnabled = action === 'Disable';
  const button = {
    color: 'gray',
    'aria-label': `${action} the node`,
    'aria-keyshortcuts': 'd',
    onClick: () => apply((old) => switchNodes(old, [id])),
  };
  return (
    <Tooltip label={isEnabled ? 'Disable: runs skip the node (D)' : 'Enable the node (D)'}>
      {isEnabled ? (
        <ActionIcon variant="subtle" {...button}>
          <IconPower size={16} />
        </ActionIcon>
      ) : (
        // A power button that is lit would tell that the node is on.
        <Button variant="light" size="compact-sm" px={6} style={{ flexShrink: 0 }} {...button}>
          Enable
        </Button>
      )}
    </Tooltip>
  );
}
