/** The automatic layout: left to right, the trigger first, each body inside the frame of its group. */
import { Graph, layout } from '@dagrejs/dagre';
import { RUN_SCOPE } from '../../../api/scopes.ts';
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { EMPTY_FRAME, FRAME } from './frames.ts';
import { labelsOf, NO_LABEL } from './edgeLabels.ts';
import { edgeId, edgesOf } from './graph.ts';
import { gapFor } from './labelRoom.ts';
import { CARD, GAP, type Box, type Positions } from './place.ts';
import { scopesOf } from './scopes.ts';

type Size = { width: number; height: number };

/** How many layouts are remembered: of what is published, of drafts, and of what others store of both. */
const REMEMBERED = 8;
/** By what they depend on, the one used last at the end. */
const remembered = new Map<string, Positions>();

/**
 * Integer positions of all nodes, with the trigger at the origin. Equal graphs get equal positions. That of a
 * dense graph takes a second, and each object that is received is asked for its layout: the last ones are
 * remembered.
 */
export function layoutOf(spec: Pick<WorkflowSpec, 'nodes' | 'edges'>): Positions {
  const key = graphKey(spec);
  const positions = remembered.get(key) ?? newLayoutOf(spec);
  remembered.delete(key);
  remembered.set(key, positions);
  for (const oldest of remembered.keys()) if (remembered.size > REMEMBERED) remembered.delete(oldest);
  return positions;
}

/** All that a layout depends on. */
function graphKey({ nodes, edges }: Pick<WorkflowSpec, 'nodes' | 'edges'>): string {
  const drawn = nodes.map((node) => [node.id, node.within, node.group !== undefined, isTrigger(node)]);
  return JSON.stringify([drawn, edges]);
}

function newLayoutOf(spec: Pick<WorkflowSpec, 'nodes' | 'edges'>): Positions {
  const scopes = scopesOf(spec.nodes);
  const edges = edgesOf(spec);
  const places = new Map<string, { x: number; y: number }>();
  /** Places the nodes of a scope around its origin; returns the size of the scope. */
  const placeScope = (scope: string): Size & { move: (x: number, y: number) => void } => {
    const members = scopes.members(scope);
    const bodies = new Map(
      members.flatMap(({ id, group }) => (group === undefined ? [] : [[id, placeScope(id)] as const])),
    );
    const sizeOf = (node: WorkflowNode) => {
      const body = bodies.get(node.id);
      return body === undefined ? CARD : frameOf(body);
    };
    const boxes = arranged(members, edges, sizeOf);
    const move = (x: number, y: number): void => {
      for (const [id, box] of boxes) {
        places.set(id, { x: box.x + x, y: box.y + y });
        bodies.get(id)?.move(box.x + x + FRAME.left, box.y + y + FRAME.top);
      }
    };
    const all = [...boxes.values()];
    const right = Math.max(0, ...all.map(({ x, width }) => x + width));
    const bottom = Math.max(0, ...all.map(({ y, height }) => y + height));
    return { width: right, height: bottom, move };
  };
  placeScope(RUN_SCOPE).move(0, 0);
  const first = spec.nodes.find(isTrigger) ?? spec.nodes[0];
  const origin = places.get(first?.id ?? '') ?? { x: 0, y: 0 };
  return Object.fromEntries(
    spec.nodes.map(({ id }) => {
      const { x, y } = places.get(id) ?? origin;
      return [id, { x: Math.round(x - origin.x), y: Math.round(y - origin.y) }];
    }),
  );
}

function frameOf({ width, height }: Size): Size {
  if (width === 0) return EMPTY_FRAME;
  return {
    width: Math.max(width + FRAME.left + FRAME.right, EMPTY_FRAME.width),
    height: Math.max(height + FRAME.top + FRAME.bottom, EMPTY_FRAME.height),
  };
}

/** The library keeps nodes in plain objects, in which an ID such as constructor is an inherited member. */
const nameOf = (id: string) => `node ${id}`;

/**
 * Branches of a node are one below the other in the order of their connections: the library turns them round
 * where that crosses as many connections. Nodes that several lead to go where they fit best.
 */
function branchesInOrder(edges: readonly WorkflowEdge[]): { left: string; right: string }[] {
  const into = Map.groupBy(edges, ({ to }) => to);
  const branches = edges.filter(({ to }) => into.get(to)?.length === 1);
  return [...Map.groupBy(branches, ({ from }) => from).values()].flatMap((siblings) =>
    siblings
      .slice(1)
      .map(({ to }, index) => ({ left: nameOf(siblings[index]?.to ?? ''), right: nameOf(to) })),
  );
}

/** The boxes of the nodes of one scope. The first column and the first row begin at 0. */
function arranged(
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
  sizeOf: (node: WorkflowNode) => Size,
): Map<string, Box> {
  const graph = new Graph();
  const names = new Set(nodes.map(({ id }) => id));
  graph.setGraph({ rankdir: 'LR', nodesep: GAP.y, ranksep: GAP.x });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(nameOf(node.id), { ...sizeOf(node) });
  const own = edges.filter(({ from, to }) => names.has(from) && names.has(to));
  const labels = labelsOf(own);
  for (const edge of own) {
    const width = gapFor(labels.get(edgeId(edge)) ?? NO_LABEL) - GAP.x;
    graph.setEdge(nameOf(edge.from), nameOf(edge.to), { width, height: 0 });
  }
  if (nodes.length > 0) layout(graph, { constraints: branchesInOrder(own) });
  const boxes = nodes.map((node): [string, Box] => {
    const { width, height } = sizeOf(node);
    const { x = 0, y = 0 } = graph.node(nameOf(node.id)) ?? {};
    return [node.id, { x: x - width / 2, y: y - height / 2, width, height }];
  });
  const left = Math.min(...boxes.map(([, { x }]) => x));
  const top = Math.min(...boxes.map(([, { y }]) => y));
  return new Map(boxes.map(([id, box]) => [id, { ...box, x: box.x - left, y: box.y - top }]));
}
