/** Changes of the draft that notify the user of their result, or of the reason why they were refused. */
import { RUN_SCOPE } from '../../../api/scopes.ts';
import type { WorkflowEdge } from '../../../api/workflow.ts';
import { count } from '../../ui/format.ts';
import { notifyProblem, notifySuccess } from '../../ui/notify.tsx';
import { switchNodes, switchOf } from '../model/disabling.ts';
import { removalProblem, type EdgeEnds } from '../model/graph.ts';
import { moveInto, removeWithBodies } from '../model/grouping.ts';
import { disconnect, moveNodes, removeNodes } from '../model/model.ts';
import type { Positions } from '../model/place.ts';
import { scopesOf } from '../model/scopes.ts';
import type { EditorState, EditorStore, PickerPlace } from './store.ts';

/**
 * Removes connections, unless that would leave a body without connections. Notifies the user, with a button
 * that undoes the removal.
 */
export function removeConnections(store: EditorStore, ends: readonly EdgeEnds[]): void {
  const problem = removalProblem(store.get().draft.spec, ends);
  if (problem !== undefined) return notifyProblem('The connection stays', problem);
  store.apply((draft) => disconnect(draft, ends));
  const [{ from, to } = { from: '', to: '' }] = ends;
  const what = ends.length === 1 ? `Connection from ${from} to ${to}` : count(ends.length, 'connection');
  notifySuccess(`${what} removed.`, { text: 'Undo', onClick: store.undo });
}

/** The group of each node after a move; `RUN_SCOPE`: none. */
export type Targets = ReadonlyMap<string, string>;

/** Moves nodes on the canvas, and into or out of groups, in one step. Changes nothing if that is refused. */
export function moveToGroups(store: EditorStore, targets: Targets, places: Positions = {}): void {
  const { draft } = store.get();
  const scopes = scopesOf(draft.spec.nodes);
  const leaving = [...targets].filter(([id, group]) => scopes.of(id) !== group);
  let next = moveNodes(draft, places);
  const removed: WorkflowEdge[] = [];
  for (const [id, group] of leaving) {
    const result = moveInto(next, [id], group === RUN_SCOPE ? undefined : group);
    if (typeof result === 'string') return notifyProblem('Not moved', result);
    next = result.draft;
    removed.push(...result.removed);
  }
  store.apply(() => next);
  if (leaving.length === 0) return;
  const gone =
    removed.length === 0 ? '' : ` ${count(removed.length, 'connection')} across its border removed.`;
  notifySuccess(`${movedText(leaving, scopes.of)}${gone}`, { text: 'Undo', onClick: store.undo });
}

function movedText(leaving: readonly [string, string][], scopeOf: (id: string) => string): string {
  const [[id, group] = ['', '']] = leaving;
  const what = leaving.length === 1 ? id : count(leaving.length, 'node');
  return group === RUN_SCOPE ? `${what} moved out of ${scopeOf(id)}.` : `${what} moved into ${group}.`;
}

/** Removes the selection. Asks first if it contains a group with nodes that are not selected. */
export function removeSelected(store: EditorStore): void {
  const { selection, draft } = store.get();
  const ends = selection.edges.flatMap((id) => endsOf(id) ?? []);
  if (ends.length > 0) removeConnections(store, ends);
  const { bodyOf } = scopesOf(draft.spec.nodes);
  const isAsked = selection.nodes.some((id) => bodyOf(id).some((inner) => !selection.nodes.includes(inner)));
  if (isAsked) store.askRemoval(selection.nodes);
  else removeSelectedNodes(store, true);
}

/** Removes nodes; the bodies of groups among them are removed too, or take the places of their groups. */
export function removeSelectedNodes(store: EditorStore, withBodies: boolean): void {
  const ids = store.get().removing ?? store.get().selection.nodes;
  store.askRemoval(undefined);
  store.apply((draft) => (withBodies ? removeWithBodies(draft, ids) : removeNodes(draft, ids)));
}

/** Disables or enables the selected steps. Returns whether any is selected. */
export function switchSelected(store: EditorStore): boolean {
  const { draft, selection } = store.get();
  if (switchOf(draft, selection.nodes) === undefined) return false;
  store.apply((old) => switchNodes(old, selection.nodes));
  return true;
}

/** The ends in the ID of an edge. */
export function endsOf(id: string | undefined): EdgeEnds | undefined {
  const [from, to] = id?.split('>') ?? [];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** Where a node is added without a place of its own: after the selected node, or else after the last one. */
export function placeForNode({ draft, selection }: Pick<EditorState, 'draft' | 'selection'>): PickerPlace {
  const node = selection.nodes.at(-1) ?? scopesOf(draft.spec.nodes).members(RUN_SCOPE).at(-1)?.id;
  return node === undefined ? { kind: 'trigger' } : { kind: 'after', node };
}
