/**
 * Copy, cut and paste of nodes as YAML, between workflows, browsers and manifests; and paste of other
 * formats.
 */
import { useEffect, type RefObject } from 'react';
import { notifyFailure, notifyNotice, notifyProblem, notifySuccess } from '../../ui/notify.tsx';
import { count } from '../../ui/format.ts';
import { yamlText } from '../../ui/yamlText.ts';
import { clipboardOf, fragmentOf, pasted } from '../model/fragment.ts';
import { addNode, freeId, type Draft } from '../model/model.ts';
import type { Pasted, PasteFormat } from '../paste/format.ts';
import { formatOf } from '../paste/formats.ts';
import type { EditorStore } from '../store/store.ts';
import { removeSelectedNodes } from '../store/commands.ts';
import { isForSelection } from './keys.ts';
import { selectNew } from './selectNew.ts';

/** Handles the browser's own events while the canvas is shown. */
export function useClipboard(
  canvas: RefObject<HTMLElement | null>,
  store: EditorStore,
  show: (ids: readonly string[]) => void,
): void {
  useEffect(() => {
    const isOurs = ({ target }: Event) =>
      isForSelection(canvas.current, target) && (document.getSelection()?.isCollapsed ?? true);
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
      const text = event.clipboardData?.getData('text/plain') ?? '';
      const format = formatOf(text);
      if (format === undefined) return;
      event.preventDefault();
      void paste(store, format, text).then((ids) => ids.length > 0 && show(ids));
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

/** Adds what the text becomes, and selects it. Returns the IDs of the new nodes: none after a problem. */
async function paste(store: EditorStore, format: PasteFormat, text: string): Promise<string[]> {
  const converted = await convert(format, text);
  if (converted === undefined) return [];
  if (converted.kind === 'n8n') {
    store.showN8n(converted.nodes);
    return [];
  }
  if (converted.kind === 'problem') {
    notifyProblem(`Could not add the ${format.name}`, converted.problem);
    return [];
  }
  // Another person may have made the draft read-only meanwhile.
  if (store.get().isReadOnly) return [];
  const { draft, ids } = added(store, converted);
  store.apply(() => draft);
  selectNew(store, ids);
  const { notes = [] } = converted;
  // New nodes are added at the right, where notifications in the corner would cover them.
  if (notes.length > 0) notifyNotice(`The ${format.name} was added`, notes.join(' '), 'bottom-center');
  return ids;
}

/** Undefined: the converter could not be loaded, which is said. */
async function convert(format: PasteFormat, text: string): Promise<Pasted | undefined> {
  try {
    return (await format.load())(text);
  } catch (error) {
    notifyFailure(`Could not add the ${format.name}`, error);
    return undefined;
  }
}

function added(
  store: EditorStore,
  converted: Exclude<Pasted, { kind: 'problem' | 'n8n' }>,
): { draft: Draft; ids: string[] } {
  const { draft, selection } = store.get();
  if (converted.kind === 'nodes') return pasted(draft, converted.fragment);
  const taken = draft.spec.nodes.map((node) => node.id);
  const id = freeId(taken, converted.node.id);
  const after = selection.nodes.length === 1 ? selection.nodes[0] : undefined;
  return { draft: addNode(draft, { ...converted.node, id }, after), ids: [id] };
}
