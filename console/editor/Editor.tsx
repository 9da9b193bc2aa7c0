/** The editor of one workflow: creates its store and renders the canvas, panels and dialogs. */
import { Alert, Button, Center, Group, Loader, Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useBlocker, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useMay } from '../kube/access.ts';
import { WORKFLOWS, type DraftObject, type WorkflowObject } from '../kube/resources.ts';
import { sessionQuery, userNameOf } from '../session/session.ts';
import { managerOf } from '../workflows/manager.ts';
import { useOfferedNodes } from '../ui/offered.ts';
import { isTyping } from '../ui/isTyping.ts';
import { readTab, writeTab } from '../ui/tabStore.ts';
import { isLayerOpen } from '../ui/usePageKey.ts';
import { Banners } from './Banners.tsx';
import { Canvas } from './canvas/Canvas.tsx';
import { useAutosave } from './store/autosave.ts';
import { useCredentialCheck } from './store/credentialCheck.ts';
import { useDraftCheck } from './store/draftCheck.ts';
import { createEditorStore } from './store/createStore.ts';
import { Header, type Tab } from './Header.tsx';
import { nodeOf } from './model/model.ts';
import { storedTexts } from './model/unapplied.ts';
import { useReferenceCheck } from './panel/useReferenceCheck.ts';
import { RunStrip } from './run/RunStrip.tsx';
import { Side } from './side/Side.tsx';
import { panelSearch } from './store/panelSearch.ts';
import { useMayPublish } from './store/rights.ts';
import { useTabKey } from './store/useTabKey.ts';
import { EditorContext, useEditorPart, useEditorStore, type EditorStore } from './store/store.ts';
import classes from './editor.module.css';
import { IconFileAlert } from '@tabler/icons-react';

const YamlTab = lazy(async () => ({ default: (await import('./yaml/YamlTab.tsx')).YamlTab }));
const ConflictDialog = lazy(async () => ({
  default: (await import('./dialogs/ConflictDialog.tsx')).ConflictDialog,
}));
const N8nDialog = lazy(async () => ({ default: (await import('./paste/N8nDialog.tsx')).N8nDialog }));
const PublishDialog = lazy(async () => ({
  default: (await import('./dialogs/PublishDialog.tsx')).PublishDialog,
}));

type Props = {
  workflow: WorkflowObject;
  /** The workflow was deleted, and this is its last state. */
  isDeleted: boolean;
  /** The stored draft; null: there is none. */
  draft: DraftObject | null;
  /** Whether the user may store drafts. */
  mayDraft: boolean;
};

export function Editor({ workflow, isDeleted, draft, mayDraft }: Props) {
  const { namespace = '', name } = workflow.metadata;
  const mayPatch = useMay({ verb: 'patch', resource: WORKFLOWS, namespace, name });
  const isManaged = managerOf(workflow.metadata) !== undefined;
  const user = userNameOf(useQuery(sessionQuery).data);
  const [store] = useState(() =>
    createEditorStore(workflow, 'read', {
      mayDraft,
      ...(draft !== null && { object: draft }),
      texts: readTab({ user, namespace, workflow: name, what: TEXTS }),
    }),
  );
  useEffect(() => store.update(workflow), [store, workflow]);
  useEffect(() => store.setMayDraft(mayDraft), [store, mayDraft]);
  useEffect(() => store.updateDraft(draft), [store, draft]);
  useEffect(() => store.setDeleted(isDeleted), [store, isDeleted]);
  useEffect(() => {
    const { mode, isDirty } = store.get();
    // Rights may become known after somebody has begun to try changes.
    if (isManaged) store.setMode(isDirty || mode === 'trial' ? 'trial' : 'read');
    else store.setMode(mayPatch || mayDraft ? 'edit' : 'read');
  }, [store, mayPatch, mayDraft, isManaged]);
  return (
    <EditorContext value={store}>
      <Frame mayPatch={mayPatch} />
      <UnappliedTexts />
    </EditorContext>
  );
}

