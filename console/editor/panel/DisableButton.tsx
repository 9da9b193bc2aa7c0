/** Disables or enables the node of the panel, as the key D does for the selection. */
import { Button, Tooltip } from '@mantine/core';
import { switchNodes, switchOf } from '../model/disabling.ts';
import { useEditor } from '../store/store.ts';

/** Nothing for a trigger. */
export function DisableButton({ id }: { id: string }) {
  const { draft, apply, isReadOnly } = useEditor();
  const action = switchOf(draft, [id]);
  if (action === undefined || isReadOnly) return null;
  const label = action === 'Disable' ? 'Disable: runs skip the node (D)' : 'Enable the node (D)';
  return (
    <Tooltip label={label}>
      <Button
        variant={action === 'Enable' ? 'light' : 'subtle'}
        color="gray"
        size="compact-sm"
        fw={400}
        px={6}
        style={{ flexShrink: 0 }}
        aria-label={`${action} the node`}
        aria-keyshortcuts="d"
        onClick={() => apply((old) => switchNodes(old, [id]))}
      >
        {action}
      </Button>
    </Tooltip>
  );
}
