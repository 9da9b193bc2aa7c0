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
import { useOfferedAction } from '../../ui/offered.ts';
import { openKeys } from '../../shell/Keys.tsx';
import { switchOf } from '../model/disabling.ts';
import { placeForNode, switchSelected } from '../store/commands.ts';
import { useEditorPart, useEditorStore } from '../store/store.ts';
import type { useCanvasViewport } from './viewport.ts';
import classes from './canvas.module.css';

type Props = {
  view: ReturnType<typeof useCanvasViewport>;
  tidy: () => void;
  addNote: () => void;
  isShown: boolean;
};

export function Tools({ view, tidy, addNote, isShown }: Props) {
  const store = useEditorStore();
  const isReadOnly = useEditorPart((state) => state.isReadOnly);
  const addNode = (): void => store.pick(placeForNode(store.get()));
  const mayEdit = isShown && !isReadOnly;
  useOfferedAction('Add a node', mayEdit ? addNode : undefined);
  useOfferedAction('Add a note', mayEdit ? addNote : undefined);
  useOfferedAction('Tidy up', mayEdit ? tidy : undefined);
  useOfferedAction('Fit the workflow', isShown ? view.fit : undefined);
  const isNew = useEditorPart(
    ({ draft, panel, picker }) =>
      draft.spec.nodes.length === 1 && panel === undefined && picker === undefined,
  );
  return (
    <>
      <Panel position="bottom-left" className={classes['tools'] ?? ''}>
        <Tool label="Fit the workflow (1)" icon={IconMaximize} onClick={view.fit} />
        <Tool label="Zoom in" icon={IconZoomIn} onClick={() => view.zoom('in')} />
        <Tool label="Zoom out" icon={IconZoomOut} onClick={() => view.zoom('out')} />
        {!isReadOnly && (
          <Tool label="Tidy up (Shift+T)" icon={IconLayoutDistributeHorizontal} onClick={tidy} />
        )}
        {!isReadOnly && <SwitchTool />}
        <Tool label="Keyboard shortcuts (?)" icon={IconHelp} onClick={openKeys} />
      </Panel>
      {!isReadOnly && (
        <Panel position="top-right" className={classes['tools'] ?? ''}>
          <Tool label="Add a note (Shift+N)" icon={IconNote} onClick={addNote} isLarge />
          <Tool label="Add a node (+)" icon={IconPlus} onClick={addNode} isLarge />
        </Panel>
      )}
      {!isReadOnly && isNew && (
        <Panel position="top-center">
          <Text size="sm" c="dimmed">
            Click + to add the next node
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
