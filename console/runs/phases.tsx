/** Phases of runs and nodes as a word, an icon and a color, so that color is never the only difference. */
import { DISABLED } from '../../api/disabled.ts';
import { Loader, Text, Tooltip } from '@mantine/core';
import {
  IconAlertTriangleFilled,
  IconBan,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleXFilled,
  IconClockPause,
  IconHelpCircleFilled,
  IconPlayerSkipForward,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { NodePhase } from '../../api/phase.ts';
import { phaseText } from './live/nodeView.ts';

type PhaseStyle = { color: string; meaning: string; icon: (size: number) => ReactNode };

const PHASE_STYLES: Record<NodePhase, PhaseStyle> = {
  Pending: {
    color: 'gray',
    meaning: 'Waiting to start.',
    icon: (size) => <IconCircleDashed size={size} />,
  },
  Running: {
    color: 'blue',
    meaning: 'Running.',
    icon: (size) => <Loader size={size - 2} color="blue" />,
  },
  Waiting: {
    color: 'yellow',
    meaning: 'Waiting to continue or to retry.',
    icon: (size) => <IconClockPause size={size} />,
  },
  Succeeded: {
    color: 'green',
    meaning: 'Succeeded.',
    icon: (size) => <IconCircleCheckFilled size={size} />,
  },
  Failed: { color: 'red', meaning: 'Failed.', icon: (size) => <IconCircleXFilled size={size} /> },
  Cancelled: { color: 'gray', meaning: 'Cancelled.', icon: (size) => <IconBan size={size} /> },
  Skipped: {
    color: 'gray',
    meaning: 'Skipped: no connection to it was taken.',
    icon: (size) => <IconPlayerSkipForward size={size} />,
  },
  Unknown: {
    color: 'orange',
    meaning: 'Outcome unknown: its effect may have happened.',
    icon: (size) => <IconHelpCircleFilled size={size} />,
  },
};

const WITH_FAILURES: PhaseStyle = {
  color: 'orange',
  meaning: 'Succeeded, although items failed.',
  icon: (size) => <IconAlertTriangleFilled size={size} />,
};

const NOT_RUN = 'The run ended before this node.';
const WAS_DISABLED = 'Skipped, because the node was disabled. The run went on with the nodes after it.';

/** `hasFailures`: what succeeded has items that failed. */
type IconProps = { phase: NodePhase; size?: number; hasFailures?: boolean | undefined };

export function PhaseIcon({ phase, size = 16, hasFailures = false }: IconProps) {
  const { icon } = hasFailures ? WITH_FAILURES : PHASE_STYLES[phase];
  return (
    <span style={{ display: 'inline-flex', color: phaseColor({ phase, hasFailures }) }} aria-hidden>
      {icon(size)}
    </span>
  );
}

/** `reason`: that of a node. */
type LabelProps = IconProps & { reason?: string | undefined; hasEnded?: boolean };

export function PhaseLabel({ phase, reason, size = 16, hasEnded = false, hasFailures = false }: LabelProps) {
  const isDisabled = reason === DISABLED;
  const text = isDisabled ? `${phase}, disabled` : phaseText(phase, hasEnded);
  const style = hasFailures ? WITH_FAILURES : PHASE_STYLES[phase];
  const meaning = phase === phaseText(phase, hasEnded) ? style.meaning : NOT_RUN;
  return (
    <Tooltip label={isDisabled ? WAS_DISABLED : meaning}>
      <span style={{ display: 'inline-flex', alignItems: 'center', gap: 6, whiteSpace: 'nowrap' }}>
        <PhaseIcon phase={phase} size={size} hasFailures={hasFailures} />
        <Text span size="sm">
          {text}
          {hasFailures && ', with failed items'}
        </Text>
      </span>
    </Tooltip>
  );
}

/** The color of icons and bars. */
export function phaseColor({ phase, hasFailures = false }: IconProps): string {
  const { color } = hasFailures ? WITH_FAILURES : PHASE_STYLES[phase];
  // Filled gray and red are too dark to be seen in dark colors.
  if (color === 'red') return 'var(--failure-mark)';
  return `var(--mantine-color-${color === 'gray' ? 'dimmed' : `${color}-filled`})`;
}
