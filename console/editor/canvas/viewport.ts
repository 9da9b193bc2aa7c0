/**
 * The viewport of the canvas: fits the workflow at the start with the trigger visible, and follows the
 * keyboard.
 */
import { useReactFlow } from '@xyflow/react';
import { useCallback, useEffect, useMemo, useRef, type RefObject } from 'react';
import { edgesOf } from '../model/graph.ts';
import { triggerOf, type Draft } from '../model/model.ts';
import { boxesOf } from '../model/frames.ts';
import { useEditorPart, useEditorStore, type EditorState, type EditorStore } from '../store/store.ts';
import { isWholePage } from '../../ui/pageContent.ts';
import { failedNode } from '../../runs/live/result.ts';
import { useRunView } from '../../runs/live/runStore.ts';
import {
  joinMoves,
  leastZoom,
  NEXT_BUTTON_ROOM,
  startViewport,
  viewportFor,
  viewportBefore,
  wholeViewport,
  type Place,
  type TemporaryMove,
  type Viewport,
} from './inView.ts';

/** The button after the last node is shown, too. */
const FIT = { padding: { x: 0.1, y: 0.2, right: `${NEXT_BUTTON_ROOM}px` }, maxZoom: 1 } as const;

export function useCanvasViewport(canvas: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  const store = useEditorStore();
  /** False once the user has moved the viewport: then closing a panel leaves it as it is. */
  const isAutomatic = useRef(true);
  /** Whether the user asked for the whole workflow, which may be too small to read. */
  const isWhole = useRef(false);
  const { viewport, moveTo, endMove } = useMoves();
  const sizeOf = useCallback(() => {
    const { clientWidth: width = 0, clientHeight: height = 0 } = canvas.current ?? {};
    return { width, height };
  }, [canvas]);
  const fit = useCallback(() => {
    isAutomatic.current = true;
    isWhole.current = true;
    endMove();
    void flow.fitView({ ...FIT, duration: durationOf() });
  }, [flow, endMove]);
  const wholeView = useCallback(() => {
    const { draft, collapsed } = store.get();
    const boxes = [...boxesOf(draft.spec.nodes, draft.positions, collapsed).values()];
    const withNotes = [...boxes, ...Object.values(draft.notes ?? {})];
    const least = leastZoom(window.innerWidth);
    // A note far away does not keep the workflow from being shown.
    return wholeViewport(withNotes, sizeOf(), least) ?? wholeViewport(boxes, sizeOf(), least);
  }, [store, sizeOf]);
  const fitAtStart = useCallback(() => {
    const { draft } = store.get();
    isWhole.current = false;
    const first = draft.positions[triggerOf(draft)?.id ?? ''];
    // If everything would be too small to read, show the start.
    const start = first && startViewport(first, sizeOf(), leastZoom(window.innerWidth));
    const next = wholeView() ?? start;
    if (next === undefined) return;
    // A link may open the panel of a node.
    const seen = viewportFor(placesIn(store, idsOf(store.get())), next, sizeOf());
    endMove();
    void flow.setViewport(seen ?? next);
  }, [flow, store, sizeOf, wholeView, endMove]);
  const show = useCallback(
    (ids: readonly string[]) => {
      const next = viewportFor(placesIn(store, ids), viewport(), sizeOf());
      if (next) moveTo(next);
      return next;
    },
    [store, sizeOf, viewport, moveTo],
  );
  const { showForGallery, showForPanel, endGalleryMove } = useGalleryMove(show, viewport);
  /**
   * Shows the whole workflow in the room of the closed panel, if all nodes are readable there. Otherwise the
   * canvas moves back to where it was before the gallery opened, if nothing was added.
   */
  const refit = useCallback(() => {
    const beforeGallery = endGalleryMove();
    const next = (isAutomatic.current ? wholeView() : undefined) ?? beforeGallery;
    if (next) moveTo(next);
  }, [moveTo, endGalleryMove, wholeView]);
  return useMemo(
    () => ({
      fit,
      fitAtStart,
      refit,
      show,
      showForGallery,
      showForPanel,
      /** Call this after the size of the canvas or of the window changed. */
      resized: () => {
        const { panel, picker } = store.get();
        if (!isAutomatic.current || sizeOf().width === 0) return;
        if (panel !== undefined || picker !== undefined) show(idsOf(store.get()));
        else if (isWhole.current) fit();
        else fitAtStart();
      },
      zoom: (way: 'in' | 'out') => {
        isAutomatic.current = false;
        endMove();
        void (way === 'in' ? flow.zoomIn : flow.zoomOut)({ duration: durationOf() });
      },
      /** `event`: the event of the user; null if the code set the viewport. */
      moved: (event: MouseEvent | TouchEvent | null) => {
        if (event === null) return;
        isAutomatic.current = false;
        endMove();
      },
    }),
    [fit, fitAtStart, refit, show, showForGallery, showForPanel, sizeOf, endMove, flow, store],
  );
}

