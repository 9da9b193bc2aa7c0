/** The automatic layout: left to right, the trigger first. */
import { Graph, layout } from '@dagrejs/dagre';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { edgesOf } from './graph.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { CARD, STEP, type Positions } from './place.ts';

/** Integer positions of all nodes, with the trigger at the origin. Equal graphs get equal positions. */
export function layoutOf(spec: Pick<WorkflowSpec, 'nodes' | 'edges'>): Positions {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: STEP.y - CARD.height, ranksep: STEP.x - CARD.width });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of spec.nodes) graph.setNode(id, { ...CARD });
  for (const { from, to } of edgesOf(spec)) {
    if (graph.hasNode(from) && graph.hasNode(to)) graph.setEdge(from, to);
  }
  layout(graph);
  const first = spec.nodes.find(isTrigger) ?? spec.nodes[0];
  const origin = first ? graph.node(first.id) : undefined;
  return Object.fromEntries(
    spec.nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) ?? {};
      return [id, { x: Math.round(x - (origin?.x ?? 0)), y: Math.round(y - (origin?.y ?? 0)) }];
    }),
  );
}
