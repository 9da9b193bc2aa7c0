/** Where the label and the buttons of an edge are. Pure. */
import { LABEL_WIDTH } from '../model/edgeLabels.ts';
import type { Position } from '../model/place.ts';

type Ends = { sourceX: number; sourceY: number; targetX: number; targetY: number };

/** The width in which a click means the edge. */
export const HIT_WIDTH = 24;
const BESIDE = HIT_WIDTH / 2 + 2;
const LABEL = { height: 20, right: 10, above: 5 };

/** The middle of the side of the buttons that is next to the edge. The edge itself stays free. */
export function buttonsPlace({ sourceX, sourceY, targetX, targetY }: Ends): Position & {
  side: 'below' | 'right';
} {
  const [x, y] = [(sourceX + targetX) / 2, (sourceY + targetY) / 2];
  // In its middle the curve is twice as steep as the way from end to end.
  const isSteep = 2 * Math.abs(targetY - sourceY) > Math.abs(targetX - sourceX);
  return isSteep ? { x: x + BESIDE, y, side: 'right' } : { x, y: y + BESIDE, side: 'below' };
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
