/** A banner above the editor that takes one line on a narrow screen, until the user shows the rest of it. */
import { ActionIcon, Alert, Group } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import classes from './editor.module.css';

type Props = {
  color: 'blue' | 'yellow';
  icon: ReactNode;
  /** Texts. Collapsed, the beginning of the first one is shown. */
  children: ReactNode;
  /** Buttons. Collapsed, they are hidden. */
  actions?: ReactNode;
};

export function CompactBanner({ color, icon, children, actions }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Alert
      color={color}
      variant="light"
      radius={0}
      py={6}
      icon={icon}
      classNames={{ wrapper: classes['banner'] ?? '', icon: classes['bannerIcon'] ?? '' }}
      role="status"
    >
      <div className={classes['compact']} data-open={isOpen || undefined}>
        <div className={classes['compactText']}>{children}</div>
        <ActionIcon
          variant="subtle"
          color="gray"
          className={classes['compactToggle'] ?? ''}
          aria-label={isOpen ? 'Show less' : 'Show more'}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? <IconChevronUp size={16} /> : <IconChevronDown size={16} />}
        </ActionIcon>
        <Group gap="xs" className={classes['compactActions'] ?? ''}>
          {actions}
        </Group>
      </div>
    </Alert>
  );
}
