/** The places and groups of dragged nodes, and of the bodies of dragged groups. Pure. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { boxesOf, groupAt } from '../model/frames.ts';
import type { Position, Positions } from '../model/place.ts';
import { scopesOf } from '../model/scopes.ts';
import type { EditorState } from '../store/store.ts';

/** A node where it is dragged. */
export type Dragged = { id: string; position: Position };

type State = Pick<EditorState, 'draft' | 'collapsed'>;

/** The places of dragged nodes and of the bodies of dragged groups. */
export function placesOf(
  { draft: { spec, positions }, collapsed }: State,
  dragged: readonly Dragged[],
): Positions {
  if (!spec.nodes.some(isGroup))
    return Object.fromEntries(dragged.map(({ id, position }) => [id, rounded(position)]));
  const scopes = scopesOf(spec.nodes);
  const boxes = boxesOf(spec.nodes, positions, collapsed);
  const open = boxesOf(spec.nodes, positions);
  const places = new Map<string, Position>();
  const byDepth = dragged.toSorted(
    (one, other) => scopes.around(one.id).length - scopes.around(other.id).length,
  );
  for (const { id, position } of byDepth) {
    const at = rounded(position);
    const from = boxes.get(id) ?? at;
    for (const inner of scopes.bodyOf(id)) {
      const box = open.get(inner) ?? at;
      places.set(inner, rounded({ x: box.x + at.x - from.x, y: box.y + at.y - from.y }));
    }
    places.set(id, at);
  }
  return Object.fromEntries(places);
}

/** The group into which each dragged node would be dropped. Bodies of dragged groups stay in them. */
export function groupsOf(
  { draft: { spec, positions }, collapsed }: State,
  dragged: readonly Dragged[],
): { id: string; group: string | undefined; current: string }[] {
  const { nodes } = spec;
  if (!nodes.some(isGroup)) return [];
  const scopes = scopesOf(nodes);
  const boxes = boxesOf(nodes, positions, collapsed);
  const ids = new Set(dragged.map(({ id }) => id));
  const own = dragged.filter(({ id }) => !scopes.around(id).some((group) => ids.has(group)));
  return own.map(({ id, position }) => {
    const size = boxes.get(id) ?? { width: 0, height: 0 };
    const box = { ...size, ...position };
    const current = scopes.of(id);
    return { id, current, group: groupAt(nodes, boxes, { id, box, current }) };
  });
}

/** The other group into which the first dragged node would be dropped. */
export function hoveredGroup(state: State, dragged: readonly Dragged[]): string | undefined {
  const [first] = groupsOf(state, dragged);
  return first === undefined || first.group === first.current ? undefined : first.group;
}

const isGroup = ({ group }: WorkflowNode): boolean => group !== undefined;

function rounded({ x, y }: Position): Position {
  return { x: Math.round(x), y: Math.round(y) };
}
