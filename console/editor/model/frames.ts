/**
 * Groups on the canvas: a group with a body is a frame around it, any other group an empty frame. Sizes
 * follow from the positions of the bodies, so that only the positions of nodes are stored. Pure.
 */
import { RUN_SCOPE } from '../../../api/scopes.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { edgesOf, nodesAfter } from './graph.ts';
import { CARD, GAP, type Box, type Position, type Positions } from './place.ts';
import { scopesOf, type Scopes } from './scopes.ts';

/**
 * The space between a frame and its body. The header of the frame is in the upper one, and in the right one
 * the button that adds the next node.
 */
export const FRAME = { left: 32, right: 76, top: 56, bottom: 56 } as const;
/** The size of a group without a body: there is room for one node. */
export const EMPTY_FRAME = {
  width: CARD.width + FRAME.left + FRAME.right,
  height: CARD.height + FRAME.top + FRAME.bottom,
} as const;

type Nodes = readonly WorkflowNode[];

/** The boxes of all nodes: cards, frames, and collapsed groups, which are cards. */
export function boxesOf(
  nodes: Nodes,
  positions: Positions,
  collapsed: ReadonlySet<string> = new Set(),
): Map<string, Box> {
  const scopes = scopesOf(nodes);
  const boxes = new Map<string, Box>();
  const place = (node: WorkflowNode): Box => {
    const at = positions[node.id] ?? { x: 0, y: 0 };
    const body = node.group === undefined ? [] : scopes.members(node.id).map(place);
    const size = node.group === undefined ? CARD : EMPTY_FRAME;
    const frame = body.length === 0 ? { ...at, ...size } : frameAround(body);
    const middle = frame.y + (frame.height - CARD.height) / 2;
    const box = node.group && collapsed.has(node.id) ? { x: frame.x, y: middle, ...CARD } : frame;
    boxes.set(node.id, box);
    return box;
  };
  for (const node of scopes.members(RUN_SCOPE)) place(node);
  return boxes;
}

/** The frame around these boxes. */
function frameAround(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x)) - FRAME.left;
  const y = Math.min(...boxes.map((box) => box.y)) - FRAME.top;
  const right = Math.max(...boxes.map((box) => box.x + box.width)) + FRAME.right;
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + FRAME.bottom;
  return {
    x,
    y,
    width: Math.max(right - x, EMPTY_FRAME.width),
    height: Math.max(bottom - y, EMPTY_FRAME.height),
  };
}

/** Moves nodes by their IDs, groups with their bodies. */
export function movedBy(
  positions: Positions,
  ids: ReadonlySet<string>,
  { x, y }: Position,
): Record<string, Position> {
  return Object.fromEntries(
    Object.entries(positions).map(([id, at]) => [id, ids.has(id) ? { x: at.x + x, y: at.y + y } : at]),
  );
}

/**
 * Moves nodes so that no frame covers another node of its scope: nodes that run after the group to the right,
 * others down. Inner frames come first, because outer ones grow with them.
 */
export function withRoom(
  { nodes, edges }: Pick<WorkflowSpec, 'nodes' | 'edges'>,
  given: Positions,
): Positions {
  const groups = nodes.filter(({ group }) => group !== undefined);
  if (groups.length === 0) return given;
  const scopes = scopesOf(nodes);
  const all = edgesOf({ nodes, ...(edges && { edges }) });
  const inner = groups.toSorted((a, b) => scopes.around(b.id).length - scopes.around(a.id).length);
  return inner.reduce((positions, { id }) => roomAround(id, nodes, { scopes, all, positions }), given);
}

type Drawn = { scopes: Scopes; all: ReturnType<typeof edgesOf>; positions: Positions };

function roomAround(group: string, nodes: Nodes, { scopes, all, positions: given }: Drawn): Positions {
  const after = nodesAfter(all, group);
  const others = scopes.members(scopes.of(group)).filter(({ id }) => id !== group);
  let positions = given;
  // Each round moves one node beyond the frame; nodes that it pushed are in later rounds.
  for (let round = 0; round < others.length; round += 1) {
    const boxes = boxesOf(nodes, positions);
    const frame = boxes.get(group);
    const covered = others.find(({ id }) => frame && isNear(frame, boxes.get(id)));
    const box = covered && boxes.get(covered.id);
    if (frame === undefined || covered === undefined || box === undefined) return positions;
    const goesRight = after.has(covered.id);
    const shift = goesRight
      ? { x: frame.x + frame.width + GAP.x - box.x, y: 0 }
      : { x: 0, y: frame.y + frame.height + GAP.y - box.y };
    const beyond = others.filter(({ id }) => {
      const other = boxes.get(id);
      if (other === undefined || id === covered.id) return id === covered.id;
      return goesRight
        ? after.has(id) && other.x >= box.x
        : !after.has(id) &&
            other.y >= box.y &&
            other.x + other.width > frame.x &&
            other.x < frame.x + frame.width;
    });
    const moved = new Set(beyond.flatMap(({ id }) => [id, ...scopes.bodyOf(id)]));
    positions = movedBy(positions, moved, shift);
  }
  return positions;
}

const MARGIN = 12;

function isNear(one: Box, other: Box | undefined): boolean {
  return (
    other !== undefined &&
    one.x < other.x + other.width + MARGIN &&
    other.x < one.x + one.width + MARGIN &&
    one.y < other.y + other.height + MARGIN &&
    other.y < one.y + one.height + MARGIN
  );
}

/** The group in which a node belongs that was dropped at this box; undefined: none. */
export function groupAt(
  nodes: Nodes,
  boxes: ReadonlyMap<string, Box>,
  { id, box, current }: { id: string; box: Box; current: string },
): string | undefined {
  const scopes = scopesOf(nodes);
  const own = new Set([id, ...scopes.bodyOf(id)]);
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const holding = nodes
    .filter((node) => node.group !== undefined && !own.has(node.id) && contains(boxes.get(node.id), middle))
    .toSorted((a, b) => scopes.around(b.id).length - scopes.around(a.id).length)[0]?.id;
  const isOther = holding !== undefined && holding !== current && !scopes.around(current).includes(holding);
  if (isOther) return holding;
  // A node leaves its group only when it is wholly outside of the frame.
  const frame = boxes.get(current);
  if (current !== RUN_SCOPE && frame && covers(frame, box)) return current;
  return holding;
}

function contains(box: Box | undefined, { x, y }: Position): boolean {
  return box !== undefined && x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

/** Whether one node lies on the other. */
export function covers(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}
