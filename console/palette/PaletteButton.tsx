/** The button and the keys (Ctrl+K) that open the command palette, which is loaded then. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';

const Palette = lazy(async () => ({ default: (await import('./Palette.tsx')).Palette }));

export function PaletteButton({ project }: { project: string }) {
  const [isOpen, setOpen] = useState(false);
  // Also while the user types.
  useHotkeys([['mod+K', () => setOpen(true)]], [], true);
  return (
    <>
      <Tooltip label="Search (Ctrl+K)">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Search"
          aria-keyshortcuts="Control+K"
          onClick={() => setOpen(true)}
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