/** Animated moves of the canvas. */
function useMoves() {
  const flow = useReactFlow();
  const goal = useRef<{ at: Viewport; until: number }>(undefined);
  /** Where the canvas is, or is on its way to. */
  const viewport = useCallback(() => {
    const { at, until = 0 } = goal.current ?? {};
    return at !== undefined && performance.now() < until ? at : flow.getViewport();
  }, [flow]);
  const moveTo = useCallback(
    (next: Viewport) => {
      const duration = durationOf();
      // React Flow does not report that a move was interrupted.
      goal.current = { at: next, until: performance.now() + 2 * duration };
      void flow.setViewport(next, { duration });
    },
    [flow],
  );
  /** Call this where something else moves the canvas. */
  const endMove = useCallback(() => {
    goal.current = undefined;
  }, []);
  return { viewport, moveTo, endMove };
}

/** Moves of the canvas for the gallery, which are undone when it closes. */
function useGalleryMove(show: (ids: readonly string[]) => Viewport | undefined, viewport: () => Viewport) {
  const store = useEditorStore();
  /** With the draft that was shown then. */
  const galleryMove = useRef<TemporaryMove & { draft: Draft }>(undefined);
  const showForGallery = useCallback(
    (ids: readonly string[]) => {
      const from = viewport();
      const to = show(ids);
      const { draft } = store.get();
      if (to) galleryMove.current = { ...joinMoves(galleryMove.current, { from, to }), draft };
    },
    [store, show, viewport],
  );
  const showForPanel = useCallback(
    (ids: readonly string[]) => {
      // A node was added or selected, and the canvas stays at it.
      galleryMove.current = undefined;
      show(ids);
    },
    [show],
  );
  /** Ends the move. Returns the viewport before the gallery opened, if nothing was added or moved since. */
  const endGalleryMove = useCallback(() => {
    const { current: move } = galleryMove;
    galleryMove.current = undefined;
    return move?.draft === store.get().draft ? viewportBefore(move, viewport()) : undefined;
  }, [store, viewport]);
  return { showForGallery, showForPanel, endGalleryMove };
}

function placesIn(store: EditorStore, ids: readonly string[]): Place[] {
  const { draft, collapsed } = store.get();
  const boxes = boxesOf(draft.spec.nodes, draft.positions, collapsed);
  const edges = edgesOf(draft.spec);
  return ids.flatMap((id) => {
    const box = boxes.get(id);
    return box === undefined ? [] : [{ ...box, isEnd: !edges.some(({ from }) => from === id) }];
  });
}

/**
 * Keeps the node or edge of the panel visible with its predecessors, also when the panel covers its place,
 * and fits the workflow again when the panel closes.
 */
