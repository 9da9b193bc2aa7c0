/** Changes of the draft, with the texts and shapes of fields that belong to it. */
import { shapesAfterStep, withRenamedShapes, withShapes } from '../model/fieldShapes.ts';
import { renameNode, type Draft } from '../model/model.ts';
import { discarded, edited, steppedInHistory } from '../model/session.ts';
import { withRenamed, withText } from '../model/unapplied.ts';
import type { Core } from './core.ts';
import { openNode } from './panel.ts';
import type { EditorActions } from './store.ts';
import { withOtherId } from './withOtherId.ts';

/** Applies an operation to the draft, unless the page only shows the workflow. */
export function apply(core: Core, ...[operation, options = {}]: Parameters<EditorActions['apply']>): void {
  const { session, view, set } = core;
  if (view().mode === 'read') return;
  const { key, isWhole = false } = options;
  const next = edited(session(), operation, { at: Date.now(), ...(key !== undefined && { key }) });
  set(next, isWhole ? { shapes: [] } : {});
}

/** Replaces the whole draft, such as by an earlier version. */
export function replaceDraft({ session, view, set }: Core, draft: Draft): void {
  if (view().mode === 'read') return;
  const next = edited(session(), () => draft, { at: Date.now() });
  set(next, { replaced: view().replaced + 1, shapes: [] });
}

/** Gives a node another ID, and opens its panel. */
export function renameAndOpenNode(core: Core, id: string, next: string): void {
  const { session, view, set } = core;
  if (view().mode === 'read') return;
  const before = session().history.present.spec;
  const renamed = edited(session(), (draft) => renameNode(draft, id, next), { at: Date.now() });
  const { spec } = renamed.history.present;
  set(renamed, {
    unapplied: withRenamed(view().unapplied, [id, next], [before, spec]),
    shapes: withRenamedShapes(view().shapes, [id, next], [before, spec]),
  });
  openNode(core, { node: next });
}

/** Undoes or redoes a change. */
export function stepInHistory({ session, view, set }: Core, way: 'back' | 'forward'): void {
  const next = steppedInHistory(session(), way);
  const [{ spec: before }, { spec: now }] = [session().history.present, next.history.present];
  const shapes = shapesAfterStep(view().shapes, way, [before, now]);
  set(next, { ...withOtherId(view(), before, now), shapes });
}

/** Discards the changes since the published version. */
export function discard({ session, set }: Core): void {
  set(discarded(session(), Date.now()), {
    unreadable: undefined,
    text: undefined,
    unapplied: [],
    shapes: [],
  });
}

/** Keeps a text that the field cannot apply to the draft. */
export function keepUnapplied(
  { session, view, set }: Core,
  ...[node, field, typed]: Parameters<EditorActions['keepUnapplied']>
): void {
  const { spec } = session().history.present;
  const unapplied = withText(view().unapplied, { node, field, spec }, typed);
  if (unapplied !== view().unapplied) set(session(), { unapplied });
}

/** Keeps the values that a field had in its shapes. */
export function keepShapes(
  { session, view, set }: Core,
  ...[node, at, shapes]: Parameters<EditorActions['keepShapes']>
): void {
  const { spec } = session().history.present;
  set(session(), { shapes: withShapes(view().shapes, { ...at, node, spec, shapes }) });
}
