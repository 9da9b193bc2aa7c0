/**
 * Room on the canvas: where a label or a new node needs more of it, what follows moves to the right. Pure.
 */
import { RUN_SCOPE } from '../../../api/scopes.ts';
import type { WorkflowEdge, WorkflowSpec } from '../../../api/workflow.ts';
import { LABEL_WIDTH, labelsOf, NO_LABEL, widthOfLabel, type EdgeLabel } from './edgeLabels.ts';
import { boxesOf, covers, movedBy, withRoom } from './frames.ts';
import { edgeId, edgesOf, type EdgeEnds } from './graph.ts';
import { CARD, GAP, type Box, type Positions } from './place.ts';
import { scopesOf } from './scopes.ts';

type Graph = Pick<WorkflowSpec, 'nodes' | 'edges'>;

/** The space beside the label of a connection, with the handles at its ends. */
const BESIDE_LABEL = 36;
/** While a condition is typed, nodes do not move with each letter. */
const SHIFT = 20;
/** Nodes that are nearer than this to a moved one move along. */
const MARGIN = 24;
/** The widest space that a label makes between two nodes. */
export const WIDEST_GAP = LABEL_WIDTH.most + BESIDE_LABEL + SHIFT;

/** The space between two nodes whose connection has this label. If it is too long, its short form counts. */
export function gapFor({ full, short }: EdgeLabel): number {
  if (full === '') return GAP.x;
  const width = widthOfLabel(full) > LABEL_WIDTH.most ? widthOfLabel(short) : widthOfLabel(full);
  return Math.max(GAP.x, Math.min(LABEL_WIDTH.most, width) + BESIDE_LABEL);
}

/** The label of this connection. */
export function labelOf(edges: readonly WorkflowEdge[], { from, to }: EdgeEnds): EdgeLabel {
  const beside = edges.filter((edge) => edge.from === from);
  return labelsOf(beside).get(edgeId({ from, to })) ?? NO_LABEL;
}

/**
 * The positions with room for the label of a connection. Other branches in the same column move along. A node
 * that its author placed elsewhere than to the right stays there.
 */
export function withLabelRoom(spec: Graph, positions: Positions, ends: EdgeEnds): Positions {
  const edges = edgesOf(spec);
  const boxes = boxesOf(spec.nodes, positions);
  const [source, target] = [boxes.get(ends.from), boxes.get(ends.to)];
  const label = labelOf(edges, ends);
  if (source === undefined || target === undefined || label.full === '') return positions;
  const distance = target.x - source.x - source.width;
  const missing = gapFor(label) - distance;
  if (missing <= 0 || distance < 0) return positions;
  const column = edges
    .filter(({ from, to }) => from === ends.from && isInColumn(target, boxes.get(to)))
    .map(({ to }) => to);
  const by = Math.ceil(missing / SHIFT) * SHIFT;
  const moved = withRoom(spec, movedRight(spec, positions, new Set(column), by));
  const group = scopesOf(spec.nodes).of(ends.from);
  if (group === RUN_SCOPE) return moved;
  // The frame has grown towards what follows it.
  return edges
    .filter(({ from }) => from === group)
    .reduce((before, edge) => withLabelRoom(spec, before, edge), moved);
}

/**
 * Moves nodes of one scope to the right, with what follows them there and what they would cover. What follows
 * further left is the next row of a workflow that is drawn in rows: it stays.
 */
export function movedRight(
  spec: Graph,
  positions: Positions,
  ids: ReadonlySet<string>,
  by: number,
): Positions {
  if (by <= 0) return positions;
  const [first = ''] = ids;
  const scopes = scopesOf(spec.nodes);
  const edges = edgesOf(spec);
  const boxes = boxesOf(spec.nodes, positions);
  const others = scopes.members(scopes.of(first)).map(({ id }) => id);
  const moving = new Set<string>();
  const open = [...ids];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const box = boxes.get(at);
    if (box === undefined || moving.has(at)) continue;
    moving.add(at);
    const next = edges.filter(({ from, to }) => from === at && (boxes.get(to)?.x ?? -Infinity) >= box.x);
    const inTheWay = others.filter((id) => isInTheWay(box, boxes.get(id), by));
    open.push(...next.map(({ to }) => to), ...inTheWay);
  }
  const all = new Set([...moving].flatMap((id) => [id, ...scopes.bodyOf(id)]));
  return movedBy(positions, all, { x: by, y: 0 });
}

function isInColumn(target: Box, other: Box | undefined): boolean {
  return other !== undefined && Math.abs(other.x - target.x) < CARD.width / 2;
}

/** Whether a box that moves by so much comes near another one, which it does not cover yet. */
function isInTheWay(box: Box, other: Box | undefined, by: number): boolean {
  if (other === undefined || covers(box, other)) return false;
  return covers({ ...box, width: box.width + by + MARGIN }, other);
}
