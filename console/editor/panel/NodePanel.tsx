/** The panel of a node beside the canvas: name, parameters, options, input, output and connections. */
import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useEffect, useMemo, useRef } from 'react';
import type { NodeKind, WorkflowNode } from '../../../api/workflow.ts';
import { CredentialInput } from '../../credentials/CredentialInput.tsx';
import { DocLink } from '../../docs/DocLink.tsx';
import { nodeDoc } from '../../docs/links.ts';
import { FormContext, type FormScope } from '../../forms/scope.ts';
import { isTrigger, nodeKind } from '../../workflows/kinds.ts';
import { shapesAt } from '../model/fieldShapes.ts';
import { nodeOf, updateNode } from '../model/model.ts';
import { withPinnedOutputs } from '../model/pins.ts';
import { outputOf } from '../../runs/live/lastResults.ts';
import { sentOf } from '../../runs/live/sentValues.ts';
import { useLastResults, useRunView } from '../../runs/live/runStore.ts';
import { unappliedAt } from '../model/unapplied.ts';
import { useEditor, useEditorStore, type PanelTab } from '../store/store.ts';
import { ConnectionsTab } from './ConnectionsTab.tsx';
import { DisableButton } from './DisableButton.tsx';
import { ExpandButton, useExpanded } from './expand.tsx';
import { InputTab } from './InputTab.tsx';
import { NodeName } from './NodeName.tsx';
import type { Change } from './LoopFields.tsx';
import { OptionsTab, ParametersTab } from './ParametersTab.tsx';
import { OutputTab } from './OutputTab.tsx';
import classes from './NodePanel.module.css';
import { PanelColumns, PanelTabs, type PanelTabContents } from './PanelTabs.tsx';
import { SentTab } from './SentTab.tsx';
import { ResizeHandle, usePanelWidth } from './resize.tsx';
import { sampledItems, sourcesOf } from './sources.ts';
import { TestDataTab } from './TestDataTab.tsx';
import { isInDialog } from '../../ui/focus.ts';

type Props = { nodeId: string; onClose: () => void };

export function NodePanel({ nodeId, onClose }: Props) {
  const { draft, panel: open } = useEditor();
  const { width, setWidth } = usePanelWidth();
  const { isExpanded, toggle } = useExpanded();
  const panel = useFocusInside(open !== undefined && 'isNew' in open);
  const node = nodeOf(draft, nodeId);
  const kind = node && nodeKind(node);
  if (node === undefined || kind === undefined) return null;
  return (
    <div
      ref={panel}
      className={classes['panel'] ?? ''}
      style={isExpanded ? {} : { width }}
      tabIndex={-1}
      role="group"
      aria-label={`Settings of ${node.displayName ?? node.id}`}
      data-node-panel
      data-wide={isExpanded || undefined}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.stopPropagation();
        if (!isElsewhere(event)) onClose();
      }}
    >
      {!isExpanded && <ResizeHandle width={width} onResize={setWidth} />}
      <Content
        key={node.id}
        node={node}
        kind={kind}
        onClose={onClose}
        isExpanded={isExpanded}
        onToggle={toggle}
      />
    </div>
  );
}

/** Lists, menus and dialogs of the panel close themselves first. */
function isElsewhere({ currentTarget, target }: React.KeyboardEvent<HTMLElement>): boolean {
  if (!(target instanceof HTMLElement) || !currentTarget.contains(target)) return true;
  return target.getAttribute('aria-expanded') === 'true' && target.matches('input, [role=combobox]');
}

const NARROW: readonly PanelTab[] = ['parameters', 'options', 'input', 'sent', 'output', 'connections'];

type ContentProps = {
  node: WorkflowNode;
  kind: NodeKind;
  onClose: () => void;
  isExpanded: boolean;
  onToggle: () => void;
};

