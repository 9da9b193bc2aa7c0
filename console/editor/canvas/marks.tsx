/** Marks of a node on the canvas: its problems, and its phase in the shown run. */
import { Tooltip } from '@mantine/core';
import {
  IconAlertTriangleFilled,
  IconArrowNarrowRight,
  IconBan,
  IconCircleCheckFilled,
  IconCircleXFilled,
  IconClock,
  IconHourglass,
  IconLoader2,
  IconPinnedFilled,
  IconPower,
  IconQuestionMark,
} from '@tabler/icons-react';
import { useEffect, useState, type ComponentType } from 'react';
import type { NodePhase } from '../../../api/phase.ts';
import { hasFailedItems, itemsText, markText, sampleText, waitText } from '../../runs/live/nodeView.ts';
import { formatDuration } from '../../ui/format.ts';
import { ownProblemText } from '../../workflows/conditionText.ts';
import type { CardNode } from './flow.ts';
import classes from './canvas.module.css';

/** The phase of a node in the shown run; undefined: no run is shown. */
export function phaseOf({ view, isInRun }: CardNode['data']): NodePhase | undefined {
  return view?.phase ?? (isInRun ? 'Pending' : undefined);
}

/** The text for screen readers, in place of colors and icons. */
export function screenReaderText(data: CardNode['data']): string {
  const { view, problems } = data;
  const phase = phaseOf(data);
  const items = view?.items === undefined ? '' : `, ${itemsText(view.items)}`;
  const item = view?.item === undefined ? '' : ` for item ${view.item}`;
  const said = phase === undefined ? '' : `, ${PHASES[phase].label}${item}${items}`;
  const wrong = problems.length === 0 ? '' : `, problem: ${problemTexts(data).join('; ')}`;
  return `${data.isDisabled ? ', disabled' : ''}${data.isPinned ? ', pinned' : ''}${said}${wrong}`;
}

function problemTexts({ node, problems }: CardNode['data']): string[] {
  return [...new Set(problems.map(({ message }) => ownProblemText(node.id, message)))];
}

/** The marks beside the name of a card: disabled, pinned, problems. */
export function NodeMarks({ data }: Pick<CardNode, 'data'>) {
  const { node, isDisabled, isPinned } = data;
  return (
    <>
      {isDisabled && <DisabledMark node={node} />}
      {isPinned && <PinMark />}
      <ProblemMark data={data} />
    </>
  );
}

export function ProblemMark({ data }: Pick<CardNode, 'data'>) {
  if (data.problems.length === 0) return null;
  return (
    <Tooltip
      multiline
      w={320}
      position="bottom"
      openDelay={100}
      label={problemTexts(data).map((message) => (
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

/** Runs do not execute the node. */
export function DisabledMark({ node: { disabled } }: { node: CardNode['data']['node'] }) {
  const label = disabled ? 'Disabled: runs do not execute it (D)' : 'Its group is disabled';
  return (
    <Tooltip label={label} position="bottom">
      <span className={classes['disabled']}>
        <IconPower size={16} aria-hidden />
      </span>
    </Tooltip>
  );
}

/** The node has a pinned output. */
function PinMark() {
  return (
    <Tooltip label="Pinned: test runs do not execute it" position="bottom">
      <span className={classes['pin']}>
        <IconPinnedFilled size={16} aria-hidden />
      </span>
    </Tooltip>
  );
}

type Phase = { label: string; icon: ComponentType<{ size?: number; className?: string }>; color: string };

const PHASES: Record<NodePhase, Phase> = {
  Pending: { label: 'pending', icon: IconHourglass, color: 'gray' },
  Running: { label: 'running', icon: IconLoader2, color: 'blue' },
  Waiting: { label: 'waiting', icon: IconClock, color: 'yellow' },
  Succeeded: { label: 'succeeded', icon: IconCircleCheckFilled, color: 'green' },
  Failed: { label: 'failed', icon: IconCircleXFilled, color: 'red' },
  Cancelled: { label: 'cancelled', icon: IconBan, color: 'gray' },
  Skipped: { label: 'skipped', icon: IconArrowNarrowRight, color: 'gray' },
  Unknown: { label: 'outcome unknown', icon: IconQuestionMark, color: 'orange' },
};

/** A loop that succeeded although items of it failed. */
const WITH_FAILURES: Phase = { label: 'succeeded', icon: IconAlertTriangleFilled, color: 'orange' };

export function PhaseMark({ phase, view }: { phase: NodePhase; view: CardNode['data']['view'] }) {
  const { label, icon: Icon, color } = hasFailedItems(view) ? WITH_FAILURES : PHASES[phase];
  const took = useTook(view);
  const said = whyOf(phase, view) ?? label;
  return (
    <Tooltip multiline maw={320} label={said} position="bottom">
      <span className={classes['phase']} style={{ color: `var(--mantine-color-${color}-text)` }}>
        <Icon size={14} className={phase === 'Running' ? (classes['turning'] ?? '') : ''} />
        <span>{markText(view, label, took)}</span>
      </span>
    </Tooltip>
  );
}

/** The wait of a node, its message, or its attempt. */
function whyOf(phase: NodePhase, view: CardNode['data']['view']): string | undefined {
  if (view === undefined) return undefined;
  const { waitingFor, message, item, attempts = 1 } = view;
  if (phase === 'Waiting' && waitingFor !== undefined) return waitText(waitingFor);
  if (message !== undefined) return message;
  if (item !== undefined) return sampleText(item);
  return attempts > 1 ? `${PHASES[phase].label}, attempt ${attempts}` : undefined;
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