/** What the tab remembers of unapplied texts. */
const TEXTS = 'texts';

/** Unapplied texts are no part of the stored draft: the tab remembers them. */
function UnappliedTexts() {
  const at = useTabKey(TEXTS);
  const texts = useEditorPart(({ unapplied }) => unapplied);
  const spec = useEditorPart(({ draft }) => draft.spec);
  useEffect(() => writeTab(at, storedTexts(texts, spec)), [at, texts, spec]);
  return null;
}

function Frame({ mayPatch }: { mayPatch: boolean }) {
  const store = useEditorStore();
  const [tab, setTab] = useState<Tab>('canvas');
  const [wasYaml, setWasYaml] = useState(false);
  const isComparing = useEditorPart((state) => state.isComparing && state.theirs !== undefined);
  const isAsking = useEditorPart((state) => state.isAsking);
  const pastedN8n = useEditorPart((state) => state.pastedN8n);
  // The settings are also shown beside the YAML.
  const isSetting = useEditorPart(({ panel }) => panel !== undefined && 'setting' in panel);
  const showTab = (next: Tab): void => {
    setTab(next);
    if (next === 'yaml') setWasYaml(true);
  };
  useAutosave();
  useDraftCheck(mayPatch);
  useReferenceCheck();
  useCredentialCheck();
  useOfferedNodes(useEditorPart(({ draft }) => draft.spec.nodes));
  useEditorKeys(store);
  usePanelInAddress(store);
  return (
    <div className={classes['editor']}>
      <Header tab={tab} onTab={showTab} />
      <Banners />
      {tab === 'canvas' && <UnreadableBanner onYaml={() => showTab('yaml')} />}
      <RunStrip />
      <div className={classes['body']}>
        <div className={classes['tab']} hidden={tab !== 'canvas'}>
          <Canvas isShown={tab === 'canvas'} />
        </div>
        {/* Stays mounted after the first use, so that typed text is kept. */}
        {wasYaml && (
          <div className={classes['tab']} hidden={tab !== 'yaml'}>
            <Suspense fallback={<Waiting />}>
              <YamlTab />
            </Suspense>
          </div>
        )}
        {(tab === 'canvas' || isSetting) && <Side />}
      </div>
      <LeaveGuard />
      {isComparing && (
        <Suspense fallback={null}>
          <ConflictDialog />
        </Suspense>
      )}
      {isAsking && (
        <Suspense fallback={null}>
          <PublishDialog />
        </Suspense>
      )}
      {pastedN8n !== undefined && (
        <Suspense fallback={null}>
          <N8nDialog nodes={pastedN8n} onClose={() => store.showN8n(undefined)} />
        </Suspense>
      )}
    </div>
  );
}

function Waiting() {
  return (
    <Center flex={1}>
      <Loader role="progressbar" size="sm" aria-label="Loading" />
    </Center>
  );
}

/** Ctrl+S stores the draft everywhere. Ctrl+Z undoes outside of dialogs and fields: these have their own. */
function useEditorKeys(store: EditorStore): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      const key = event.key.toLowerCase();
      if (key === 's') {
        event.preventDefault();
        applyTypedText(document.activeElement);
        void store.saveDraft();
      } else if (
        (key === 'z' || key === 'y') &&
        !isTyping(event.target) &&
        !isLayerOpen() &&
        !store.get().isReadOnly
      ) {
        event.preventDefault();
        if (key === 'y' || event.shiftKey) store.redo();
        else store.undo();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [store]);
}

/**
 * Fields apply typed text when they lose the focus. The field gets it back: the next key would be for the
 * canvas otherwise, where Backspace removes the selected node.
 */
function applyTypedText(field: Element | null): void {
  if (!(field instanceof HTMLInputElement)) return;
  field.blur();
  field.focus({ preventScroll: true });
}

