/** What of the canvas is in view: fitted at the start with the trigger to be seen, and following the keyboard. */
import { useReactFlow } from '@xyflow/react';
import { useCallback, useEffect, useMemo, type RefObject } from 'react';
import { triggerOf } from '../model.ts';
import { CARD } from '../place.ts';
import { useEditorPart, useEditorStore, type EditorStore } from '../store.ts';

/** Below this, words cannot be read: then the start of the workflow is shown, and not all of it. */
const READABLE = 0.5;
const FIT = { padding: 0.2, maxZoom: 1 };

/** Moves the view. */
export function useView(canvas: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  const store = useEditorStore();
  const fit = useCallback(() => void flow.fitView({ ...FIT, duration: durationOf() }), [flow]);
  const fitAtStart = useCallback(async () => {
    await flow.fitView(FIT);
    const { zoom } = flow.getViewport();
    const { draft } = store.get();
    const first = draft.positions[triggerOf(draft)?.id ?? ''];
    if (zoom >= READABLE || first === undefined) return;
    const height = canvas.current?.clientHeight ?? 0;
    const y = height / 2 - (first.y + CARD.height / 2) * READABLE;
    await flow.setViewport({ x: 48 - first.x * READABLE, y, zoom: READABLE });
  }, [flow, store, canvas]);
  const show = useCallback(
    (id: string) => {
      const at = store.get().draft.positions[id];
      const box = canvas.current?.getBoundingClientRect();
      if (at === undefined || box === undefined) return;
      const corner = flow.flowToScreenPosition(at);
      const end = flow.flowToScreenPosition({ x: at.x + CARD.width, y: at.y + CARD.height });
      const isSeen = corner.x >= box.left && corner.y >= box.top && end.x <= box.right && end.y <= box.bottom;
      const { zoom } = flow.getViewport();
      if (!isSeen)
        void flow.setCenter(at.x + CARD.width / 2, at.y + CARD.height / 2, {
          zoom,
          duration: durationOf(),
        });
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

/** Keeps what a panel is about in view, also where the panel takes the room that it stood in. */
export function useShownSelection(show: (id: string) => void): void {
  const panel = useEditorPart((state) => state.panel);
  const picker = useEditorPart((state) => state.picker);
  const store = useEditorStore();
  useEffect(() => {
    if (panel === undefined && picker === undefined) return undefined;
    const id = panel !== undefined && 'edge' in panel ? panel.edge.to : store.get().selection.nodes.at(-1);
    if (id === undefined) return undefined;
    // The canvas learns of its new size in the next frame.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => show(id));
    });
    return () => cancelAnimationFrame(frame);
  }, [store, show, panel, picker]);
}

function durationOf(): number {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 200;
}

/**
 * One card can be reached by Tab: the selected one, else the trigger. When the selection changes while the canvas has the focus, the
 * focus goes with it.
 */
export function useCardFocus(canvas: RefObject<HTMLElement | null>, store: EditorStore): void {
  const selection = useEditorPart((state) => state.selection);
  const draft = useEditorPart((state) => state.draft);
  const current = selection.nodes.at(-1);
  useEffect(() => {
    const reachable = current ?? triggerOf(store.get().draft)?.id;
    for (const card of canvas.current?.querySelectorAll<HTMLElement>('[data-card]') ?? []) {
      const isCurrent = card.dataset['card'] === reachable;
      card.tabIndex = isCurrent ? 0 : -1;
      const hasFocus =
        document.activeElement === document.body || canvas.current?.contains(document.activeElement) === true;
      if (isCurrent && current !== undefined && hasFocus) card.focus({ preventScroll: true });
    }
  }, [canvas, store, current, draft]);
}
