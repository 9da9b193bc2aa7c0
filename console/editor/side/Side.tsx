/** The side panel: a node, an edge, the settings of the workflow, or the gallery for a new node. */
import { lazy, Suspense, useEffect, type KeyboardEvent } from 'react';
import { Center, Loader } from '@mantine/core';
import { Gallery } from '../gallery/Gallery.tsx';
import { edgeId } from '../model/graph.ts';
import { useEditorPart, useEditorStore, type EditorState, type EditorStore } from '../store/store.ts';
import classes from './side.module.css';

const EdgePanel = lazy(async () => ({ default: (await import('./EdgePanel.tsx')).EdgePanel }));
const SettingsPanel = lazy(async () => ({
  default: (await import('../settings/SettingsPanel.tsx')).SettingsPanel,
}));
const loadNodePanel = () => import('../panel/NodePanel.tsx');
const NodePanel = lazy(async () => ({ default: (await loadNodePanel()).NodePanel }));

/** After the gallery is on the screen. */
const LOAD_PANEL_AFTER_MS = 200;

export function Side() {
  const store = useEditorStore();
  const panel = useEditorPart((state) => state.panel);
  const picker = useEditorPart((state) => state.picker);
  useLoadedPanel(picker !== undefined);
  if (picker !== undefined)
    return (
      <aside
        className={classes['picker']}
        aria-label="Add a node"
        onKeyDown={(event) => closeAt(event, store)}
      >
        <Gallery place={picker} />
      </aside>
    );
  if (panel === undefined) return null;
  return (
    <aside
      className={classes['panel']}
      aria-label={nameOf(panel)}
      onKeyDown={(event) => closeAt(event, store)}
    >
      <Suspense
        fallback={
          <Center h="100%">
            <Loader role="progressbar" size="sm" aria-label="Loading" />
          </Center>
        }
      >
        <Panel panel={panel} />
      </Suspense>
    </aside>
  );
}

type PanelSubject = NonNullable<EditorState['panel']>;

function Panel({ panel }: { panel: PanelSubject }) {
  const store = useEditorStore();
  if ('node' in panel)
    return <NodePanel key={panel.node} nodeId={panel.node} onClose={() => closeTo(store)} />;
  if ('setting' in panel) return <SettingsPanel at={panel} onClose={() => closeTo(store)} />;
  // The node is named: once the connection is removed, the store has no panel any more.
  return (
    <EdgePanel key={edgeId(panel.edge)} ends={panel.edge} onClose={() => closeTo(store, panel.edge.to)} />
  );
}

function nameOf(panel: PanelSubject): string {
  if ('setting' in panel) return 'Workflow settings';
  return 'node' in panel ? `Node ${panel.node}` : 'Connection';
}

/** Loads the panel of the node that is about to be chosen: keys that are pressed meanwhile would be lost. */
function useLoadedPanel(isPicking: boolean): void {
  useEffect(() => {
    if (!isPicking) return undefined;
    const timer = setTimeout(() => void loadNodePanel(), LOAD_PANEL_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isPicking]);
}

function closeAt(event: KeyboardEvent, store: EditorStore): void {
  if (event.key === 'Escape' && !event.defaultPrevented && !isListOpen(event.target)) closeTo(store);
}

/** The list of an input closes first. That of the gallery does not close. */
function isListOpen(target: EventTarget): boolean {
  return target instanceof HTMLElement && target.matches('[data-expanded]:not([data-gallery])');
}

/**
 * Closes the panel and returns the focus to its node, to the node that its connection leads to, or to the
 * button that opens the settings.
 */
function closeTo(store: EditorStore, id = nodeOfPanel(store.get())): void {
  const { panel } = store.get();
  store.closePanel();
  if (panel !== undefined && 'setting' in panel)
    return document.querySelector<HTMLElement>('[data-settings]')?.focus();
  if (id !== undefined) document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`)?.focus();
}

function nodeOfPanel({ panel, selection }: EditorState): string | undefined {
  return panel !== undefined && 'edge' in panel ? panel.edge.to : selection.nodes.at(-1);
}
