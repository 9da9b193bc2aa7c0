/** Opens and closes the settings of the workflow. */
import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconSettings } from '@tabler/icons-react';
import { useOfferedAction } from '../../ui/offered.ts';
import { useEditorPart, useEditorStore } from '../store/store.ts';

export function SettingsButton() {
  const store = useEditorStore();
  const isOpen = useEditorPart(({ panel }) => panel !== undefined && 'setting' in panel);
  useOfferedAction('Workflow settings', () => store.openSettings());
  return (
    // On a narrow screen the header has its parts in one row, and none of their boxes.
    <Group>
      <Tooltip label="Workflow settings">
        <ActionIcon
          variant={isOpen ? 'light' : 'subtle'}
          color="gray"
          size="md"
          aria-label="Workflow settings"
          aria-expanded={isOpen}
          data-settings
          onClick={() => (isOpen ? store.closePanel() : store.openSettings())}
        >
          <IconSettings size={18} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
