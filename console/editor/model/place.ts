/** Positions on the canvas: the size of a node, and free places for new ones. Pure. */

export type Position = { x: number; y: number };
export type Positions = Readonly<Record<string, Position>>;
export type Box = Position & { width: number; height: number };

/** All nodes have the same size, so that places are known before rendering. */
export const CARD = { width: 208, height: 64 } as const;
/** The distance from one node to the next. */
export const STEP = { x: 288, y: 104 } as const;
/** The space between two nodes. */
export const GAP = { x: STEP.x - CARD.width, y: STEP.y - CARD.height } as const;
/** Nodes nearer than this count as overlapping. */
const MARGIN = 24;

/** The wanted place, or the next free one below it. Places without a size are those of cards. */
export function freePlace(taken: readonly (Position & Partial<Box>)[], wanted: Position): Position {
  let { y } = wanted;
  while (taken.some((other) => overlaps(other, { x: wanted.x, y }))) y += STEP.y;
  return { x: wanted.x, y };
}

/** A free place left of all nodes, for a trigger. */
export function placeFirst(positions: Positions): Position {
  const all = Object.values(positions);
  if (all.length === 0) return { x: 0, y: 0 };
  const left = all.reduce((first, other) => (other.x < first.x ? other : first));
  return freePlace(all, { x: left.x - STEP.x, y: left.y });
}

/** Whether a card at `at` would cover the other node. */
function overlaps(other: Position & Partial<Box>, at: Position): boolean {
  const { width = CARD.width, height = CARD.height } = other;
  return (
    at.x < other.x + width + MARGIN &&
    other.x < at.x + CARD.width + MARGIN &&
    at.y < other.y + height + MARGIN &&
    other.y < at.y + CARD.height + MARGIN
  );
}
