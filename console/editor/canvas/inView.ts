/**
 * Where to move the viewport so that nodes are visible: no further than needed and never too small to read.
 * Pure.
 */
import { EMPTY_FRAME } from '../model/frames.ts';
import { CARD, type Box as NodeBox, type Position } from '../model/place.ts';

export type Viewport = { x: number; y: number; zoom: number };
export type Size = { width: number; height: number };

type Box = { left: number; top: number; right: number; bottom: number };

/**
 * A node without a size is a card. Of a frame only the header and the first node need to be visible. `isEnd`:
 * it has the button that adds the next node.
 */
export type Place = Position & Partial<NodeBox> & { isEnd?: boolean };

/** Below this zoom, text is hard to read. */
const READABLE = 0.75;
/** A phone is nearer to the eyes, and two nodes fit into its width at this zoom. */
const NARROW = { width: 600, zoom: 0.65 };

/** The least zoom that the canvas has by itself on a screen of this width. */
export function leastZoom(screenWidth: number): number {
  return screenWidth < NARROW.width ? NARROW.zoom : READABLE;
}

/** The share of the canvas that a whole workflow takes. */
const SHARE = 1 / 1.2;
/** The room after a card of the button that adds the next node. */
export const NEXT_BUTTON_ROOM = 56;

/** The viewport in whose middle all of these places are; undefined if that takes a smaller zoom. */
export function wholeViewport(places: readonly Place[], size: Size, least: number): Viewport | undefined {
  if (places.length === 0) return undefined;
  const { left, top, right: end, bottom } = outlineOf(places, {});
  const right = end + NEXT_BUTTON_ROOM;
  const zoom = Math.min(1, (size.width * SHARE) / (right - left), (size.height * SHARE) / (bottom - top));
  if (zoom < least) return undefined;
  const middle = (from: number, to: number, length: number) => length / 2 - ((from + to) / 2) * zoom;
  return { x: middle(left, right, size.width), y: middle(top, bottom, size.height), zoom };
}

/** The viewport in which a workflow begins that is too large: its trigger at the left, readable. */
export function startViewport(trigger: Position, { width, height }: Size, zoom: number): Viewport {
  const left = Math.min(2 * ROOM.left, width / 16);
  const y = height / 2 - (trigger.y + CARD.height / 2) * zoom;
  return { x: left - trigger.x * zoom, y, zoom };
}

/** The margin around visible nodes. The right one leaves room for the button that adds the next node. */
const ROOM = { left: 24, top: 24, right: 76, bottom: 24 } as const;

/**
 * The viewport that shows the last of these places, with the others if they fit; undefined if it is visible
 * already, and for a canvas without a size: behind another tab it must not move.
 */
export function viewportFor(places: readonly Place[], now: Viewport, size: Size): Viewport | undefined {
  const last = places.at(-1);
  if (last === undefined || size.width === 0 || size.height === 0) return undefined;
  const { right, ...seen } = onScreen(boxOf([last]), now);
  // No more than there is after a move.
  const room = last.isEnd === true ? Math.min(NEXT_BUTTON_ROOM * now.zoom, ROOM.right) : 0;
  if (isInside({ ...seen, right: right + room }, size)) return undefined;
  const all = boxOf(places);
  const zoom = Math.min(now.zoom, zoomFor(all, size));
  return zoom >= Math.min(READABLE, now.zoom)
    ? moved(all, { ...now, zoom }, size)
    : moved(boxOf([last]), now, size);
}

/** A move of the viewport that is undone when the gallery closes. */
export type TemporaryMove = { readonly from: Viewport; readonly to: Viewport };

/**
 * Joins a temporary move with one that follows it. The joined move starts where the first one did, unless the
 * user moved the viewport between them.
 */
export function joinMoves(before: TemporaryMove | undefined, { from, to }: TemporaryMove): TemporaryMove {
  return { from: viewportBefore(before, from) ?? from, to };
}

/** The viewport before the move. Undefined if there was none, or the user has moved the viewport since. */
export function viewportBefore(move: TemporaryMove | undefined, now: Viewport): Viewport | undefined {
  return move !== undefined && isSame(move.to, now) ? move.from : undefined;
}

/** Equal within a pixel, and within 0.001 of the zoom: nobody sees such a difference. */
function isSame(one: Viewport, other: Viewport): boolean {
  const isNear = (name: keyof Viewport, most: number) => Math.abs(one[name] - other[name]) < most;
  return isNear('x', 1) && isNear('y', 1) && isNear('zoom', 0.001);
}

function boxOf(places: readonly Place[]): Box {
  return outlineOf(places, EMPTY_FRAME);
}

/** The box around these places. Of each place at most this size counts. */
function outlineOf(
  places: readonly Place[],
  { width: wide = Infinity, height: high = Infinity }: Partial<Size>,
): Box {
  return {
    left: Math.min(...places.map(({ x }) => x)),
    top: Math.min(...places.map(({ y }) => y)),
    right: Math.max(...places.map(({ x, width = CARD.width }) => x + Math.min(width, wide))),
    bottom: Math.max(...places.map(({ y, height = CARD.height }) => y + Math.min(height, high))),
  };
}

function onScreen({ left, top, right, bottom }: Box, { x, y, zoom }: Viewport): Box {
  return { left: left * zoom + x, top: top * zoom + y, right: right * zoom + x, bottom: bottom * zoom + y };
}

function isInside({ left, top, right, bottom }: Box, { width, height }: Size): boolean {
  return left >= 0 && top >= 0 && right <= width && bottom <= height;
}

function zoomFor({ left, top, right, bottom }: Box, { width, height }: Size): number {
  return Math.min(
    (width - ROOM.left - ROOM.right) / (right - left),
    (height - ROOM.top - ROOM.bottom) / (bottom - top),
  );
}

/** The viewport, moved as little as possible to show the box. */
function moved(box: Box, now: Viewport, { width, height }: Size): Viewport {
  const { left, top, right, bottom } = onScreen(box, now);
  return {
    x: now.x + shift([left, right], [ROOM.left, width - ROOM.right]),
    y: now.y + shift([top, bottom], [ROOM.top, height - ROOM.bottom]),
    zoom: now.zoom,
  };
}

/** If the room is too small, the start of the box is shown. */
function shift([from, to]: [number, number], [least, most]: [number, number]): number {
  if (from < least || to - from > most - least) return least - from;
  return to > most ? most - to : 0;
}
