/** The editor of one workflow: its store, and everything that shows or changes it. */
import { Center, Loader } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useMay } from '../kube/access.ts';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';
import { managerOf } from '../workflows/manager.ts';
import { Banners } from './Banners.tsx';
import { Canvas } from './canvas/Canvas.tsx';
import { isTyping } from './canvas/keys.ts';
import { useDraftCheck } from './store/check.ts';
import { createEditorStore } from './store/createStore.ts';
import { Header, type Tab } from './Header.tsx';
import { LeaveGuard } from './leave.tsx';
import { nodeOf } from './model/model.ts';
import { RunStrip } from './run/RunStrip.tsx';
import { Side } from './side/Side.tsx';
import { EditorContext, useEditorPart, useEditorStore, type EditorStore } from './store/store.ts';
import { UnreadableBanner } from './yaml/UnreadableBanner.tsx';
import classes from './editor.module.css';

const YamlTab = lazy(async () => ({ default: (await import('./yaml/YamlTab.tsx')).YamlTab }));
const ConflictDialog = lazy(async () => ({
  default: (await import('./dialogs/ConflictDialog.tsx')).ConflictDialog,
}));
const LiveDialog = lazy(async () => ({ default: (await import('./dialogs/LiveDialog.tsx')).LiveDialog }));

/** `isGone`: somebody has deleted the workflow, and this is what it was. */
export function Editor({ workflow, isGone }: { workflow: WorkflowObject; isGone: boolean }) {
  const { namespace = '', name } = workflow.metadata;
  const mayPatch = useMay({ verb: 'patch', resource: WORKFLOWS, namespace, name });
  const isManaged = managerOf(workflow.metadata) !== undefined;
  const [store] = useState(() => createEditorStore(workflow, 'read'));
  useEffect(() => store.see(workflow), [store, workflow]);
  useEffect(() => store.setGone(isGone), [store, isGone]);
  useEffect(() => store.setMode(mayPatch && !isManaged ? 'edit' : 'read'), [store, mayPatch, isManaged]);
  return (
    <EditorContext value={store}>
      <Frame mayPatch={mayPatch} />
    </EditorContext>
  );
}

function Frame({ mayPatch }: { mayPatch: boolean }) {
  const store = useEditorStore();
  const [tab, setTab] = useState<Tab>('canvas');
  const [wasYaml, setWasYaml] = useState(false);
  const isComparing = useEditorPart((state) => state.isComparing && state.theirs !== undefined);
  const isAskingLive = useEditorPart((state) => state.isAskingLive);
  useDraftCheck(mayPatch);
  useEditorKeys(store);
  useNodeInAddress(store);
  return (
    <div className={classes['editor']}>
      <Header
        tab={tab}
        onTab={(next) => {
          setTab(next);
          if (next === 'yaml') setWasYaml(true);
        }}
      />
      <Banners />
      {tab === 'canvas' && <UnreadableBanner onYaml={() => setTab('yaml')} />}
      <RunStrip />
      <div className={classes['body']}>
        <div className={classes['tab']} hidden={tab !== 'canvas'}>
          <Canvas />
        </div>
        {/* It stays once it was open, so that nothing typed is lost. */}
        {wasYaml && (
          <div className={classes['tab']} hidden={tab !== 'yaml'}>
            <Suspense fallback={<Waiting />}>
              <YamlTab />
            </Suspense>
          </div>
        )}
        {tab === 'canvas' && <Side />}
      </div>
      <LeaveGuard />
      {isComparing && (
        <Suspense fallback={null}>
          <ConflictDialog />
        </Suspense>
      )}
      {isAskingLive && (
        <Suspense fallback={null}>
          <LiveDialog />
        </Suspense>
      )}
    </div>
  );
}

function Waiting() {
  return (
    <Center flex={1}>
      <Loader size="sm" />
    </Center>
  );
}

/** Ctrl+S saves from everywhere; Ctrl+Z undoes where nobody types, since fields have an undo of their own. */
function useEditorKeys(store: EditorStore): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      const key = event.key.toLowerCase();
      if (key === 's') {
        event.preventDefault();
        // What is being typed counts: fields tell it when they lose the focus.
        if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
        void store.save();
      } else if ((key === 'z' || key === 'y') && !isTyping(event.target) && !store.get().isReadOnly) {
        event.preventDefault();
        if (key === 'y' || event.shiftKey) store.redo();
        else store.undo();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [store]);
}

/** `?node=` names the node whose panel is open, so that a link can lead there. */
function useNodeInAddress(store: EditorStore): void {
  const { node } = useSearch({ from: '/p/$project/workflows/$workflow' });
  const navigate = useNavigate({ from: '/p/$project/workflows/$workflow' });
  const panel = useEditorPart((state) => state.panel);
  const open = panel !== undefined && 'node' in panel ? panel.node : undefined;
  const told = useRef<string>(undefined);
  useEffect(() => {
    if (node !== undefined && node !== told.current && nodeOf(store.get().draft, node)) store.openNode(node);
    told.current = node;
  }, [store, node]);
  useEffect(() => {
    if (told.current === open) return;
    told.current = open;
    void navigate({
      search: ({ run }) => ({ ...(run !== undefined && { run }), ...(open !== undefined && { node: open }) }),
      replace: true,
    });
  }, [navigate, open]);
}
