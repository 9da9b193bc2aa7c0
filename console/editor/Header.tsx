/** The bar above the canvas: name, state, undo, save, test run, activation. */
import {
  ActionIcon,
  Button,
  Group,
  Indicator,
  SegmentedControl,
  TextInput,
  Tooltip,
  VisuallyHidden,
} from '@mantine/core';
import { IconArrowBackUp, IconArrowForwardUp, IconArrowLeft, IconDeviceFloppy } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { TextLink } from '../ui/links.tsx';
import { stateFrom, type WorkflowState } from '../workflows/items.ts';
import { StateBadge } from '../workflows/StateBadge.tsx';
import { ActivationBar } from './activation/ActivationBar.tsx';
import { updateSettings } from './model/model.ts';
import { ChatButton } from './chat/ChatButton.tsx';
import { RunBar } from './run/RunBar.tsx';
import { useEditor } from './store/store.ts';
import classes from './editor.module.css';
import type { WorkflowObject } from '../kube/resources.ts';

export type Tab = 'canvas' | 'yaml';

export function Header({ tab, onTab }: { tab: Tab; onTab: (tab: Tab) => void }) {
  const { namespace, workflow, isDeleted } = useEditor();
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
        <StateBadge state={isDeleted ? DELETED : stateOfWorkflow(workflow)} />
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
            <ChatButton />
            <RunBar />
            <ActivationBar />
          </>
        )}
        <SaveButtons />
      </Group>
    </header>
  );
}

const DELETED: WorkflowState = { kind: 'attention', label: 'Deleted' };

function NameField() {
  const { draft, name, apply, isReadOnly } = useEditor();
  const shown = draft.spec.displayName ?? '';
  const [text, setText] = useState(shown);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setText(shown), [shown]);
  const keep = (): void => {
    const displayName = text.trim() === '' || text.trim() === name ? undefined : text.trim();
    if (displayName !== draft.spec.displayName) apply((before) => updateSettings(before, { displayName }));
    else setText(shown);
  };
  return (
    <TextInput
      ref={field}
      aria-label="Workflow name"
      variant="unstyled"
      classNames={{ input: classes['name'] ?? '' }}
      value={text}
      placeholder={name}
      readOnly={isReadOnly}
      maxLength={256}
      size="sm"
      title={`${shown === '' ? name : shown} (${name})`}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={keep}
      onKeyDown={(event) => {
        if (event.key === 'Enter') field.current?.blur();
        if (event.key === 'Escape') setText(shown);
      }}
    />
  );
}

function SaveButtons() {
  const { canUndo, canRedo, undo, redo, isDirty, isSaving, isDeleted, mode, save } = useEditor();
  if (mode === 'read') return null;
  return (
    <Group gap={4} wrap="nowrap">
      <Tooltip label="Undo (Ctrl+Z)">
        <ActionIcon variant="subtle" color="gray" aria-label="Undo" disabled={!canUndo} onClick={undo}>
          <IconArrowBackUp size={18} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Redo (Ctrl+Shift+Z)">
        <ActionIcon variant="subtle" color="gray" aria-label="Redo" disabled={!canRedo} onClick={redo}>
          <IconArrowForwardUp size={18} />
        </ActionIcon>
      </Tooltip>
      {mode === 'edit' && !isDeleted && (
        <Tooltip label={isDirty ? 'Save (Ctrl+S)' : 'No unsaved changes'}>
          <Indicator disabled={!isDirty} size={8} offset={2} {...(!isDirty && { visibleFrom: 'xs' })}>
            <Button
              leftSection={<IconDeviceFloppy size={14} />}
              variant={isDirty ? 'filled' : 'default'}
              data-dirty={isDirty || undefined}
              loading={isSaving}
              onClick={() => void save()}
              aria-keyshortcuts="Control+S"
            >
              {isDirty ? 'Save' : 'Saved'}
            </Button>
          </Indicator>
        </Tooltip>
      )}
    </Group>
  );
}

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
