/** Where arrow keys lead: along the edges, and to what stands above or below. Pure. */
import { edgesOf } from '../model/graph.ts';
import type { Draft } from '../model/model.ts';
import type { Position } from '../model/place.ts';

export type Direction = 'left' | 'right' | 'up' | 'down';

/** The node that lies in this direction from another one; undefined where there is none. */
export function neighbour({ spec, positions }: Draft, from: string, way: Direction): string | undefined {
  const at = positions[from] ?? { x: 0, y: 0 };
  const placeOf = (id: string): Position => positions[id] ?? { x: 0, y: 0 };
  const edges = edgesOf(spec);
  const candidates =
    way === 'right'
      ? edges.filter((edge) => edge.from === from).map(({ to }) => to)
      : way === 'left'
        ? edges.filter((edge) => edge.to === from).map((edge) => edge.from)
        : spec.nodes.map(({ id }) => id).filter((id) => isThatWay(placeOf(id), at, way));
  return candidates.toSorted((one, other) => far(placeOf(one), at) - far(placeOf(other), at))[0];
}

function isThatWay({ y }: Position, at: Position, way: Direction): boolean {
  return way === 'up' ? y < at.y : way === 'down' && y > at.y;
}

/** Sideways counts double: what is nearly above is nearer than what is level but far off. */
function far({ x, y }: Position, at: Position): number {
  return Math.abs(y - at.y) + 2 * Math.abs(x - at.x);
}
