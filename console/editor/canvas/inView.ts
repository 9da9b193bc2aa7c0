/**
 * Where to move the viewport so that nodes are visible: no further than needed and never too small to read.
 * Pure.
 */
import { EMPTY_FRAME } from '../model/frames.ts';
import { CARD, type Box as NodeBox, type Position } from '../model/place.ts';

export type Viewport = { x: number; y: number; zoom: number };
export type Size = { width: number; height: number };

type Box = { left: number; top: number; right: number; bottom: number };

/** A node without a size is a card. Of a frame only the header and the first node need to be visible. */
type Place = Position & Partial<NodeBox>;

/** Below this zoom, text cannot be read. */
export const READABLE = 0.5;
/** The margin around visible nodes. The right one leaves room for the button that adds the next node. */
const ROOM = { left: 24, top: 24, right: 76, bottom: 24 } as const;

/**
 * The viewport that shows the last of these places, with the others if they fit; undefined if it is visible
 * already.
 */
export function viewportFor(places: readonly Place[], now: Viewport, size: Size): Viewport | undefined {
  const last = places.at(-1);
  if (last === undefined || isInside(onScreen(boxOf([last]), now), size)) return undefined;
  const all = boxOf(places);
  const zoom = Math.min(now.zoom, zoomFor(all, size));
  return zoom >= Math.min(READABLE, now.zoom)
    ? moved(all, { ...now, zoom }, size)
    : moved(boxOf([last]), now, size);
}

function boxOf(places: readonly Place[]): Box {
  return {
    left: Math.min(...places.map(({ x }) => x)),
    top: Math.min(...places.map(({ y }) => y)),
    right: Math.max(...places.map(({ x, width = CARD.width }) => x + Math.min(width, EMPTY_FRAME.width))),
    bottom: Math.max(
      ...places.map(({ y, height = CARD.height }) => y + Math.min(height, EMPTY_FRAME.height)),
    ),
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
