/** A cron expression with its description, next times, and common presets. */
import { Button, Group, List, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useSiblings } from '../scope.ts';
import type { CronDescription } from './cron.ts';
import { cronProblem } from './cronProblem.ts';
import { wrapperOf } from './PlainInputs.tsx';
import type { InputProps } from '../props.ts';

const PRESETS: [label: string, cron: string][] = [
  ['Every 15 minutes', '*/15 * * * *'],
  ['Hourly', '0 * * * *'],
  ['Daily at 9', '0 9 * * *'],
  ['Weekdays at 9', '0 9 * * 1-5'],
  ['Weekly', '0 9 * * 1'],
  ['Monthly', '0 9 1 * *'],
];

export function CronInput(props: InputProps<'cron'>) {
  const { value, onChange, error, isReadOnly } = props;
  const { timeZone } = useSiblings();
  const cron = typeof value === 'string' ? value : '';
  const zone = typeof timeZone === 'string' && timeZone !== '' ? timeZone : 'UTC';
  return (
    <Stack gap={6}>
      <TextInput
        {...wrapperOf(props)}
        value={cron}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        placeholder="0 9 * * 1-5"
        error={error}
        readOnly={isReadOnly}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      {!isReadOnly && (
        <Group gap={4}>
          {PRESETS.map(([label, preset]) => (
            <Button
              key={preset}
              size="compact-xs"
              variant={preset === cron ? 'light' : 'default'}
              aria-pressed={preset === cron}
              onClick={() => onChange(preset)}
            >
              {label}
            </Button>
          ))}
        </Group>
      )}
      {cron.trim() !== '' && <Times cron={cron.trim()} zone={zone} />}
    </Stack>
  );
}

const COUNT = 5;

function Times({ cron, zone }: { cron: string; zone: string }) {
  const [said, setSaid] = useState<CronDescription>();
  useEffect(() => {
    let isHere = true;
    const say = async () => {
      const { describeCron } = await import('./cron.ts');
      const message = cronProblem(cron);
      if (isHere)
        setSaid(message === undefined ? describeCron(cron, zone, Date.now(), COUNT) : { ok: false, message });
    };
    void say();
    return () => {
      isHere = false;
    };
  }, [cron, zone]);
  if (said === undefined) return <Skeleton height={16} />;
  if (!said.ok)
    return (
      <Text size="xs" c="dimmed" role="status">
        {said.message}
      </Text>
    );
  return (
    <div role="status">
      <Text size="xs" fw={600} mt={4}>
        {said.words} ({zone})
      </Text>
      <Text size="xs" c="dimmed" aria-hidden>
        Next times:
      </Text>
      <List size="xs" c="dimmed" aria-label="Next times">
        {said.times.map((time) => (
          <List.Item key={time}>{timeIn(time, zone)}</List.Item>
        ))}
      </List>
    </div>
  );
}

function timeIn(time: number, timeZone: string): string {
  return new Date(time).toLocaleString('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
}
