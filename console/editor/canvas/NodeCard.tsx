/**
 * A node on the canvas: its kind, phase and problems, and the button that adds the next node. A collapsed
 * group is a card too.
 */
import { Text, ThemeIcon, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconArrowsMaximize, IconPlus } from '@tabler/icons-react';
import { Handle, Position, type NodeProps } from '@xyflow/react';
import { memo } from 'react';
import { count } from '../../ui/format.ts';
import { hasFailedItems } from '../../runs/live/nodeView.ts';
import { actionLabel, isTrigger, loopLabel, nodeLabel } from '../../workflows/kinds.ts';
import { useEditorStore } from '../store/store.ts';
import type { CardNode } from './flow.ts';
import { NodeMarks, PhaseMark, phaseOf, screenReaderText } from './marks.tsx';
import { loopIcon, nodeColor, nodeIcon } from '../../workflows/nodeIcons.tsx';
import classes from './canvas.module.css';

export const NodeCard = memo(function NodeCard({ id, data, selected }: NodeProps<CardNode>) {
  const { node, view, problems, bodySize } = data;
  const Icon = nodeIcon(node);
  const Loop = node.group === undefined ? loopIcon(node) : undefined;
  const phase = phaseOf(data);
  return (
    <>
      {!isTrigger(node) && (
        <Handle type="target" position={Position.Left} className={classes['target'] ?? ''} />
      )}
      <div
        role="button"
        tabIndex={data.isTabStop ? 0 : -1}
        data-card={id}
        data-trigger={isTrigger(node) || undefined}
        data-collapsed={node.group !== undefined || undefined}
        data-phase={phase}
        data-failures={hasFailedItems(view) || undefined}
        data-disabled={data.isDisabled || undefined}
        data-problem={problems.length > 0 || undefined}
        className={classes['card']}
        aria-pressed={selected}
      >
        <ThemeIcon size={34} radius="sm" variant="light" color={nodeColor(node)} aria-hidden>
          <Icon size={20} />
        </ThemeIcon>
        <div className={classes['words']}>
          <Text size="sm" fw={600} lineClamp={2} lh={1.25}>
            {nodeLabel(node)}
          </Text>{' '}
          <Text size="xs" c="dimmed" truncate lh={1.3}>
            {actionLabel(node)}
            {node.group !== undefined && `, ${count(bodySize, 'node')}`}
          </Text>
        </div>
        {Loop && (
          <Tooltip label={loopLabel(node)}>
            <span className={classes['loop']} role="img" aria-label={loopLabel(node)}>
              <Loop size={16} />
            </span>
          </Tooltip>
        )}
        <NodeMarks data={data} />
        {phase !== undefined && <PhaseMark phase={phase} view={view} />}
        <VisuallyHidden>{screenReaderText(data)}</VisuallyHidden>
      </div>
      {node.group !== undefined && <ExpandButton id={id} label={nodeLabel(node)} />}
      <NextHandle id={id} data={data} />
    </>
  );
});

/** The handle from which edges leave a node, with the button that adds the next node. */
export function NextHandle({ id, data }: { id: string; data: CardNode['data'] }) {
  const { node, hasSuccessor, isReadOnly } = data;
  const store = useEditorStore();
  // A fail node ends the run: no edge leaves it.
  const canGoOn = !isReadOnly && node.fail === undefined;
  return (
    <Handle type="source" position={Position.Right} className={classes['source'] ?? ''}>
      {canGoOn && (
        <button
          type="button"
          tabIndex={-1}
          className={`${classes['add']} nopan`}
          data-more={hasSuccessor || undefined}
          aria-label={`Add a node after ${nodeLabel(node)}`}
          onClick={(event) => {
            event.stopPropagation();
            store.select({ nodes: [id] });
            store.pick({ kind: 'after', node: id });
          }}
        >
          <IconPlus size={14} stroke={2.5} aria-hidden />
        </button>
      )}
    </Handle>
  );
}

function ExpandButton({ id, label }: { id: string; label: string }) {
  const store = useEditorStore();
  return (
    <Tooltip label="Expand">
      <button
        type="button"
        tabIndex={-1}
        className={`${classes['expand']} nopan nodrag`}
        aria-label={`Expand ${label}`}
        onClick={(event) => {
          event.stopPropagation();
          store.toggleCollapsed(id);
        }}
      >
        <IconArrowsMaximize size={14} aria-hidden />
      </button>
    </Tooltip>
  );
}
