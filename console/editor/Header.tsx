/** The bar above the canvas: name, state, draft, undo, publish, test run, activation. */
import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Indicator,
  Loader,
  SegmentedControl,
  TextInput,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core';
import {
  IconPencil,
  IconArrowBackUp,
  IconArrowForwardUp,
  IconArrowLeft,
  IconCloudUpload,
  IconPencilX,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { rightQuery } from '../kube/access.ts';
import { TextLink } from '../ui/links.tsx';
import { useOfferedAction } from '../ui/offered.ts';
import { managerOf } from '../workflows/manager.ts';
import { stateFrom, type WorkflowState } from '../workflows/items.ts';
import { StateBadge } from '../workflows/StateBadge.tsx';
import { BuildButton } from './build/BuildButton.tsx';
import { ActivationBar } from './activation/ActivationBar.tsx';
import { updateSettings } from './model/model.ts';
import { COMPACT, NARROW_ONLY } from '../ui/compact.ts';
import { ChatButton } from './chat/ChatButton.tsx';
import { RunBar } from './run/RunBar.tsx';
import { SettingsButton } from './settings/SettingsButton.tsx';
import type { DraftState } from './store/draftState.ts';
import { useMayPublish } from './store/rights.ts';
import { useEditor, useEditorPart, useEditorStore } from './store/store.ts';
import { notifySuccess } from '../ui/notify.tsx';
import classes from './editor.module.css';
import { WORKFLOWS, type WorkflowObject } from '../kube/resources.ts';
import { LONGEST_DISPLAY_NAME } from '../workflows/names.ts';

export type Tab = 'canvas' | 'yaml';

export function Header({ tab, onTab }: { tab: Tab; onTab: (tab: Tab) => void }) {
  const { namespace, workflow, theirs, isDeleted } = useEditor();
  useOfferedAction('Show the YAML', tab === 'canvas' ? () => onTab('yaml') : undefined);
  useOfferedAction('Show the canvas', tab === 'yaml' ? () => onTab('canvas') : undefined);
  return (
    <header className={classes['header']}>
      <VisuallyHidden component="h1">{workflow.spec.displayName ?? workflow.metadata.name}</VisuallyHidden>
      <Group gap="xs" wrap="nowrap" miw={0} className={classes['title'] ?? ''}>
        <Tooltip label="Go to workflows">
          <TextLink
            to="/p/$project/workflows"
            params={{ project: namespace }}
            aria-label="Go to workflows"
            className={classes['back'] ?? ''}
          >
            <IconArrowLeft size={18} />
          </TextLink>
        </Tooltip>
        <NameField />
        <StateBadge state={isDeleted ? DELETED : stateOfWorkflow(theirs ?? workflow)} />
        <DraftBadge />
        <ReadOnlyBadge />
      </Group>
      <SegmentedControl
        size="xs"
        aria-label="View"
        value={tab}
        onChange={(value) => onTab(value === 'yaml' ? 'yaml' : 'canvas')}
        data={[
          { value: 'canvas', label: 'Canvas' },
          { value: 'yaml', label: 'YAML' },
        ]}
      />
      <Group gap="xs" wrap="nowrap" className={classes['actions'] ?? ''}>
        {!isDeleted && (
          <>
            <BuildButton />
            <ChatButton />
            <RunBar />
            <ActivationBar />
            <SettingsButton />
          </>
        )}
        <EditButtons />
      </Group>
    </header>
  );
}

const DELETED: WorkflowState = { kind: 'attention', label: 'Deleted' };

function NameField() {
  const { draft, name, apply, isReadOnly } = useEditor();
  const shown = draft.spec.displayName ?? '';
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const applyName = (): void => {
    const displayName = text.trim() === '' || text.trim() === name ? undefined : text.trim();
    if (displayName !== draft.spec.displayName) apply((before) => updateSettings(before, { displayName }));
    else setText(shown);
  };
  return (
    <TextInput
      aria-label="Workflow name"
      variant="unstyled"
      classNames={{ input: classes['name'] ?? '' }}
      value={text}
      placeholder={name}
      readOnly={isReadOnly}
      maxLength={LONGEST_DISPLAY_NAME}
      size="sm"
      title={`${shown === '' ? name : shown} (${name})`}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={applyName}
      onKeyDown={(event) => {
        if (event.key === 'Enter') applyName();
        if (event.key === 'Escape') setText(shown);
      }}
    />
  );
}

function EditButtons() {
  const { canUndo, canRedo, undo, redo, isDeleted, mode } = useEditor();
  const undoButton = useRef<HTMLButtonElement>(null);
  if (mode === 'read') return null;
  return (
    <Group gap={4} wrap="nowrap">
      {/* In one row, also where the buttons of the header take several. */}
      <Group gap={4} wrap="nowrap">
        <Tooltip label="Undo (Ctrl+Z)">
          <ActionIcon
            ref={undoButton}
            variant="subtle"
            color="gray"
            aria-label="Undo"
            disabled={!canUndo}
            onClick={undo}
          >
            <IconArrowBackUp size={18} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Redo (Ctrl+Shift+Z)">
          <ActionIcon variant="subtle" color="gray" aria-label="Redo" disabled={!canRedo} onClick={redo}>
            <IconArrowForwardUp size={18} />
          </ActionIcon>
        </Tooltip>
      </Group>
      {mode === 'edit' && !isDeleted && <PublishButtons undoButton={undoButton} />}
    </Group>
  );
}

type PublishProps = { undoButton: RefObject<HTMLButtonElement | null> };

function PublishButtons({ undoButton }: PublishProps) {
  const { isDirty, isPublishing, publish } = useEditor();
  const discardAll = useDiscard(undoButton);
  const mayPublish = useMayPublish();
  useOfferedAction('Publish', isDirty && mayPublish && !isPublishing ? () => void publish() : undefined);
  useOfferedAction('Discard changes', isDirty ? discardAll : undefined);
  return (
    <>
      {isDirty && (
        <Tooltip label="Discard unpublished changes">
          <ActionIcon variant="subtle" color="gray" aria-label="Discard changes" onClick={discardAll}>
            <IconPencilX size={18} />
          </ActionIcon>
        </Tooltip>
      )}
      {mayPublish && (
        <Tooltip label={isDirty ? 'Show the changes and publish them' : 'Everything is published'}>
          <Indicator disabled={!isDirty} size={8} offset={2}>
            <Button
              // Not `loading`, which disables the button: it would lose the focus.
              leftSection={
                isPublishing ? <Loader size={14} color="currentColor" /> : <IconCloudUpload size={14} />
              }
              variant={isDirty ? 'filled' : 'default'}
              data-dirty={isDirty || undefined}
              aria-busy={isPublishing}
              onClick={() => void publish()}
              aria-label={isDirty ? 'Publish' : 'Published'}
              classNames={COMPACT}
            >
              {isDirty ? 'Publish' : 'Published'}
            </Button>
          </Indicator>
        </Tooltip>
      )}
    </>
  );
}

/** The focus goes to *Undo*, as the button that had it goes away. */
function useDiscard(undoButton: RefObject<HTMLButtonElement | null>): () => void {
  const { discard, undo, saveDraft } = useEditor();
  return () => {
    discard();
    void saveDraft();
    notifySuccess('Changes discarded.', { text: 'Undo', onClick: undo });
    queueMicrotask(() => undoButton.current?.focus());
  };
}

/** Whether what is shown is published, and whether it is stored. */
function DraftBadge() {
  const store = useEditorStore();
  const { isDirty, mode, mayDraft } = useEditorPart((state) => state);
  const { kind } = useEditorPart((state) => state.draftState);
  if (!isDirty || mode === 'read') return null;
  const isStored = kind === 'idle' && !store.isUnstored();
  const hint = !mayDraft ? 'You may not save drafts here.' : isStored ? 'The draft is saved.' : HINTS[kind];
  return (
    <Tooltip label={hint} events={{ hover: true, focus: true, touch: true }}>
      <Badge
        variant="light"
        color={kind === 'idle' || kind === 'saving' ? 'gray' : 'orange'}
        tt="none"
        role="status"
        style={{ flexShrink: 0 }}
        aria-label={`Unpublished changes. ${hint}`}
      >
        <span className={`${COMPACT.label} ${classes['draftWord'] ?? ''}`}>Draft</span>
        <IconPencil size={14} className={`${NARROW_ONLY} ${classes['draftIcon'] ?? ''}`} />
      </Badge>
    </Tooltip>
  );
}

/** Why nothing can be edited. Of managed workflows a banner says it. */
function ReadOnlyBadge() {
  const { namespace, name, workflow, mayDraft } = useEditor();
  // Not `useMay`, which does not tell a right that is lacking from one that is not known yet.
  const { data: mayPatch } = useQuery(rightQuery({ verb: 'patch', resource: WORKFLOWS, namespace, name }));
  if (mayPatch !== false || mayDraft || managerOf(workflow.metadata) !== undefined) return null;
  return (
    <Tooltip
      label="You are not allowed to change this workflow."
      events={{ hover: true, focus: true, touch: true }}
    >
      <Badge variant="default" tt="none" style={{ flexShrink: 0 }}>
        Read-only
      </Badge>
    </Tooltip>
  );
}

const HINTS: Record<DraftState['kind'], string> = {
  idle: 'The draft is saved in a moment.',
  saving: 'Saving the draft…',
  failed: 'The draft is not saved.',
  withheld: 'The draft is not saved.',
  conflict: 'The draft is not saved.',
  foreign: 'The draft is not saved.',
};

function stateOfWorkflow({ metadata, spec, status }: WorkflowObject): WorkflowState {
  const condition = (type: string) => status?.conditions?.find((other) => other.type === type);
  if (metadata.deletionTimestamp !== undefined) return { kind: 'leaving', label: 'Being deleted' };
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation)
    return { kind: 'waiting', label: 'Taking effect' };
  const { status: isReady, reason, message = '' } = condition('Ready') ?? {};
  return stateFrom({
    reason,
    message: message === '' ? undefined : message,
    ready: isReady,
    isStalled: condition('Stalled')?.status === 'True',
    suspended: spec.suspend === true,
    waiting: status?.runs?.waiting ?? 0,
  });
}
