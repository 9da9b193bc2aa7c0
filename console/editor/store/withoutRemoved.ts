/** Clears selection, panel and picker of nodes and edges that the draft no longer contains. Pure. */
import { edgeId, edgesOf } from '../model/graph.ts';
import type { Draft } from '../model/model.ts';
import type { EditorState } from './store.ts';

type Shown = Pick<EditorState, 'selection' | 'panel' | 'picker'>;

/** The view without nodes and edges that the draft does not contain. Unchanged parts keep their identity. */
export function withoutRemoved<T extends Shown>(view: T, { spec }: Draft): T {
  const ids = new Set(spec.nodes.map(({ id }) => id));
  const edgeIds = new Set(edgesOf(spec).map(edgeId));
  const { panel, picker } = view;
  return {
    ...view,
    selection: selectionOf(view.selection, { ids, edgeIds }),
    panel: panel !== undefined && hasSubject(panel, { ids, edgeIds }) ? panel : undefined,
    picker: picker !== undefined && hasPlace(picker, { ids, edgeIds }) ? picker : undefined,
  };
}

type Known = { ids: ReadonlySet<string>; edgeIds: ReadonlySet<string> };

function selectionOf(selection: Shown['selection'], { ids, edgeIds }: Known): Shown['selection'] {
  const nodes = selection.nodes.filter((id) => ids.has(id));
  const edges = selection.edges.filter((id) => edgeIds.has(id));
  const isSame = nodes.length === selection.nodes.length && edges.length === selection.edges.length;
  return isSame ? selection : { nodes, edges };
}

function hasSubject(panel: NonNullable<Shown['panel']>, { ids, edgeIds }: Known): boolean {
  if ('setting' in panel) return true;
  return 'node' in panel ? ids.has(panel.node) : edgeIds.has(edgeId(panel.edge));
}

function hasPlace(place: NonNullable<Shown['picker']>, { ids, edgeIds }: Known): boolean {
  if (place.kind === 'after') return ids.has(place.node);
  if (place.kind === 'inside') return ids.has(place.group);
  return place.kind !== 'between' || edgeIds.has(edgeId(place.edge));
}
