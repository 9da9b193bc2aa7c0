/** A line between two nodes: when it is taken, and the buttons that insert a node or take it away. */
import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconAlertTriangleFilled, IconPlus, IconTrash } from '@tabler/icons-react';
import { BaseEdge, EdgeLabelRenderer, getBezierPath, type EdgeProps } from '@xyflow/react';
import { createContext, memo, use } from 'react';
import type { WorkflowEdge } from '../../../api/workflow.ts';
import { disconnect } from '../model.ts';
import { useEditorStore } from '../store.ts';
import type { WorkflowFlowEdge } from './flow.ts';
import classes from './canvas.module.css';

/** The edge under the pointer. */
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

type LabelProps = {
  data: NonNullable<WorkflowFlowEdge['data']>;
  x: number;
  y: number;
  isActive: boolean;
};

function EdgeLabel({ data, x, y, isActive }: LabelProps) {
  const { edge, problems, isReadOnly } = data;
  const label = edgeWords(edge);
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
            {label}
          </span>
        )}
        {isActive && !isReadOnly && <EdgeButtons ends={edge} />}
      </div>
    </EdgeLabelRenderer>
  );
}

/** When the line is taken, in words; nothing for one that is taken always. */
function edgeWords({ when, after }: WorkflowEdge): string {
  const words = [after === 'Failure' ? 'on failure' : '', when === undefined ? '' : `if ${when}`];
  return words.filter((word) => word !== '').join(', ');
}

function EdgeButtons({ ends }: { ends: { from: string; to: string } }) {
  const store = useEditorStore();
  const { from, to } = ends;
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon
        size={22}
        variant="default"
        aria-label={`Insert a node between ${from} and ${to}`}
        onClick={() => store.pick({ kind: 'between', edge: { from, to } })}
      >
        <IconPlus size={14} />
      </ActionIcon>
      <ActionIcon
        size={22}
        variant="default"
        aria-label={`Remove the line from ${from} to ${to}`}
        onClick={() => store.apply((draft) => disconnect(draft, [{ from, to }]))}
      >
        <IconTrash size={14} />
      </ActionIcon>
    </Group>
  );
}
