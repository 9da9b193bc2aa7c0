/** The buttons on the canvas: zoom, tidy up, help, new node. */
import { ActionIcon, Text, Tooltip } from '@mantine/core';
import {
  IconHelp,
  IconLayoutDistributeHorizontal,
  IconMaximize,
  IconNote,
  IconPower,
  IconPlus,
  IconZoomIn,
  IconZoomOut,
} from '@tabler/icons-react';
import { Panel } from '@xyflow/react';
import { RUN_SCOPE } from '../../../api/scopes.ts';
import { switchOf } from '../model/disabling.ts';
import { scopesOf } from '../model/scopes.ts';
import { switchSelected } from '../store/commands.ts';
import { useEditorPart, useEditorStore, type EditorStore } from '../store/store.ts';
import type { useView } from './view.ts';
import classes from './canvas.module.css';

type Props = { view: ReturnType<typeof useView>; tidy: () => void; addNote: () => void; onHelp: () => void };

export function Tools({ view, tidy, addNote, onHelp }: Props) {
  const store = useEditorStore();
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const isNew = useEditorPart(({ draft }) => draft.spec.nodes.length === 1);
  return (
    <>
      <Panel position="bottom-left" className={classes['tools'] ?? ''}>
        <Tool label="Fit the workflow (1)" icon={IconMaximize} onClick={view.fit} />
        <Tool label="Zoom in" icon={IconZoomIn} onClick={view.zoomIn} />
        <Tool label="Zoom out" icon={IconZoomOut} onClick={view.zoomOut} />
        {!isReadOnly && (
          <Tool label="Tidy up (Shift+T)" icon={IconLayoutDistributeHorizontal} onClick={tidy} />
        )}
        {!isReadOnly && <SwitchTool />}
        <Tool label="Keyboard shortcuts (?)" icon={IconHelp} onClick={onHelp} />
      </Panel>
      {!isReadOnly && (
        <Panel position="top-right" className={classes['tools'] ?? ''}>
          <Tool label="Add a note (Shift+N)" icon={IconNote} onClick={addNote} isLarge />
          <Tool
            label="Add a node (+)"
            icon={IconPlus}
            onClick={() => store.pick(placeForNode(store))}
            isLarge
          />
        </Panel>
      )}
      {!isReadOnly && isNew && (
        <Panel position="top-center">
          <Text size="sm" c="dimmed">
            Click + to add the next step
          </Text>
        </Panel>
      )}
    </>
  );
}

/** Disables or enables the selected nodes. */
function SwitchTool() {
  const store = useEditorStore();
  const action = useEditorPart(({ draft, selection }) => switchOf(draft, selection.nodes));
  if (action === undefined) return null;
  return (
    <Tool label={`${action} the selection (D)`} icon={IconPower} onClick={() => switchSelected(store)} />
  );
}

/** After the selected node, or else after the last one. */
function placeForNode(store: EditorStore): Parameters<EditorStore['pick']>[0] {
  const { draft, selection } = store.get();
  const node = selection.nodes.at(-1) ?? scopesOf(draft.spec.nodes).members(RUN_SCOPE).at(-1)?.id;
  return node === undefined ? { kind: 'trigger' } : { kind: 'after', node };
}

type ToolProps = { label: string; icon: typeof IconHelp; onClick: () => void; isLarge?: boolean };

function Tool({ label, icon: Icon, onClick, isLarge = false }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={isLarge ? 36 : 30} aria-label={label} onClick={onClick}>
        <Icon size={isLarge ? 20 : 16} />
      </ActionIcon>
    </Tooltip>
  );
}
