/** The button and the keys (Ctrl+K) that open the command palette. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { keepTyping } from '../ui/keepTyping.ts';
import { usePageKey } from '../ui/usePageKey.ts';

const loadPalette = () => import('./Palette.tsx');
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }));

/** After the first page is on the screen. */
const LOAD_AFTER_MS = 2_000;

export function PaletteButton({ project }: { project: string }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette(), LOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const open = (): void => {
    if (!isOpen) keepTyping();
    setOpen(true);
  };
  usePageKey('mod+K', open, { whileTyping: true });
  return (
    <>
      <Tooltip label="Search (Ctrl+K)">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Search"
          aria-keyshortcuts="Control+K"
          onClick={open}
        >
          <IconSearch size={18} />
        </ActionIcon>
      </Tooltip>
      {isOpen && (
        <Suspense>
          <Palette project={project} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
