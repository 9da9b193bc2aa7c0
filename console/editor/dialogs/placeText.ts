/** The places of problems, as dialogs name them. Pure. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { nodeName } from '../../workflows/kinds.ts';
import type { EdgeEnds } from '../model/graph.ts';

const ARROW = ' → ';

/** The place of a problem of the connection with this ID. */
export function edgePlace(id: string): string {
  return id.replace('>', ARROW);
}

/** The connection that a place is; undefined for a node, and for the workflow. */
export function edgeAt(place: string): EdgeEnds | undefined {
  const [from = '', to] = place.split(ARROW);
  return to === undefined ? undefined : { from, to };
}

/** The place of a problem with the names that the canvas shows. */
export function placeText(place: string, { nodes }: Pick<WorkflowSpec, 'nodes'>): string {
  return place
    .split(ARROW)
    .map((id) => nodeName(id, nodes))
    .join(ARROW);
}
