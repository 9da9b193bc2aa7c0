/**
 * The keyboard shortcuts of the canvas. They work while the canvas or nothing has the focus, never while the
 * user types.
 */
import { useEffect, type RefObject } from 'react';
import { triggerOf } from '../model/model.ts';
import { boxesOf } from '../model/frames.ts';
import { edgesOf, type EdgeEnds } from '../model/graph.ts';
import { scopesOf } from '../model/scopes.ts';
import { endsOf, placeForNode, removeSelected, switchSelected } from '../store/commands.ts';
import type { EditorState, EditorStore } from '../store/store.ts';
import type { Position } from '../model/place.ts';
import { isTyping } from '../../ui/isTyping.ts';
import { isWholePage } from '../../ui/pageContent.ts';
import { isLayerOpen } from '../../ui/usePageKey.ts';
import { duplicateSelected } from './selectNew.ts';

export type CanvasCommands = {
  fit: () => void;
  show: (ids: readonly string[]) => void;
  tidy: () => void;
  addNote: () => void;
};

const ARROWS: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

/** Whether keys are meant for the canvas. */
function isForCanvas(canvas: HTMLElement | null, target: EventTarget | null): boolean {
  if (isTyping(target) || isLayerOpen()) return false;
  return isWholePage(target) || (target instanceof Node && canvas?.contains(target) === true);
}

/**
 * Whether keys with Ctrl, and the clipboard, are meant for the selected nodes: the panel as a whole has the
 * focus after a click on a node.
 */
export function isForSelection(canvas: HTMLElement | null, target: EventTarget | null): boolean {
  return isForCanvas(canvas, target) || (target instanceof Element && target.matches('[data-node-panel]'));
}

export function useCanvasKeys(
  canvas: RefObject<HTMLElement | null>,
  store: EditorStore,
  commands: CanvasCommands,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isWithControl = event.ctrlKey || event.metaKey;
      const isOurs = isWithControl ? isForSelection : isForCanvas;
      if (event.defaultPrevented || !isOurs(canvas.current, event.target)) return;
      const isHandled = isWithControl
        ? withControl(event, store, commands)
        : !event.altKey &&
          (whereTo(event, store, commands) || change(event, canvas.current, { store, commands }));
      if (isHandled) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [canvas, store, commands]);
}

function withControl({ key }: KeyboardEvent, store: EditorStore, { show }: CanvasCommands): boolean {
  const { draft, selection, isReadOnly } = store.get();
  if (key === 'a') {
    store.select({ nodes: draft.spec.nodes.map(({ id }) => id) });
    return true;
  }
  if (key !== 'd') return false;
  if (!isReadOnly && selection.nodes.length > 0) show(duplicateSelected(store));
  return true;
}

function whereTo(event: KeyboardEvent, store: EditorStore, commands: CanvasCommands): boolean {
  const { draft, selection, panel, picker } = store.get();
  const current = selection.nodes.at(-1);
  const way = ARROWS[event.key];
  if (way !== undefined) {
    const next = current === undefined ? triggerOf(draft)?.id : neighbor(store.get(), current, way);
    if (next === undefined) return current !== undefined;
    store.select({ nodes: event.shiftKey && current !== undefined ? [...selection.nodes, next] : [next] });
    commands.show([next]);
    return true;
  }
  switch (event.key) {
    case 'Escape':
      // The first key closes the panel, the next one clears the selection.
      if (panel !== undefined || picker !== undefined) store.closePanel();
      else store.select({});
      return true;
    case '1':
    case '!':
      commands.fit();
      return true;
    default:
      return false;
  }
}

type Given = { store: EditorStore; commands: CanvasCommands };

function change(event: KeyboardEvent, canvas: HTMLElement | null, { store, commands }: Given): boolean {
  const { key, shiftKey, target } = event;
  if ((key === 'Enter' || key === ' ') && !(target instanceof HTMLButtonElement)) return openSelected(store);
  if (store.get().isReadOnly) return false;
  // Tab adds a node only from a node; elsewhere it moves the focus as on every page.
  const isNext = key === 'Tab' && !shiftKey && target instanceof Node && canvas?.contains(target) === true;
  if (key === '+' || isNext) return pickAfter(store, key === '+');
  return edit(key, store, commands);
}

function edit(key: string, store: EditorStore, commands: CanvasCommands): boolean {
  switch (key) {
    case 'Delete':
    case 'Backspace':
      removeSelected(store);
      return true;
    case 'd':
    case 'D':
      return switchSelected(store);
    case 'T':
      commands.tidy();
      return true;
    case 'N':
      commands.addNote();
      return true;
    default:
      return false;
  }
}

function selectedOne({ selection }: EditorState): { node?: string; edge?: EdgeEnds } {
  const [node] = selection.nodes;
  const edge = endsOf(selection.edges[0]);
  if (selection.nodes.length === 1 && node !== undefined) return { node };
  return selection.nodes.length === 0 && edge !== undefined ? { edge } : {};
}

function openSelected(store: EditorStore): boolean {
  const { node, edge } = selectedOne(store.get());
  if (node !== undefined) store.openNode(node);
  else if (edge !== undefined) store.openEdge(edge);
  return node !== undefined || edge !== undefined;
}

/** Without a selection Tab leaves the canvas, so that the keyboard user is not trapped. */
function pickAfter(store: EditorStore, isAnywhere: boolean): boolean {
  const { node, edge } = selectedOne(store.get());
  if (edge !== undefined) store.pick({ kind: 'between', edge });
  else if (node !== undefined) store.pick({ kind: 'after', node });
  else if (isAnywhere) store.pick(placeForNode(store.get()));
  return edge !== undefined || node !== undefined || isAnywhere;
}

/** Moves by arrow keys: along the edges, and to nodes above and below. */
type Direction = 'left' | 'right' | 'up' | 'down';

/** The next visible node in this direction; undefined: none. Left and right cross the borders of frames. */
function neighbor({ draft, collapsed }: EditorState, from: string, way: Direction): string | undefined {
  const { spec, positions } = draft;
  const scopes = scopesOf(spec.nodes);
  const boxes = boxesOf(spec.nodes, positions, collapsed);
  const placeOf = (id: string): Position => boxes.get(id) ?? { x: 0, y: 0 };
  const at = placeOf(from);
  const all = edgesOf(spec);
  const edges = [
    ...all,
    ...spec.nodes.flatMap(({ id }) => {
      const [group] = scopes.around(id);
      return group === undefined || all.some(({ to }) => to === id) ? [] : [{ from: group, to: id }];
    }),
  ];
  const candidates =
    way === 'right'
      ? edges.filter((edge) => edge.from === from).map(({ to }) => to)
      : way === 'left'
        ? edges.filter((edge) => edge.to === from).map((edge) => edge.from)
        : spec.nodes.map(({ id }) => id).filter((id) => isThatWay(placeOf(id), at, way));
  const visible = candidates.filter((id) => !scopes.around(id).some((group) => collapsed.has(group)));
  return visible.toSorted((one, other) => far(placeOf(one), at) - far(placeOf(other), at))[0];
}

function isThatWay({ y }: Position, at: Position, way: Direction): boolean {
  return way === 'up' ? y < at.y : way === 'down' && y > at.y;
}

/** Horizontal distance counts double: a node nearly above is nearer than a distant one on the same level. */
function far({ x, y }: Position, at: Position): number {
  return Math.abs(y - at.y) + 2 * Math.abs(x - at.x);
}
