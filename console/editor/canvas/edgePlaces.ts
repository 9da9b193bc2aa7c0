/** Where the label and the buttons of an edge are. Pure. */
import { LABEL_WIDTH } from '../model/edgeLabels.ts';
import { CARD, type Position } from '../model/place.ts';

type Ends = { sourceX: number; sourceY: number; targetX: number; targetY: number };

/** The width in which a click means the edge. */
export const HIT_WIDTH = 24;
const BESIDE = HIT_WIDTH / 2 + 2;
/** The height of a button. */
export const BUTTON = 22;
const LABEL = { height: 20, right: 10, above: 5, step: 22 };
/** Ends that differ less in height belong to cards in one row. */
const LEVEL = CARD.height / 2;

/**
 * Where the buttons of an edge are: below its middle, or below or above its end. There they lie neither on
 * the edge nor on a label: labels are above the ends, also those of other edges out of the same node. Of the
 * place, x is the middle of the buttons or their right side, and y the side that is next to the edge.
 * `labels` counts those at the end.
 */
export function buttonsPlace(
  { sourceX, sourceY, targetX, targetY }: Ends,
  labels: number,
): Position & { side: 'below the middle' | 'below the end' | 'above the end' } {
  const falls = targetY - sourceY;
  if (Math.abs(falls) < LEVEL)
    return {
      x: (sourceX + targetX) / 2,
      y: Math.max(sourceY, targetY) + BESIDE,
      side: 'below the middle',
    };
  const x = targetX - LABEL.right;
  if (falls > 0) return { x, y: targetY + BESIDE, side: 'below the end' };
  const overLabels = LABEL.above + labels * LABEL.step;
  return { x, y: targetY - Math.max(BESIDE, overLabels), side: 'above the end' };
}

/**
 * The lower right corner of the label and the most of its width: above the end of the edge, where edges out
 * of one node are apart, and between the nodes. `rank` counts the labels below it at the same end.
 */
export function labelPlace({ sourceX, targetX, targetY }: Ends, rank: number): Position & { width: number } {
  return {
    x: targetX - LABEL.right,
    y: targetY - LABEL.above - rank * LABEL.step,
    width: Math.min(LABEL_WIDTH.most, Math.max(LABEL_WIDTH.least, targetX - sourceX - 2 * LABEL.right)),
  };
}
