/**
 * An edge on the canvas: its condition, and buttons to insert a node, set the condition or remove the edge.
 */
import { ActionIcon, Group, Tooltip } from '@mantine/core';
import {
  IconAlertTriangleFilled,
  IconArrowsSplit2,
  IconPlus,
  IconTrash,
  type Icon,
} from '@tabler/icons-react';
import { BaseEdge, EdgeLabelRenderer, getBezierPath, type EdgeProps } from '@xyflow/react';
import { createContext, memo, use } from 'react';
import { edgeLabel, shortEdgeLabel } from '../../workflows/kinds.ts';
import { removeConnections } from '../store/commands.ts';
import { useEditorStore } from '../store/store.ts';
import type { WorkflowFlowEdge } from './flow.ts';
import classes from './canvas.module.css';

export const HoveredEdge = createContext<string | undefined>(undefined);

export const FlowEdge = memo(function FlowEdge(props: EdgeProps<WorkflowFlowEdge>) {
  const { id, data, selected = false } = props;
  const [path, x, y] = getBezierPath(props);
  const isActive = use(HoveredEdge) === id || selected;
  if (data === undefined) return null;
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        interactionWidth={24}
        className={classes['edge'] ?? ''}
        data-failure={data.edge.after === 'Failure' || undefined}
        data-taken={data.isTaken || undefined}
        data-active={isActive || undefined}
      />
      <EdgeLabel data={data} x={x} y={y} isActive={isActive} />
    </>
  );
});

/** From the border of a frame to a node with which its body begins. */
export const EntryEdge = memo(function EntryEdge(props: EdgeProps<WorkflowFlowEdge>) {
  const [path] = getBezierPath(props);
  return <BaseEdge id={props.id} path={path} interactionWidth={0} className={classes['entry'] ?? ''} />;
});

type LabelProps = {
  data: NonNullable<WorkflowFlowEdge['data']>;
  x: number;
  y: number;
  isActive: boolean;
};

function EdgeLabel({ data, x, y, isActive }: LabelProps) {
  const { edge, problems, isReadOnly } = data;
  const label = edgeLabel(edge);
  if (label === '' && !isActive && problems.length === 0) return null;
  return (
    <EdgeLabelRenderer>
      <div
        className={`${classes['edgeLabel']} nodrag nopan`}
        style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
      >
        {problems.length > 0 && (
          <Tooltip multiline w={320} label={problems.map(({ message }) => message).join(' ')}>
            <span className={classes['edgeProblem']}>
              <IconAlertTriangleFilled size={14} aria-label="Problem" />
            </span>
          </Tooltip>
        )}
        {label !== '' && (
          <span className={classes['edgeWords']} title={label}>
            {shortEdgeLabel(edge)}
          </span>
        )}
        {isActive && !isReadOnly && <EdgeButtons ends={edge} />}
      </div>
    </EdgeLabelRenderer>
  );
}

function EdgeButtons({ ends }: { ends: { from: string; to: string } }) {
  const store = useEditorStore();
  const { from, to } = ends;
  // A click opens the edge's panel. React passes events of the label to the edge, although it is drawn above.
  return (
    <Group gap={3} wrap="nowrap" onClick={(event) => event.stopPropagation()}>
      <EdgeButton
        label={`Insert a node between ${from} and ${to}`}
        icon={IconPlus}
        onClick={() => store.pick({ kind: 'between', edge: { from, to } })}
      />
      <EdgeButton
        label={`Set the condition from ${from} to ${to}`}
        icon={IconArrowsSplit2}
        onClick={() => store.openEdge({ from, to })}
      />
      <EdgeButton
        label={`Remove the connection from ${from} to ${to}`}
        icon={IconTrash}
        onClick={() => removeConnections(store, [{ from, to }])}
      />
    </Group>
  );
}

function EdgeButton({ label, icon: Icon, onClick }: { label: string; icon: Icon; onClick: () => void }) {
  return (
    <ActionIcon size={22} variant="default" aria-label={label} title={label} onClick={onClick}>
      <Icon size={14} />
    </ActionIcon>
  );
}
