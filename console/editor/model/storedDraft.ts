/** Converts drafts of the editor to the content of a WorkflowDraft, and back. Pure. */
import { isRecord } from '../../../api/record.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import { isEqual } from '../../kube/patch.ts';
import { layoutOf } from './layout.ts';
import type { Draft } from './model.ts';
import { readNotes, withNotes } from './notes.ts';
import { keptPins, readPins } from './pins.ts';
import { freePlace, type Position } from './place.ts';
import { displayProblemIn } from './displayProblem.ts';

/**
 * The content of a WorkflowDraft. `base` is the version that was published when the draft was begun. `text`
 * is the invalid text of the YAML tab.
 */
export type StoredDraft = { base: Draft; draft: Draft; text?: string };

/**
 * A draft as the `body` of a WorkflowDraft. Without `active` and `suspend`: publishing must not start a
 * workflow that somebody stopped meanwhile.
 */
export function bodyOf(draft: Draft): string {
  const { active: _active, suspend: _suspend, ...edited } = draft.spec;
  const pins = keptPins(draft);
  const body =
    bodies.get(draft) ??
    JSON.stringify({ spec: edited, positions: draft.positions, notes: draft.notes, ...(pins && { pins }) });
  bodies.set(draft, body);
  return body;
}

/** A cache: drafts are immutable, and their text is needed often. */
const bodies = new WeakMap<Draft, string>();

/** Whether a draft differs from the published version at most in `active` and `suspend`. */
export function isPublished(draft: Draft, published: Draft): boolean {
  if (draft === published) return true;
  const edited = ({ spec: { active: _active, suspend: _suspend, ...rest }, positions, notes }: Draft) => ({
    rest,
    positions,
    notes,
  });
  return isEqual(edited(draft), edited(published));
}

/** The spec of a WorkflowDraft that the editor stores. */
export function contentOf(
  { metadata }: WorkflowObject,
  { base, draft, text }: StoredDraft,
): DraftObject['spec'] {
  return {
    base: { uid: metadata.uid ?? '', body: bodyOf(base) },
    body: bodyOf(draft),
    ...(text !== undefined && { text }),
  };
}

/** Whether the draft changes nothing. It is stored because of its pins then. */
export function isPinsOnly({ base, draft, text }: StoredDraft): boolean {
  return text === undefined && isPublished(draft, base);
}

/**
 * The content of a WorkflowDraft, with `active` and `suspend` of the workflow; undefined if it belongs to a
 * workflow with another UID, or if the canvas cannot display it.
 */
export function readStored({ spec }: DraftObject, workflow: WorkflowObject): StoredDraft | undefined {
  if (spec.base.uid !== workflow.metadata.uid) return undefined;
  const base = readBody(spec.base.body, workflow.spec);
  const draft = readBody(spec.body, workflow.spec);
  if (base === undefined || draft === undefined) return undefined;
  return { base, draft, ...(spec.text !== undefined && { text: spec.text }) };
}

/** Parses a `body`, with `active` and `suspend` of `live`. Undefined if the canvas cannot display it. */
export function readBody(body: string, live: WorkflowSpec): Draft | undefined {
  const read = parsed(body);
  if (!isRecord(read) || !canDisplay(read['spec'])) return undefined;
  const { active, suspend } = live;
  const { active: _active, suspend: _suspend, ...edited } = read['spec'] as unknown as WorkflowSpec;
  const spec: WorkflowSpec = { ...edited, active, ...(suspend !== undefined && { suspend }) };
  const pins = readPins(read['pins']);
  const made = { spec, positions: positionsOf(spec, read['positions']), ...(pins && { pins }) };
  return withNotes<Draft>(made, readNotes(read['notes']));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the canvas and the forms can display the spec. */
function canDisplay(spec: unknown): spec is Record<string, unknown> {
  return isRecord(spec) && isGraph(spec) && displayProblemIn(spec) === undefined;
}

/** Whether the IDs of all nodes are unique, and all edges connect two nodes. */
function isGraph({ nodes, edges = [] }: Record<string, unknown>): boolean {
  if (!Array.isArray(nodes) || !Array.isArray(edges)) return false;
  const ids = new Set(nodes.map((node: unknown) => (isRecord(node) ? node['id'] : undefined)));
  const isId = (id: unknown) => typeof id === 'string' && id !== '' && ids.has(id);
  return (
    ids.size === nodes.length &&
    [...ids].every(isId) &&
    edges.every((edge: unknown) => isRecord(edge) && isId(edge['from']) && isId(edge['to']))
  );
}

/** The stored positions. Nodes without one get a free place. */
function positionsOf(spec: { nodes: WorkflowNode[] } & WorkflowSpec, stored: unknown): Draft['positions'] {
  const automatic = layoutOf(spec);
  const known = isRecord(stored) ? stored : {};
  const positions: Record<string, Position> = {};
  const free = spec.nodes.filter(({ id }) => {
    const place = Object.hasOwn(known, id) ? readPosition(known[id]) : undefined;
    if (place) positions[id] = place;
    return place === undefined;
  });
  const isEmpty = free.length === spec.nodes.length;
  for (const { id } of free) {
    const place = automatic[id] ?? { x: 0, y: 0 };
    positions[id] = isEmpty ? place : freePlace(Object.values(positions), place);
  }
  return positions;
}

function readPosition(value: unknown): Position | undefined {
  if (!isRecord(value)) return undefined;
  const { x, y } = value;
  return isCoordinate(x) && isCoordinate(y) ? { x, y } : undefined;
}

function isCoordinate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1_000_000;
}
