/** A group on the canvas: a frame around its body. Its header is the node; the space in it is canvas. */
import { ActionIcon, Button, Text, ThemeIcon, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconArrowsMinimize, IconPlus } from '@tabler/icons-react';
import { Handle, Position, type NodeProps } from '@xyflow/react';
import { memo } from 'react';
import { hasFailedItems } from '../../runs/live/nodeView.ts';
import { actionLabel, nodeLabel } from '../../workflows/kinds.ts';
import { useEditorStore, type EditorStore } from '../store/store.ts';
import { BODY_HANDLE, type CardNode } from './flow.ts';
import { DisabledMark, PhaseMark, phaseOf, ProblemMark, screenReaderText } from './marks.tsx';
import { NextHandle } from './NodeCard.tsx';
import { nodeColor, nodeIcon } from '../../workflows/nodeIcons.tsx';
import classes from './canvas.module.css';

export const FrameCard = memo(function FrameCard({ id, data, selected }: NodeProps<CardNode>) {
  const { node, view, problems, bodySize, isReadOnly, isTarget } = data;
  const store = useEditorStore();
  const Icon = nodeIcon(node);
  const label = nodeLabel(node);
  const phase = phaseOf(data);
  return (
    <div
      className={classes['frame']}
      data-phase={phase}
      data-failures={hasFailedItems(view) || undefined}
      data-disabled={data.isDisabled || undefined}
      data-problem={problems.length > 0 || undefined}
      data-selected={selected || undefined}
      data-target={isTarget || undefined}
    >
      <Handle type="target" position={Position.Left} className={classes['target'] ?? ''} />
      <div className={classes['frameHead']} data-frame-head>
        <div
          role="button"
          tabIndex={data.isTabStop ? 0 : -1}
          data-card={id}
          data-phase={phase}
          className={classes['frameName']}
          aria-pressed={selected}
        >
          <ThemeIcon size={26} radius="sm" variant="light" color={nodeColor(node)} aria-hidden>
            <Icon size={16} />
          </ThemeIcon>
          <Text size="sm" fw={600} truncate>
            {label}
          </Text>{' '}
          {actionLabel(node) !== label && (
            <Text size="xs" c="dimmed" truncate style={{ flexShrink: 3 }}>
              {actionLabel(node)}
            </Text>
          )}
          {data.isDisabled && <DisabledMark node={node} />}
          <ProblemMark data={data} />
          <VisuallyHidden>{screenReaderText(data)}</VisuallyHidden>
        </div>
        {!isReadOnly && (
          <HeadButton
            label={`Add a node in ${label}`}
            tip="Add a node in the group"
            icon={IconPlus}
            onClick={() => addInside(store, id)}
          />
        )}
        <HeadButton
          label={`Collapse ${label}`}
          tip="Collapse"
          icon={IconArrowsMinimize}
          onClick={() => store.toggleCollapsed(id)}
        />
      </div>
      {bodySize === 0 && <EmptyBody group={id} isReadOnly={isReadOnly} />}
      {phase !== undefined && <PhaseMark phase={phase} view={view} />}
      <NextHandle id={id} data={data} />
      <Handle
        id={BODY_HANDLE}
        type="source"
        position={Position.Right}
        isConnectable={false}
        className={classes['bodyHandle'] ?? ''}
      />
    </div>
  );
});

function EmptyBody({ group, isReadOnly }: { group: string; isReadOnly: boolean }) {
  const store = useEditorStore();
  return (
    <div className={classes['frameEmpty']}>
      {isReadOnly ? (
        <Text size="xs" c="dimmed">
          Empty
        </Text>
      ) : (
        <Button
          variant="default"
          tabIndex={-1}
          className="nopan nodrag"
          leftSection={<IconPlus size={14} />}
          onClick={(event) => {
            event.stopPropagation();
            addInside(store, group);
          }}
        >
          Add the first node
        </Button>
      )}
    </div>
  );
}

function addInside(store: EditorStore, group: string): void {
  store.select({ nodes: [group] });
  store.pick({ kind: 'inside', group });
}

type HeadButtonProps = { label: string; tip: string; icon: typeof IconPlus; onClick: () => void };

function HeadButton({ label, tip, icon: Icon, onClick }: HeadButtonProps) {
  return (
    <Tooltip label={tip}>
      <ActionIcon
        size={24}
        variant="subtle"
        color="gray"
        tabIndex={-1}
        className="nopan nodrag"
        aria-label={label}
        onClick={(event) => {
          event.stopPropagation();
          onClick();
        }}
      >
        <Icon size={15} />
      </ActionIcon>
    </Tooltip>
  );
}
