/** The merge patch (RFC 7396) that a save sends: only changed fields. Pure. */
import { canvasAnnotations } from './annotation.ts';
import { isEqual, mergePatch } from '../../kube/patch.ts';
import type { Draft } from './model.ts';
import { mergeNotes, withNotes } from './notes.ts';
import { isRecord } from '../../../api/record.ts';

export type WorkflowPatch = {
  spec?: Record<string, unknown>;
  metadata?: { annotations: Record<string, string | null> };
};

/** The patch of a save; undefined if nothing changed. */
export function patchOf(saved: Draft, draft: Draft): WorkflowPatch | undefined {
  if (saved === draft) return undefined;
  const spec = mergePatch(saved.spec, draft.spec) as Record<string, unknown> | undefined;
  const isMoved = !isEqual(saved.positions, draft.positions) || !isEqual(saved.notes, draft.notes);
  if (spec === undefined && !isMoved) return undefined;
  const annotations = isMoved ? mergePatch(canvasAnnotations(saved), canvasAnnotations(draft)) : undefined;
  return {
    ...(spec !== undefined && { spec }),
    ...(annotations !== undefined && {
      metadata: { annotations: annotations as Record<string, string | null> },
    }),
  };
}

/**
 * My changes on top of theirs; undefined on conflict. Nodes and edges count as one field: people must merge a
 * graph that two of them changed.
 */
export function rebaseDraft(base: Draft, mine: Draft, theirs: Draft): Draft | undefined {
  const myFields = changedFields(base, mine);
  const theirFields = changedFields(base, theirs);
  if ([...myFields].some((field) => theirFields.has(field))) return undefined;
  const graph = myFields.has('nodes') ? mine.spec : theirs.spec;
  const spec: Record<string, unknown> = { ...theirs.spec };
  for (const field of myFields) spec[field] = (mine.spec as Record<string, unknown>)[field];
  const { edges: _edges, ...rest } = spec;
  const joined = { ...rest, nodes: graph.nodes, ...(graph.edges && { edges: graph.edges }) };
  const places = { ...theirs.positions, ...movedOf(base, mine) };
  const ids = new Set(graph.nodes.map(({ id }) => id));
  const positions = Object.fromEntries(Object.entries(places).filter(([id]) => ids.has(id)));
  const made = { ...(mine.pins && { pins: mine.pins }), spec: joined as Draft['spec'], positions };
  return withNotes<Draft>(made, mergeNotes(base, mine, theirs));
}

function changedFields(from: Draft, to: Draft): Set<string> {
  const patch = mergePatch(from.spec, to.spec);
  return new Set(isRecord(patch) ? Object.keys(patch).map((key) => (key === 'edges' ? 'nodes' : key)) : []);
}

function movedOf(base: Draft, mine: Draft): Draft['positions'] {
  return Object.fromEntries(
    Object.entries(mine.positions).filter(([id, at]) => !isEqual(base.positions[id], at)),
  );
}