function Content({ node, kind, onClose, isExpanded, onToggle }: ContentProps) {
  const { apply, tab } = useEditor();
  const view = useRunView().nodes.get(node.id);
  const outputs = useLastResults();
  const scope = useScope(node.id, outputs);
  const change: Change = (update, field) =>
    apply((draft) => updateNode(draft, node.id, update), { key: `${node.id} ${field}` });
  const isStep = !isTrigger(node);
  const tabs: PanelTabContents = {
    parameters: { label: 'Parameters', content: <ParametersTab node={node} kind={kind} change={change} /> },
    options: { label: 'Options', content: <OptionsTab node={node} change={change} /> },
    input: isStep
      ? { label: 'Input', content: <InputTab /> }
      : { label: 'Test data', content: <TestDataTab node={node} change={change} /> },
    // It stays while it is open, so that one node after the other can be checked.
    ...((tab === 'sent' || (view !== undefined && sentOf(view) !== undefined)) && {
      sent: { label: 'Sent', content: <SentTab view={view} /> },
    }),
    output: {
      label: 'Output',
      content: <OutputTab nodeId={node.id} last={outputOf(outputs.get(node.id))} />,
    },
    connections: { label: 'Connections', content: <ConnectionsTab node={node} /> },
  };
  return (
    <FormContext value={scope}>
      <header className={classes['header'] ?? ''}>
        <NodeName node={node} change={change} />
        <Group gap={8} wrap="nowrap">
          <DisableButton id={node.id} />
          <DocLink to={nodeDoc(kind, node.skill?.name)}>Docs</DocLink>
          <ExpandButton isExpanded={isExpanded} onToggle={onToggle} />
          <Tooltip label="Close (Esc)">
            <ActionIcon variant="subtle" color="gray" aria-label="Close the panel" onClick={onClose}>
              <IconX size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
      </header>
      {node.disabled && (
        <Text size="xs" c="dimmed" className={classes['state'] ?? ''}>
          Disabled: runs skip this node and execute what follows it.
        </Text>
      )}
      {isExpanded ? <PanelColumns tabs={tabs} /> : <PanelTabs tabs={tabs} shown={tab} order={NARROW} />}
    </FormContext>
  );
}

function useScope(id: string, outputs: ReturnType<typeof useLastResults>): FormScope {
  const { draft, namespace, name, isReadOnly, panel, problems, shownItems } = useEditor();
  const { nodes: views } = useRunView();
  const sources = useMemo(
    () =>
      sourcesOf(draft.spec, id, withPinnedOutputs(outputs, { pins: draft.pins }), {
        ...sampledItems(draft.spec, views),
        ...shownItems,
      }),
    [draft.spec, draft.pins, id, outputs, views, shownItems],
  );
  const failure = views.get(id)?.message;
  // A node that was just added is incomplete: its fields report what they lack once somebody was in them.
  const isFresh = panel !== undefined && 'isNew' in panel;
  const store = useEditorStore();
  const unapplied = useMemo<FormScope['unapplied']>(
    () => ({
      textAt: (field) => {
        const { unapplied: texts, draft: now } = store.get();
        return unappliedAt(texts, { node: id, field, spec: now.spec });
      },
      keep: (field, text) => store.keepUnapplied(id, field, text),
    }),
    [store, id],
  );
  const shapes = useMemo<FormScope['shapes']>(
    () => ({
      of: (at) => {
        const { shapes: all, draft: now } = store.get();
        return shapesAt(all, { ...at, node: id }, now.spec);
      },
      keep: (at, left) => store.keepShapes(id, at, left),
    }),
    [store, id],
  );
  return useMemo(
    () => ({
      namespace,
      workflow: name,
      isReadOnly,
      sources,
      problems: problems.nodes.get(id) ?? [],
      failure,
      showsAll: !isFresh,
      unapplied,
      shapes,
      CredentialInput,
    }),
    [namespace, name, isReadOnly, sources, problems, failure, id, isFresh, unapplied, shapes],
  );
}

const MISSING = '[data-missing]';
/** The buttons of a label come before its input. */
const INPUTS = [
  ':is(input:not([type=hidden], [type=radio]), textarea, [contenteditable=true])',
  'button',
].map((input) => `${input}:not([disabled])`);

/**
 * Moves the focus into the panel when it opens, to the first field that a new node still needs, unless a
 * dialog has opened while the panel was loading. The code that closes the panel restores it.
 */
function useFocusInside(isNew: boolean): React.RefObject<HTMLDivElement | null> {
  const panel = useRef<HTMLDivElement>(null);
  const seeksField = useRef(isNew);
  useEffect(() => {
    if (isInDialog(document.activeElement)) return;
    const field = seeksField.current ? inputIn(panel.current?.querySelector(MISSING)) : undefined;
    (field ?? panel.current)?.focus({ preventScroll: !field });
  }, []);
  return panel;
}

function inputIn(field: Element | null | undefined): HTMLElement | undefined {
  for (const input of INPUTS) {
    const found = field?.querySelector<HTMLElement>(input);
    if (found) return found;
  }
  return undefined;
}
