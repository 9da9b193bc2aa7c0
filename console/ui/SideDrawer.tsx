/**
 * Drawers at the right, whose content is loaded when they open, and the icons in a bar that open them. The
 * command palette opens them, too.
 */
import { ActionIcon, Drawer, Loader, Tooltip } from '@mantine/core';
import { Suspense, useEffect, useState, type ReactNode } from 'react';
import { useOfferedAction } from './offered.ts';
import tall from './tallDialog.module.css';

type Content = {
  /** The title of the drawer, and the name of its button. */
  label: string;
  /** On wide screens, in pixels. */
  width: number;
  /** The content has the height of the drawer, and scrolls by itself. */
  isFilled?: boolean;
  children: ReactNode;
};

type SideDrawerProps = Content & { opened: boolean; onClose: () => void };

export function SideDrawer({ label, width, isFilled = false, opened, onClose, children }: SideDrawerProps) {
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size={`min(${width}px, 100%)`}
      title={label}
      classNames={{ content: tall['content'] ?? '' }}
      {...(isFilled && { styles: FILLED })}
    >
      <Suspense fallback={<Loader role="progressbar" size="sm" aria-label="Loading" />}>{children}</Suspense>
    </Drawer>
  );
}

const FILLED = {
  content: { display: 'flex', flexDirection: 'column' },
  body: { flex: 1, minHeight: 0, display: 'flex', flexDirection: 'column' },
} as const;

/** The drawer closes whenever `closeOn` changes, and opens whenever `openOn` becomes another value. */
type DrawerButtonProps = Content & { icon: ReactNode; closeOn?: unknown; openOn?: unknown };

export function DrawerButton({ icon, closeOn, openOn, ...content }: DrawerButtonProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [closeOn]);
  useEffect(() => {
    if (openOn !== undefined) setOpen(true);
  }, [openOn]);
  const { label } = content;
  useOfferedAction(label, () => setOpen(true));
  return (
    <>
      <Tooltip label={label}>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label={label} onClick={() => setOpen(true)}>
          {icon}
        </ActionIcon>
      </Tooltip>
      <SideDrawer opened={isOpen} onClose={() => setOpen(false)} {...content} />
    </>
  );
}
