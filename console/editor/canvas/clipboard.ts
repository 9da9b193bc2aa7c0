/**
 * Copy, cut and paste of nodes as YAML, between workflows, browsers and manifests; and paste of curl
 * commands.
 */
import { useEffect, type RefObject } from 'react';
import { parse } from 'yaml';
import { notifyProblem, notifySuccess } from '../../ui/notify.tsx';
import { count } from '../../ui/format.ts';
import { yamlText } from '../../ui/yamlText.ts';
import { readCurl, type CurlRead } from '../model/curl.ts';
import { clipboardOf, fragmentOf, pasted, readFragment } from '../model/fragment.ts';
import { addNode, freeId, type Draft } from '../model/model.ts';
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
      const text = event.clipboardData?.getData('text/plain') ?? '';
      const curl = readCurl(text);
      if (curl !== undefined) tellOfCurl(curl);
      const added = curl === undefined ? addedNodes(store, text) : addedRequest(store, curl);
      if (added === undefined) return;
      event.preventDefault();
      const { draft, ids } = added;
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

type Added = { draft: Draft; ids: string[] };

function addedNodes(store: EditorStore, text: string): Added | undefined {
  const fragment = readFragment(parsed(text));
  return fragment && pasted(store.get().draft, fragment);
}

/** The step of a curl command, behind the selected node. */
function addedRequest(store: EditorStore, curl: CurlRead): Added | undefined {
  if ('problem' in curl) return undefined;
  const { draft, selection } = store.get();
  const taken = draft.spec.nodes.map((node) => node.id);
  const id = freeId(taken, curl.node.id);
  const after = selection.nodes.length === 1 ? selection.nodes[0] : undefined;
  return { draft: addNode(draft, { ...curl.node, id }, after), ids: [id] };
}

function tellOfCurl(curl: CurlRead): void {
  if ('problem' in curl) return notifyProblem('Could not read the curl command', curl.problem);
  if (curl.notes.length > 0) notifyProblem('The curl command became a step', curl.notes.join(' '));
}

function parsed(text: string): unknown {
  try {
    return text.length > 1_000_000 ? undefined : parse(text);
  } catch {
    return undefined;
  }
}
