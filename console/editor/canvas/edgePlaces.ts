/** Where the label and the buttons of an edge are. Pure. */
import { LABEL_WIDTH } from '../model/edgeLabels.ts';
import type { Position } from '../model/place.ts';

type Ends = { sourceX: number; sourceY: number; targetX: number; targetY: number };

/** The width in which a click means the edge. */
export const HIT_WIDTH = 24;
const BESIDE = HIT_WIDTH / 2 + 2;
/** The height of a button. */
export const BUTTON = 22;
const LABEL = { height: 20, right: 10, above: 5 };

/**
 * The middle of the side of the buttons that is next to the edge. The edge itself and its label stay free.
 */
export function buttonsPlace({ sourceX, sourceY, targetX, targetY }: Ends): Position & {
  side: 'above' | 'below' | 'right';
} {
  const [x, y] = [(sourceX + targetX) / 2, (sourceY + targetY) / 2];
  const labelTop = targetY - LABEL.above - LABEL.height;
  // In its middle the curve is twice as steep as the way from end to end.
  const isSteep = 2 * Math.abs(targetY - sourceY) > Math.abs(targetX - sourceX);
  if (isSteep) {
    const isAtLabel = y + BUTTON / 2 > labelTop && y < targetY;
    return { x: x + BESIDE, y: isAtLabel ? labelTop - BUTTON / 2 - 1 : y, side: 'right' };
  }
  // Above is better: below a rising edge may be the label of the next one, below a falling edge is its own.
  const isOffLabel = y - BESIDE <= labelTop || y - BESIDE - BUTTON >= targetY - LABEL.above;
  if (isOffLabel) return { x, y: y - BESIDE, side: 'above' };
  return { x, y: y + BESIDE, side: 'below' };
}

/**
 * The lower right corner of the label and the most of its width: above the end of the edge, where edges out
 * of one node are apart, and between the nodes. `rank` counts the labels at the same end.
 */
export function labelPlace({ sourceX, targetX, targetY }: Ends, rank: number): Position & { width: number } {
  return {
    x: targetX - LABEL.right,
    y: targetY - LABEL.above - rank * (LABEL.height + 2),
    width: Math.min(LABEL_WIDTH.most, Math.max(LABEL_WIDTH.least, targetX - sourceX - 2 * LABEL.right)),
  };
}
