/**
 * An edge on the canvas: its condition, and buttons beside it that insert a node, set the condition or remove
 * it.
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
import { formText } from '../../forms/values.ts';
import { edgeLabel } from '../../workflows/kinds.ts';
import { fittingLabel } from '../model/edgeLabels.ts';
import { removeConnections } from '../store/commands.ts';
import { useEditorStore } from '../store/store.ts';
import { BUTTON, buttonsPlace, HIT_WIDTH, labelPlace } from './edgePlaces.ts';
import type { WorkflowFlowEdge } from './flow.ts';
import classes from './canvas.module.css';

export const HoveredEdge = createContext<string | undefined>(undefined);

export const FlowEdge = memo(function FlowEdge(props: EdgeProps<WorkflowFlowEdge>) {
  const { id, data, selected = false } = props;
  const [path] = getBezierPath(props);
  const isActive = use(HoveredEdge) === id || selected;
  if (data === undefined) return null;
  return (
    <>
      {data.hasFailed && isActive && <path d={path} className={classes['edgeHalo'] ?? ''} />}
      <BaseEdge
        id={id}
        path={path}
        interactionWidth={HIT_WIDTH}
        className={classes['edge'] ?? ''}
        data-failure={data.edge.after === 'Failure' || undefined}
        data-taken={data.isTaken || undefined}
        data-failed={data.hasFailed || undefined}
        data-active={isActive || undefined}
      />
      <EdgeLabel data={data} place={labelPlace(props, data.rank)} />
      {isActive && !data.isReadOnly && (
        <EdgeButtons ends={data.edge} place={buttonsPlace(props, data.labels)} isSelected={selected} />
      )}
    </>
  );
});

/** From the border of a frame to a node with which its body begins. */
export const EntryEdge = memo(function EntryEdge(props: EdgeProps<WorkflowFlowEdge>) {
  const [path] = getBezierPath(props);
  return <BaseEdge id={props.id} path={path} interactionWidth={0} className={classes['entry'] ?? ''} />;
});

type LabelProps = { data: NonNullable<WorkflowFlowEdge['data']>; place: ReturnType<typeof labelPlace> };

function EdgeLabel({ data: { edge, label: labels, problems }, place: { x, y, width } }: LabelProps) {
  const label = fittingLabel(labels, width);
  if (label === '' && problems.length === 0) return null;
  return (
    <EdgeLabelRenderer>
      <div
        className={`${classes['edgeLabel']} nodrag nopan`}
        style={{ transform: `translate(-100%, -100%) translate(${x}px, ${y}px)` }}
      >
        {problems.length > 0 && (
          <Tooltip multiline w={320} label={problems.map(({ message }) => formText(message)).join(' ')}>
            <span className={classes['edgeProblem']}>
              <IconAlertTriangleFilled size={14} aria-label="Problem" />
            </span>
          </Tooltip>
        )}
        {label !== '' && (
          <span className={classes['edgeWords']} style={{ maxWidth: width }} title={edgeLabel(edge)}>
            {label}
          </span>
        )}
      </div>
    </EdgeLabelRenderer>
  );
}

type ButtonsProps = {
  ends: { from: string; to: string };
  place: ReturnType<typeof buttonsPlace>;
  isSelected: boolean;
};

const SIDES = { above: 'translate(0, -100%)', below: '' };

/** Beside the edge, so that a click on the edge opens it. Only a selected edge is removed here. */
function EdgeButtons({ ends: { from, to }, place: { x, y, side }, isSelected }: ButtonsProps) {
  const store = useEditorStore();
  // A click opens the edge's panel. React passes events of the buttons to the edge, although they are above.
  return (
    <EdgeLabelRenderer>
      <Group
        gap={4}
        wrap="nowrap"
        className={`${classes['edgeButtons']} nodrag nopan`}
        style={{ transform: `${SIDES[side]} translate(${x}px, ${y}px)` }}
        onClick={(event) => event.stopPropagation()}
      >
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
        {isSelected && (
          <EdgeButton
            label={`Remove the connection from ${from} to ${to}`}
            icon={IconTrash}
            onClick={() => removeConnections(store, [{ from, to }])}
          />
        )}
      </Group>
    </EdgeLabelRenderer>
  );
}

function EdgeButton({ label, icon: Icon, onClick }: { label: string; icon: Icon; onClick: () => void }) {
  return (
    <ActionIcon size={BUTTON} variant="default" aria-label={label} title={label} onClick={onClick}>
      <Icon size={14} />
    </ActionIcon>
  );
}
