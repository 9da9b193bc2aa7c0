/** Whether the panel is expanded over the canvas, which is stored in the browser and kept for other nodes. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { IconArrowsDiagonalMinimize2, IconLayoutColumns } from '@tabler/icons-react';
import classes from './NodePanel.module.css';

/** Three columns need this width. */
const WIDE = '(min-width: 62em)';

export function useExpanded(): { isExpanded: boolean; toggle: () => void } {
  const isWide = useMediaQuery(WIDE, false, { getInitialValueInEffect: false });
  const [stored, setStored] = useLocalStorage({
    key: 'windlass.panelExpanded',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  return { isExpanded: stored && isWide, toggle: () => setStored(!stored) };
}

export function ExpandButton({ isExpanded, onToggle }: { isExpanded: boolean; onToggle: () => void }) {
  const label = isExpanded ? 'Show the canvas beside the panel' : 'Input and output side by side';
  const Icon = isExpanded ? IconArrowsDiagonalMinimize2 : IconLayoutColumns;
  return (
    // Above it there may be a banner with buttons.
    <Tooltip label={label} position="bottom">
      <ActionIcon
        variant="subtle"
        color="gray"
        className={classes['expand'] ?? ''}
        aria-label={label}
        aria-pressed={isExpanded}
        onClick={onToggle}
      >
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
