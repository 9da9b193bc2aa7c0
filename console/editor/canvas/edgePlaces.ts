/** Where the label and the buttons of an edge are. Pure. */
import { LABEL_WIDTH } from '../model/edgeLabels.ts';
import { CARD, type Position } from '../model/place.ts';

type Ends = { sourceX: number; sourceY: number; targetX: number; targetY: number };

/** The width in which a click means the edge. */
export const HIT_WIDTH = 24;
const BESIDE = HIT_WIDTH / 2 + 2;
/** The height of a button. */
export const BUTTON = 22;
/** The width of all buttons: the last one, which only a selected edge has, does not move the others. */
export const BUTTONS = 74;
/** Of labels: the space beside and below them, and the distance from one to the next at the same end. */
const LABEL = { right: 10, above: 5, step: 22 };
/** Ends that differ less in height belong to cards in one row. */
const LEVEL = CARD.height / 2;

/**
 * The left end of the side of the buttons that is next to the edge. They are below or above its end, between
 * near nodes at its middle. There they lie neither on the edge, nor on those beside it, which fall or rise
 * before, nor on a label: labels are above the ends, also those of other edges out of the same node. `labels`
 * counts those at the end.
 */
export function buttonsPlace(
  { sourceX, sourceY, targetX, targetY }: Ends,
  labels: number,
): Position & { side: 'above' | 'below' } {
  const falls = targetY - sourceY;
  const x = targetX - LABEL.right - BUTTONS;
  if (Math.abs(falls) < LEVEL)
    return {
      x: Math.max(x, (sourceX + targetX - BUTTONS) / 2),
      y: Math.max(sourceY, targetY) + BESIDE,
      side: 'below',
    };
  if (falls > 0) return { x, y: targetY + BESIDE, side: 'below' };
  const overLabels = LABEL.above + labels * LABEL.step;
  return { x, y: targetY - Math.max(BESIDE, overLabels), side: 'above' };
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
