/**
 * The viewport of the canvas: fits the workflow at the start with the trigger visible, and follows the
 * keyboard.
 */
import { useReactFlow } from '@xyflow/react';
import { useCallback, useEffect, useMemo, useRef, type RefObject } from 'react';
import { edgesOf } from '../model/graph.ts';
import { triggerOf } from '../model/model.ts';
import { boxesOf } from '../model/frames.ts';
import { CARD } from '../model/place.ts';
import { useEditorPart, useEditorStore, type EditorState, type EditorStore } from '../store/store.ts';
import { READABLE, viewportFor } from './inView.ts';

const FIT = { padding: 0.2, maxZoom: 1 };

export function useView(canvas: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  const store = useEditorStore();
  const fit = useCallback(() => void flow.fitView({ ...FIT, duration: durationOf() }), [flow]);
  const fitAtStart = useCallback(async () => {
    await flow.fitView(FIT);
    const { zoom } = flow.getViewport();
    const { draft } = store.get();
    const first = draft.positions[triggerOf(draft)?.id ?? ''];
    // If everything would be too small to read, show the start.
    if (zoom >= READABLE || first === undefined) return;
    const height = canvas.current?.clientHeight ?? 0;
    const y = height / 2 - (first.y + CARD.height / 2) * READABLE;
    await flow.setViewport({ x: 48 - first.x * READABLE, y, zoom: READABLE });
  }, [flow, store, canvas]);
  const show = useCallback(
    (ids: readonly string[]) => {
      const { draft, collapsed } = store.get();
      const boxes = boxesOf(draft.spec.nodes, draft.positions, collapsed);
      const places = ids.flatMap((id) => boxes.get(id) ?? []);
      const { clientWidth: width = 0, clientHeight: height = 0 } = canvas.current ?? {};
      const next = viewportFor(places, flow.getViewport(), { width, height });
      if (next) void flow.setViewport(next, { duration: durationOf() });
    },
    [flow, store, canvas],
  );
  return useMemo(
    () => ({
      fit,
      fitAtStart: () => void fitAtStart(),
      show,
      zoomIn: () => void flow.zoomIn({ duration: durationOf() }),
      zoomOut: () => void flow.zoomOut({ duration: durationOf() }),
    }),
    [fit, fitAtStart, show, flow],
  );
}

/**
 * Keeps the node or edge of the panel visible with its predecessors, also when the panel covers its place.
 */
export function useShownSelection(show: (ids: readonly string[]) => void): void {
  const panel = useEditorPart((state) => state.panel);
  const picker = useEditorPart((state) => state.picker);
  const store = useEditorStore();
  useEffect(() => {
    if (panel === undefined && picker === undefined) return undefined;
    return afterLayout(() => show(idsOf(store.get())));
  }, [store, show, panel, picker]);
}

/** The subject of the panel comes last. */
function idsOf({ panel, selection, draft }: EditorState): string[] {
  if (panel !== undefined && 'edge' in panel) return [panel.edge.from, panel.edge.to];
  const id = selection.nodes.at(-1);
  if (id === undefined) return [];
  const before = edgesOf(draft.spec).find(({ to }) => to === id)?.from;
  return before === undefined ? [id] : [before, id];
}

/**
 * Calls `act` in the frame after the next, when the canvas knows its new size and nodes. Returns a function
 * that cancels the call.
 */
export function afterLayout(act: () => void): () => void {
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(act);
  });
  return () => cancelAnimationFrame(frame);
}

function durationOf(): number {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 200;
}

/**
 * One node is reachable by Tab: the selected one, else the trigger. While the canvas has the focus, the focus
 * follows the selection; if the focused node is removed, the canvas gets the focus.
 */
export function useCardFocus(canvas: RefObject<HTMLElement | null>, store: EditorStore): void {
  const selection = useEditorPart((state) => state.selection);
  const draft = useEditorPart((state) => state.draft);
  const current = selection.nodes.at(-1);
  const hadCurrent = useRef(false);
  useEffect(() => {
    const box = canvas.current;
    if (box === null) return;
    const reachable = reachableCard(box, current ?? triggerOf(store.get().draft)?.id);
    const isNowhere = document.activeElement === document.body;
    if (current !== undefined && (isNowhere || box.contains(document.activeElement)))
      reachable?.focus({ preventScroll: true });
    if (current === undefined && hadCurrent.current && isNowhere) box.focus({ preventScroll: true });
    hadCurrent.current = current !== undefined;
  }, [canvas, store, current, draft]);
}

/** Makes this node the one that Tab reaches, and returns its element. */
function reachableCard(canvas: HTMLElement, id: string | undefined): HTMLElement | undefined {
  const cards = [...canvas.querySelectorAll<HTMLElement>('[data-card]')];
  for (const card of cards) card.tabIndex = card.dataset['card'] === id ? 0 : -1;
  return cards.find(({ tabIndex }) => tabIndex === 0);
}
