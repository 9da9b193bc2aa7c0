/** A schedule: in words, when it starts runs next, when it did last. */
import { List, Skeleton, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { ScheduleTrigger } from '../../../api/trigger.ts';
import type { WorkflowStatus } from '../../../api/workflow.ts';
import type { CronWords } from '../../forms/inputs/cronWords.ts';
import { ago, fullTime } from '../../ui/format.ts';

const COUNT = 5;

type Props = { schedule: ScheduleTrigger; status: WorkflowStatus['schedule']; isActive: boolean };

export function SchedulePanel({ schedule: { cron, timeZone = 'UTC' }, status, isActive }: Props) {
  const [said, setSaid] = useState<CronWords>();
  const { last, next } = status ?? {};
  useEffect(() => {
    let isHere = true;
    const read = async (): Promise<void> => {
      const { cronWords } = await import('../../forms/inputs/cronWords.ts');
      if (isHere) setSaid(cronWords(cron, timeZone, Date.now(), COUNT));
    };
    void read();
    return () => {
      isHere = false;
    };
    // When it has fired, other times are next.
  }, [cron, timeZone, next]);
  if (said === undefined) return <Skeleton height={80} />;
  if (!said.ok) return <Text size="sm">{said.message}</Text>;
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {said.words} ({timeZone})
      </Text>
      <Text size="xs" c="dimmed">
        {isActive ? 'Next runs' : 'Next runs when active'}
      </Text>
      <List size="sm" aria-label="Next times">
        {said.times.map((time) => (
          <List.Item key={time}>{timeIn(time, timeZone)}</List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed">
        {last === undefined ? 'No run started yet.' : `Last: ${ago(last, Date.now())} (${fullTime(last)})`}
      </Text>
    </Stack>
  );
}

function timeIn(time: number, timeZone: string): string {
  return new Date(time).toLocaleString('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
}
