/** Copy, cut and paste of nodes as YAML, between workflows, browsers and manifests. */
import { useEffect, type RefObject } from 'react';
import { parse } from 'yaml';
import { notifySuccess } from '../../ui/notify.tsx';
import { count } from '../../ui/format.ts';
import { yamlText } from '../../ui/yamlText.ts';
import { clipboardOf, fragmentOf, pasted, readFragment } from '../model/fragment.ts';
import type { EditorStore } from '../store/store.ts';
import { removeSelectedNodes } from '../store/commands.ts';
import { isForCanvas } from './keys.ts';

/** Handles the browser's own events while the canvas is shown. */
export function useClipboard(
  canvas: RefObject<HTMLElement | null>,
  store: EditorStore,
  show: (ids: readonly string[]) => void,
): void {
  useEffect(() => {
    const isOurs = ({ target }: Event) =>
      isForCanvas(canvas.current, target) && (document.getSelection()?.isCollapsed ?? true);
    const onCopy = (event: ClipboardEvent): void => {
      const { draft, selection, isReadOnly } = store.get();
      if (!isOurs(event) || selection.nodes.length === 0) return;
      event.preventDefault();
      event.clipboardData?.setData('text/plain', yamlText(clipboardOf(fragmentOf(draft, selection.nodes))));
      if (event.type === 'cut' && !isReadOnly) removeSelectedNodes(store, true);
      notifySuccess(`${count(selection.nodes.length, 'node')} copied`);
    };
    const onPaste = (event: ClipboardEvent): void => {
      if (!isOurs(event) || store.get().isReadOnly) return;
      const fragment = readFragment(parsed(event.clipboardData?.getData('text/plain') ?? ''));
      if (fragment === undefined) return;
      event.preventDefault();
      const { draft, ids } = pasted(store.get().draft, fragment);
      store.apply(() => draft);
      store.select({ nodes: ids });
      show(ids);
    };
    document.addEventListener('copy', onCopy);
    document.addEventListener('cut', onCopy);
    document.addEventListener('paste', onPaste);
    return () => {
      document.removeEventListener('copy', onCopy);
      document.removeEventListener('cut', onCopy);
      document.removeEventListener('paste', onPaste);
    };
  }, [canvas, store, show]);
}

function parsed(text: string): unknown {
  try {
    return text.length > 1_000_000 ? undefined : parse(text);
  } catch {
    return undefined;
  }
}