/** Links can point to a panel: `?node=` is the node whose panel is open, `?settings=true` the settings. */
function usePanelInAddress(store: EditorStore): void {
  const { node, settings } = useSearch({ from: '/p/$project/workflows/$workflow' });
  const navigate = useNavigate({ from: '/p/$project/workflows/$workflow' });
  const panel = useEditorPart((state) => state.panel);
  const shown = panelSearch(panel);
  const asked = settings === true ? SETTINGS : node;
  const open = shown.settings === true ? SETTINGS : shown.node;
  const told = useRef<string>(undefined);
  useEffect(() => {
    if (asked !== undefined && asked !== told.current) {
      if (asked === SETTINGS) store.openSettings();
      else if (nodeOf(store.get().draft, asked)) store.openNode(asked);
    }
    told.current = asked;
  }, [store, asked]);
  useEffect(() => {
    if (told.current === open) return;
    told.current = open;
    void navigate({
      search: ({ run }) => ({ ...(run !== undefined && { run }), ...shown }),
      replace: true,
    });
  }, [navigate, open]);
}

/** In place of the ID of a node, which has no such characters. */
const SETTINGS = '<settings>';

/** The YAML is invalid: the canvas stays read-only until it is fixed or discarded. */
function UnreadableBanner({ onYaml }: { onYaml: () => void }) {
  const store = useEditorStore();
  const why = useEditorPart((state) => state.unreadable);
  if (why === undefined) return null;
  return (
    <Alert color="orange" variant="light" radius={0} py={6} icon={<IconFileAlert size={16} />} role="status">
      <Group gap="sm" justify="space-between">
        <Text size="sm" flex="1 1 300px">
          The YAML is invalid. The canvas shows the last valid version and is read-only. {why}
        </Text>
        <Group gap="xs">
          <Button variant="light" color="orange" onClick={onYaml}>
            Go to YAML
          </Button>
          <Button variant="default" onClick={() => store.setUnreadable(undefined)}>
            Discard the YAML changes
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}

/** How long leaving the page waits until the draft is stored. */
const LEAVING_MS = 5_000;

/**
 * Stores the draft before the page is left; asks if that fails. Pinned outputs are stored too, and a stored
 * draft whose changes were undone is removed: otherwise they would come back.
 */
function LeaveGuard() {
  const store = useEditorStore();
  const mayPublish = useMayPublish();
  const isUnsaved = () => {
    const { mode, mayDraft, isDirty, isDeleted } = store.get();
    const isKept = mode === 'edit' || (mode === 'trial' && mayDraft);
    return isKept && (isDeleted ? isDirty : store.isUnstored());
  };
  const blocker = useBlocker({
    shouldBlockFn: async ({ current, next }) => {
      if (current.pathname === next.pathname || !isUnsaved()) return false;
      // Whoever leaves is asked rather than kept waiting.
      await Promise.race([store.saveDraft(), new Promise((resolve) => setTimeout(resolve, LEAVING_MS))]);
      return isUnsaved();
    },
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  const { data: session } = useQuery(sessionQuery);
  const [isPublishing, setPublishing] = useState(false);
  const isAsking = useEditorPart((state) => state.isAsking);
  const publishAndGo = async (): Promise<void> => {
    setPublishing(true);
    const isPublished = await store.publish(userNameOf(session));
    setPublishing(false);
    if (isPublished) blocker.proceed?.();
    else blocker.reset?.();
  };
  return (
    <Modal
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      closeOnEscape={!isAsking}
      title="The draft is not saved"
    >
      <Text size="sm" mb="md">
        If you leave now, you lose your changes to this workflow.
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => blocker.reset?.()}>
          Stay
        </Button>
        <Button variant="light" color="red" onClick={() => blocker.proceed?.()}>
          Leave without saving
        </Button>
        {mayPublish && (
          <Button loading={isPublishing} onClick={() => void publishAndGo()}>
            Publish and leave
          </Button>
        )}
      </Group>
    </Modal>
  );
}
