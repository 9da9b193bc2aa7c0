/** The state of a workflow: icon, word, and the operator's message. */
import { Badge, Tooltip } from '@mantine/core';
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
  const badge = (
    <Badge
      variant="light"
      color={color}
      tt="none"
      radius="sm"
      fw={500}
      leftSection={<Icon size={12} color={`var(--mantine-color-${color}-light-color)`} />}
      style={{ color: 'var(--mantine-color-text)' }}
      {...(message !== undefined && { tabIndex: 0, 'aria-label': `${label}: ${message}` })}
    >
      {label}
    </Badge>
  );
  if (message === undefined) return badge;
  return (
    <Tooltip label={message} multiline maw={360} events={{ hover: true, focus: true, touch: true }}>
      {badge}
    </Tooltip>
  );
}
