/**
 * The state of a workflow: icon, word, and the operator's message. Plain elements that resemble
 * the badges of the theme: long lists have many.
 */
import { Tooltip } from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconHourglass,
  IconPlayerPause,
  IconTrash,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { StateKind, WorkflowState } from './items.ts';
import classes from './StateBadge.module.css';

const PHASE_STYLES: Record<
  StateKind,
  { color: string; icon: ComponentType<{ size?: number; color?: string }> }
> = {
  ready: { color: 'green', icon: IconCircleCheck },
  inactive: { color: 'gray', icon: IconCircleDashed },
  suspended: { color: 'orange', icon: IconPlayerPause },
  waiting: { color: 'yellow', icon: IconHourglass },
  attention: { color: 'red', icon: IconAlertTriangle },
  leaving: { color: 'gray', icon: IconTrash },
};

export function StateBadge({ state: { kind, label, message, isServed } }: { state: WorkflowState }) {
  const { color: own, icon: Icon } = PHASE_STYLES[kind];
  const color = isServed === true ? 'orange' : own;
  const shade = `var(--mantine-color-${color}-light`;
  const badge = (
    <span
      className={classes['badge']}
      data-plain={color === 'gray' || undefined}
      style={{ background: `${shade})` }}
      {...(message !== undefined && { tabIndex: 0, 'aria-label': `${label}: ${message}` })}
    >
      <Icon size={12} color={`${shade}-color)`} />
      <span>{label}</span>
    </span>
  );
  if (message === undefined) return badge;
  return (
    <Tooltip label={message} multiline maw={360} events={{ hover: true, focus: true, touch: true }}>
      {badge}
    </Tooltip>
  );
}
