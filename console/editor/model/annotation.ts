/** Stores positions in an annotation, so that the spec holds nothing that only the canvas needs. */
import type { WorkflowObject } from '../../kube/resources.ts';
import { layoutOf } from './layout.ts';
import type { Draft } from './model.ts';
import { freePlace, type Position, type Positions } from './place.ts';

export const POSITIONS = 'windlass.dev/positions';

/** The draft of a saved workflow. The automatic layout replaces missing and invalid positions. */
export function draftOf({ metadata, spec }: Pick<WorkflowObject, 'metadata' | 'spec'>): Draft {
  const known = readPositions(metadata.annotations?.[POSITIONS]);
  const all = layoutOf(spec);
  const kept = Object.entries(known).filter(([id]) => Object.hasOwn(all, id));
  if (kept.length === 0) return { spec, positions: all };
  const positions: Record<string, Position> = Object.fromEntries(kept);
  // An ID may be the name of an inherited member, such as constructor.
  for (const [id, place] of Object.entries(all))
    if (!Object.hasOwn(positions, id)) positions[id] = freePlace(Object.values(positions), place);
  return { spec, positions };
}

/** The annotation of a draft; undefined if all nodes have their automatic positions. */
export function annotationOf({ spec, positions }: Draft): string | undefined {
  const own = spec.nodes.flatMap(({ id }) => {
    const at = positions[id];
    return at ? [[id, at] as const] : [];
  });
  const automatic = layoutOf(spec);
  if (own.every(([id, { x, y }]) => automatic[id]?.x === x && automatic[id].y === y)) return undefined;
  return JSON.stringify(
    Object.fromEntries(own.map(([id, { x, y }]) => [id, [Math.round(x), Math.round(y)]])),
  );
}

/** The positions in the annotation. Invalid entries are ignored. */
export function readPositions(text: string | undefined): Positions {
  const read = parsed(text);
  if (typeof read !== 'object' || read === null) return {};
  return Object.fromEntries(
    Object.entries(read).flatMap(([id, place]: [string, unknown]) => {
      const [x, y]: unknown[] = Array.isArray(place) ? place : [];
      return isPlace(x) && isPlace(y) ? [[id, { x, y }]] : [];
    }),
  );
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPlace(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1_000_000;
}
