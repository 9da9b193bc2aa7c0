/** The state of a credential as a word with an icon, so that it does not depend on color. */
import { Badge } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconCircleX } from '@tabler/icons-react';
import { credentialState, type ReadyCondition, type Tone } from './state.ts';

const PHASE_STYLES: Record<Tone, { color: string; icon: typeof IconCircleCheck }> = {
  good: { color: 'green', icon: IconCircleCheck },
  warning: { color: 'orange', icon: IconAlertTriangle },
  bad: { color: 'red', icon: IconCircleX },
  unknown: { color: 'gray', icon: IconCircleDashed },
};

export function StateBadge({ ready }: { ready: ReadyCondition }) {
  const { word, tone } = credentialState(ready);
  const { color, icon: Icon } = PHASE_STYLES[tone];
  return (
    <Badge
      color={color}
      variant="light"
      tt="none"
      radius="sm"
      fw={500}
      leftSection={<Icon size={12} color={`var(--mantine-color-${color}-light-color)`} aria-hidden />}
      style={{ color: 'var(--mantine-color-text)' }}
    >
      {word}
    </Badge>
  );
}