export function useShownSelection(
  canvas: RefObject<HTMLElement | null>,
  { showForGallery, showForPanel, refit, resized }: ReturnType<typeof useCanvasViewport>,
  isShown: boolean,
): void {
  const panel = useEditorPart((state) => state.panel);
  const picker = useEditorPart((state) => state.picker);
  const end = useEditorPart(endOfPanel);
  const store = useEditorStore();
  const wasOpen = useRef(false);
  useEffect(() => {
    const isOpen = panel !== undefined || picker !== undefined;
    const closes = wasOpen.current && !isOpen;
    wasOpen.current = isOpen;
    const show = picker === undefined ? showForPanel : showForGallery;
    if (isOpen) return afterLayout(() => show(idsOf(store.get())));
    return closes ? afterLayout(refit) : undefined;
  }, [store, showForGallery, showForPanel, refit, panel, picker, end]);
  // A panel that is loaded late is wider than its place, and users change its width.
  useEffect(() => {
    if (canvas.current === null) return undefined;
    const observer = new ResizeObserver(() => {
      const { panel: open } = store.get();
      if (open !== undefined) afterLayout(resized);
    });
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, [canvas, store, resized]);
  useWindowWidthChange(resized, isShown);
}

/**
 * Calls `act` after the width of the window changed, or once the canvas is shown again if it changed
 * meanwhile. The height does not count: on phones it changes as the page is scrolled.
 */
function useWindowWidthChange(act: () => void, isShown: boolean): void {
  const width = useRef(window.innerWidth);
  useEffect(() => {
    if (!isShown) return undefined;
    let cancel: (() => void) | undefined;
    const onResize = (): void => {
      if (window.innerWidth === width.current) return;
      cancel?.();
      cancel = afterLayout(() => {
        width.current = window.innerWidth;
        act();
      });
    };
    onResize();
    window.addEventListener('resize', onResize);
    return () => {
      window.removeEventListener('resize', onResize);
      cancel?.();
    };
  }, [act, isShown]);
}

/** Shows the node at which the run on the canvas failed, unless a panel is open. */
export function useShownFailure({ show }: Pick<ReturnType<typeof useCanvasViewport>, 'show'>): void {
  const store = useEditorStore();
  const { run, nodes } = useRunView();
  const failed = run?.phase === 'Failed' ? failedNode(nodes)?.id : undefined;
  useEffect(() => {
    if (failed === undefined) return undefined;
    return afterLayout(() => {
      const { panel, picker } = store.get();
      if (panel === undefined && picker === undefined) show([failed]);
    });
  }, [store, show, run?.name, failed]);
}

/** Shows all of a draft that has replaced another one, such as a version that was restored. */
export function useShownReplacement(
  { fit }: Pick<ReturnType<typeof useCanvasViewport>, 'fit'>,
  isShown: boolean,
): void {
  const replaced = useEditorPart((state) => state.replaced);
  const shown = useRef(replaced);
  useEffect(() => {
    if (!isShown || shown.current === replaced) return undefined;
    shown.current = replaced;
    return afterLayout(fit);
  }, [fit, replaced, isShown]);
}

/**
 * The x coordinate of the end of the panel's connection. It changes while a condition is written, because the
 * label of the connection needs room.
 */
function endOfPanel({ panel, draft }: EditorState): number | undefined {
  return panel !== undefined && 'edge' in panel ? draft.positions[panel.edge.to]?.x : undefined;
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
 * While the canvas has the focus, the focus follows the selection; if the focused node is removed, the canvas
 * gets the focus.
 */
export function useCardFocus(canvas: RefObject<HTMLElement | null>): void {
  const selection = useEditorPart((state) => state.selection);
  const draft = useEditorPart((state) => state.draft);
  const current = selection.nodes.at(-1);
  const hadCurrent = useRef(false);
  useEffect(() => {
    const box = canvas.current;
    if (box === null) return;
    const isNowhere = isWholePage(document.activeElement);
    if (current !== undefined && (isNowhere || box.contains(document.activeElement)))
      box.querySelector<HTMLElement>(`[data-card="${CSS.escape(current)}"]`)?.focus({ preventScroll: true });
    if (current === undefined && hadCurrent.current && isNowhere) box.focus({ preventScroll: true });
    hadCurrent.current = current !== undefined;
  }, [canvas, current, draft]);
}
