/** Stores positions and notes in annotations, so that the spec holds nothing that only the canvas needs. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import { layoutOf } from './layout.ts';
import type { Draft } from './model.ts';
import { notesIn, notesText, withNotes } from './notes.ts';
import { freePlace, type Position, type Positions } from './place.ts';

export const POSITIONS = 'windlass.dev/positions';
export const NOTES = 'windlass.dev/notes';

type Annotations = Record<string, string>;

/**
 * The draft of a saved workflow. The automatic layout replaces missing and invalid positions; invalid notes
 * are left out.
 */
export function draftOf({ metadata, spec }: Pick<WorkflowObject, 'metadata' | 'spec'>): Draft {
  const { annotations = {} } = metadata;
  return withNotes(placed(spec, annotations[POSITIONS]), notesIn(annotations[NOTES]));
}

/** The annotations that hold the positions and notes of a draft. */
export function canvasAnnotations(draft: Draft): Annotations {
  const [positions, notes] = [annotationOf(draft), notesText(draft)];
  return {
    ...(positions !== undefined && { [POSITIONS]: positions }),
    ...(notes !== undefined && { [NOTES]: notes }),
  };
}

/** The annotations without positions and notes. */
export function otherAnnotations(annotations: Annotations = {}): Annotations {
  const { [POSITIONS]: _positions, [NOTES]: _notes, ...others } = annotations;
  return others;
}

/** Whether both have the same positions and notes. */
export function isSameCanvas(one: Annotations = {}, other: Annotations = {}): boolean {
  return [POSITIONS, NOTES].every((name) => one[name] === other[name]);
}

function placed(spec: WorkflowSpec, text: string | undefined): Draft {
  const known = readPositions(text);
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
