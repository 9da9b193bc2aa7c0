/** Opens the list of keyboard shortcuts: by `?` on every page, and by buttons. */
import { useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useOfferedAction } from '../ui/offered.ts';
import { isTyping } from '../ui/isTyping.ts';
import { isLayerOpen } from '../ui/usePageKey.ts';

const KeysDialog = lazy(async () => ({ default: (await import('./KeysDialog.tsx')).KeysDialog }));

/** Buttons far from the shell ask by an event. */
const ASKED = 'windlass:keys';

/** Opens the list. */
export function openKeys(): void {
  document.dispatchEvent(new Event(ASKED));
}

/** Is on every page. The list closes on another page, but not where a filter arrives in the address late. */
export function Keys() {
  const [isOpen, setOpen] = useState(false);
  const page = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setOpen(false), [page]);
  useOfferedAction('Keyboard shortcuts', () => setOpen(true));
  useEffect(() => {
    const open = (): void => setOpen(true);
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
      if (key !== '?' || defaultPrevented || ctrlKey || metaKey || altKey || isTyping(target)) return;
      if (isLayerOpen()) return;
      event.preventDefault();
      open();
    };
    document.addEventListener('keydown', onKey);
    document.addEventListener(ASKED, open);
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener(ASKED, open);
    };
  }, []);
  return (
    isOpen && (
      <Suspense>
        <KeysDialog onClose={() => setOpen(false)} />
      </Suspense>
    )
  );
}
