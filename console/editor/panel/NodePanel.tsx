/** The panel of a node beside the canvas: name, parameters, options, input, output and connections. */
import { ActionIcon, Group, Tabs, Text, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { NodeKind, WorkflowNode } from '../../../api/workflow.ts';
import { CredentialInput } from '../../credentials/CredentialInput.tsx';
import { FormContext, useFormScope, type FormScope } from '../../forms/scope.ts';
import { isTrigger, nodeKind } from '../../workflows/kinds.ts';
import { nodeOf, updateNode } from '../model/model.ts';
import { useLastOutputs, useRunView } from '../../runs/live/runStore.ts';
import { ItemPager } from '../../runs/LoopOutput.tsx';
import { useEditor, useEditorStore } from '../store/store.ts';
import { ConnectionsTab } from './ConnectionsTab.tsx';
import { NodeName } from './NodeName.tsx';
import type { Change } from './LoopFields.tsx';
import { OptionsTab, ParametersTab } from './ParametersTab.tsx';
import { OutputTab } from './OutputTab.tsx';
import classes from './NodePanel.module.css';
import { ResizeHandle, usePanelWidth } from './resize.tsx';
import { sampledItems, sourcesOf } from './sources.ts';
import { TestDataTab } from './TestDataTab.tsx';
import { ReferenceTree } from '../../forms/expression/ReferenceTree.tsx';
import { copyText } from '../../ui/copy.tsx';
import { isInDialog } from '../../ui/focus.ts';

type Props = { nodeId: string; onClose: () => void };

export function NodePanel({ nodeId, onClose }: Props) {
  const { draft } = useEditor();
  const { width, setWidth } = usePanelWidth();
  const panel = useFocusInside();
  const node = nodeOf(draft, nodeId);
  const kind = node && nodeKind(node);
  if (node === undefined || kind === undefined) return null;
  return (
    <div
      ref={panel}
      className={classes['panel'] ?? ''}
      style={{ width }}
      tabIndex={-1}
      role="group"
      aria-label={`Settings of ${node.displayName ?? node.id}`}
      data-node-panel
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.stopPropagation();
        if (!isElsewhere(event)) onClose();
      }}
    >
      <ResizeHandle width={width} onResize={setWidth} />
      <Content key={node.id} node={node} kind={kind} onClose={onClose} />
    </div>
  );
}

/** Lists, menus and dialogs of the panel close themselves first. */
function isElsewhere({ currentTarget, target }: React.KeyboardEvent<HTMLElement>): boolean {
  if (!(target instanceof HTMLElement) || !currentTarget.contains(target)) return true;
  return target.getAttribute('aria-expanded') === 'true' && target.matches('input, [role=combobox]');
}

type ContentProps = { node: WorkflowNode; kind: NodeKind; onClose: () => void };

function Content({ node, kind, onClose }: ContentProps) {
  const { apply } = useEditor();
  const outputs = useLastOutputs();
  const scope = useScope(node.id, outputs);
  const [tab, setTab] = useState<string | null>('parameters');
  const change: Change = (update, field) =>
    apply((draft) => updateNode(draft, node.id, update), { key: `${node.id} ${field}` });
  const isStep = !isTrigger(node);
  return (
    <FormContext value={scope}>
      <header className={classes['header'] ?? ''}>
        <NodeName node={node} change={change} />
        <Tooltip label="Close (Esc)">
          <ActionIcon variant="subtle" color="gray" aria-label="Close the panel" onClick={onClose}>
            <IconX size={16} />
          </ActionIcon>
        </Tooltip>
      </header>
      <Tabs value={tab} onChange={setTab} className={classes['tabs'] ?? ''} keepMounted={false}>
        <Tabs.List>
          {/*
           * Opens the tab when a value from another tab is dragged over it, so that it can be dropped into a
           * field.
           */}
          <Tabs.Tab value="parameters" onDragEnter={() => setTab('parameters')}>
            Parameters
          </Tabs.Tab>
          <Tabs.Tab value="options" onDragEnter={() => setTab('options')}>
            Options
          </Tabs.Tab>
          {isStep ? <Tabs.Tab value="input">Input</Tabs.Tab> : <Tabs.Tab value="test">Test data</Tabs.Tab>}
          <Tabs.Tab value="output">Output</Tabs.Tab>
          <Tabs.Tab value="lines">Connections</Tabs.Tab>
        </Tabs.List>
        <div className={classes['body'] ?? ''}>
          <Tabs.Panel value="parameters">
            <ParametersTab node={node} kind={kind} change={change} />
          </Tabs.Panel>
          <Tabs.Panel value="options">
            <OptionsTab node={node} change={change} />
          </Tabs.Panel>
          <Tabs.Panel value="input">
            <InputTab />
          </Tabs.Panel>
          <Tabs.Panel value="test">
            <TestDataTab node={node} change={change} />
          </Tabs.Panel>
          <Tabs.Panel value="output">
            <OutputTab nodeId={node.id} last={outputs.get(node.id)} />
          </Tabs.Panel>
          <Tabs.Panel value="lines">
            <ConnectionsTab node={node} />
          </Tabs.Panel>
        </div>
      </Tabs>
    </FormContext>
  );
}

function useScope(id: string, outputs: ReturnType<typeof useLastOutputs>): FormScope {
  const { draft, saved, namespace, name, isReadOnly, isSaving, problems, shownItems } = useEditor();
  const [wasSaved, setWasSaved] = useState(false);
  useEffect(() => {
    if (isSaving) setWasSaved(true);
  }, [isSaving]);
  const { nodes: views } = useRunView();
  const sources = useMemo(
    () => sourcesOf(draft.spec, id, outputs, { ...sampledItems(draft.spec, views), ...shownItems }),
    [draft.spec, id, outputs, views, shownItems],
  );
  const failure = views.get(id)?.message;
  // New nodes are incomplete: report no missing fields before the first save.
  const isFresh = nodeOf(saved, id) === undefined && !wasSaved;
  return useMemo(
    () => ({
      namespace,
      workflow: name,
      isReadOnly,
      sources,
      problems: problems.nodes.get(id) ?? [],
      failure,
      showsAll: !isFresh,
      CredentialInput,
    }),
    [namespace, name, isReadOnly, sources, problems, failure, id, isFresh],
  );
}

/**
 * Moves the focus into the panel when it opens, unless a dialog has opened while the panel was loading. The
 * code that closes the panel restores it.
 */
function useFocusInside(): React.RefObject<HTMLDivElement | null> {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isInDialog(document.activeElement)) panel.current?.focus({ preventScroll: true });
  }, []);
  return panel;
}

function InputTab() {
  const { sources } = useFormScope();
  const { showItem } = useEditorStore();
  if (sources.nodes.length === 0)
    return (
      <Text size="xs" c="dimmed">
        Nothing is connected to this node. Connect it to the node whose output it should use.
      </Text>
    );
  const { element } = sources;
  return (
    <>
      {element?.count !== undefined && element.count > 1 && (
        <Group gap="xs" mb="xs">
          <Text size="xs">Item of {element.loop}</Text>
          <ItemPager
            index={element.index}
            total={element.count}
            onIndex={(index) => showItem(element.loop, index)}
          />
        </Group>
      )}
      <Text size="xs" c="dimmed" mb="xs">
        Drag a value into a field, or click it to copy the expression.
      </Text>
      <ReferenceTree
        sources={sources}
        onPick={(reference) => void copyText(`{{ ${reference} }}`, 'expression')}
      />
    </>
  );
}
