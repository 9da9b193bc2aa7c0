/** The button of "Help me build" and its drawer. Hidden where it is not admitted or cannot be used. */
import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconSparkles } from '@tabler/icons-react';
import { lazy, useEffect } from 'react';
import { useOfferedAction } from '../../ui/offered.ts';
import { SideDrawer } from '../../ui/SideDrawer.tsx';
import { useMayBuild } from '../store/rights.ts';
import { useEditorPart } from '../store/store.ts';
import { closeBuild, openBuild, useBuildRequest } from '../../workflows/buildRequests.ts';

const BuildPanel = lazy(async () => ({ default: (await import('./BuildPanel.tsx')).BuildPanel }));

const LABEL = 'Help me build';

export function BuildButton() {
  const mayBuild = useMayBuild();
  const key = useEditorPart(({ namespace, name }) => `${namespace}/${name}`);
  const asked = useBuildRequest();
  // Otherwise it would be open in the next editor, with what was asked about this workflow.
  useEffect(() => closeBuild, []);
  useOfferedAction(LABEL, mayBuild ? () => openBuild() : undefined);
  if (!mayBuild) return null;
  return (
    // A group: on narrow screens the header lays out what is in it, not the group itself.
    <Group>
      <Tooltip label={LABEL}>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label={LABEL} onClick={() => openBuild()}>
          <IconSparkles size={18} />
        </ActionIcon>
      </Tooltip>
      <SideDrawer
        label={LABEL}
        width={900}
        opened={asked !== undefined && (asked.startsAt ?? key) === key}
        onClose={closeBuild}
      >
        <BuildPanel text={asked?.text ?? ''} onClose={closeBuild} />
      </SideDrawer>
    </Group>
  );
}
