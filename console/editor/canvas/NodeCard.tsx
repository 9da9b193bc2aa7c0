/** A node on the canvas: its kind, phase and problems, and the button that adds the next node. */
import { Text, ThemeIcon, Tooltip, VisuallyHidden } from '@mantine/core';
import {
  IconAlertTriangleFilled,
  IconArrowNarrowRight,
  IconBan,
  IconCircleCheckFilled,
  IconCircleXFilled,
  IconClock,
  IconHourglass,
  IconLoader2,
  IconPlus,
  IconQuestionMark,
} from '@tabler/icons-react';
import { Handle, Position, type NodeProps } from '@xyflow/react';
import { memo, useEffect, useState, type ComponentType } from 'react';
import type { NodePhase } from '../../../api/phase.ts';
import { formatDuration } from '../../ui/format.ts';
import { actionLabel, isTrigger, nodeLabel } from '../../workflows/kinds.ts';
import { useEditorStore } from '../store/store.ts';
import type { CardNode } from './flow.ts';
import { nodeColor, nodeIcon } from './nodeIcons.tsx';
import classes from './canvas.module.css';

export const NodeCard = memo(function NodeCard({ id, data, selected }: NodeProps<CardNode>) {
  const { node, hasSuccessor, isReadOnly, view, isInRun, problems } = data;
  const store = useEditorStore();
  const Icon = nodeIcon(node);
  const phase = view?.phase ?? (isInRun ? 'Pending' : undefined);
  // A fail node ends the run: no edge leaves it.
  const canGoOn = !isReadOnly && node.fail === undefined;
  return (
    <>
      {!isTrigger(node) && (
        <Handle type="target" position={Position.Left} className={classes['target'] ?? ''} />
      )}
      <div
        role="button"
        tabIndex={-1}
        data-card={id}
        data-trigger={isTrigger(node) || undefined}
        data-phase={phase}
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
          </Text>
        </div>
        {problems.length > 0 && <ProblemMark messages={problems.map(({ message }) => message)} />}
        {phase !== undefined && <PhaseMark phase={phase} view={view} />}
        <VisuallyHidden>{screenReaderText(data)}</VisuallyHidden>
      </div>
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
    </>
  );
});

/** The text for screen readers, in place of colors and icons. */
function screenReaderText({ view, isInRun, problems }: CardNode['data']): string {
  const phase = view?.phase ?? (isInRun ? 'Pending' : undefined);
  const said = phase === undefined ? '' : `, ${PHASES[phase].label}`;
  const wrong =
    problems.length === 0 ? '' : `, problem: ${problems.map(({ message }) => message).join('; ')}`;
  return `${said}${wrong}`;
}

function ProblemMark({ messages }: { messages: string[] }) {
  return (
    <Tooltip
      multiline
      w={320}
      position="bottom"
      openDelay={100}
      label={messages.map((message) => (
        <span key={message} style={{ display: 'block' }}>
          {message}
        </span>
      ))}
    >
      <span className={classes['problem']}>
        <IconAlertTriangleFilled size={16} aria-hidden />
      </span>
    </Tooltip>
  );
}

type Phase = { label: string; icon: ComponentType<{ size?: number; className?: string }>; color: string };

const PHASES: Record<NodePhase, Phase> = {
  Pending: { label: 'waiting', icon: IconHourglass, color: 'gray' },
  Running: { label: 'running', icon: IconLoader2, color: 'blue' },
  Waiting: { label: 'waiting to continue', icon: IconClock, color: 'yellow' },
  Succeeded: { label: 'succeeded', icon: IconCircleCheckFilled, color: 'green' },
  Failed: { label: 'failed', icon: IconCircleXFilled, color: 'red' },
  Cancelled: { label: 'cancelled', icon: IconBan, color: 'gray' },
  Skipped: { label: 'skipped', icon: IconArrowNarrowRight, color: 'gray' },
  Unknown: { label: 'outcome unknown', icon: IconQuestionMark, color: 'orange' },
};

function PhaseMark({ phase, view }: { phase: NodePhase; view: CardNode['data']['view'] }) {
  const { label, icon: Icon, color } = PHASES[phase];
  const took = useTook(view);
  const attempts = (view?.attempts ?? 1) > 1 ? `, attempt ${view?.attempts}` : '';
  return (
    <Tooltip multiline maw={320} label={view?.message ?? `${label}${attempts}`} position="bottom">
      <span className={classes['phase']} style={{ color: `var(--mantine-color-${color}-text)` }}>
        <Icon size={14} className={phase === 'Running' ? (classes['turning'] ?? '') : ''} />
        <span>{took ?? label}</span>
      </span>
    </Tooltip>
  );
}

function useTook(view: CardNode['data']['view']): string | undefined {
  const [now, setNow] = useState(() => Date.now());
  const runs = view?.startTime !== undefined && view.phase === 'Running';
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [runs]);
  if (view?.startTime === undefined) return undefined;
  const end = view.completionTime === undefined ? now : Date.parse(view.completionTime);
  return runs || view.completionTime !== undefined
    ? formatDuration(Math.max(0, end - Date.parse(view.startTime)))
    : undefined;
}
