/** The turns of one memory. */
import { Button, Code, Group, Loader, Paper, Stack, Text, Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { MemoryItem, MemoryTurn } from '../../api/memory.ts';
import { Ago } from '../ui/Ago.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { TextLink } from '../ui/links.tsx';
import { visibleText } from '../ui/visibleText.ts';
import { readTurns, shortKey, type WorkflowAt } from './memories.ts';

export function MemoryTurns({
  at,
  memory,
  onClose,
  onDelete,
}: {
  at: WorkflowAt;
  memory: MemoryItem;
  onClose: () => void;
  onDelete: ((memory: MemoryItem) => void) | undefined;
}) {
  const { data, error, refetch } = useQuery({
    queryKey: ['memory', at.namespace, at.workflow, memory.name, memory.key, memory.test],
    queryFn: ({ signal }) => readTurns(at, memory, signal),
    staleTime: 0,
  });
  return (
    <Stack gap="sm">
      <Group gap="xs" wrap="nowrap" align="start">
        <Button
          variant="subtle"
          size="compact-sm"
          style={{ flexShrink: 0 }}
          leftSection={<IconArrowLeft size={14} />}
          onClick={onClose}
        >
          All memories
        </Button>
        <Title order={2} size="h5" lineClamp={2} miw={0} style={{ overflowWrap: 'anywhere' }}>
          {memory.first === undefined || memory.first === ''
            ? shortKey(memory.key)
            : visibleText(memory.first)}
        </Title>
        {onDelete && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            style={{ flexShrink: 0 }}
            onClick={() => onDelete(memory)}
          >
            Delete
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {memory.key}
      </Text>
      {error !== null && <FailureNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Loader role="progressbar" size="sm" aria-label="Loading turns" />
      )}
      {data?.turns.map((turn) => (
        <Turn key={`${turn.run} ${turn.time}`} at={at} turn={turn} />
      ))}
    </Stack>
  );
}

function Turn({ at: { namespace, workflow }, turn }: { at: WorkflowAt; turn: MemoryTurn }) {
  const { run, time, user, steps, answer, failed, redacted } = turn;
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" mb="xs">
        <TextLink
          size="sm"
          to="/p/$project/runs/$run"
          params={{ project: namespace, run }}
          search={{ workflow }}
        >
          Run {run}
        </TextLink>
        <Text size="xs" c="dimmed" component="span">
          {failed && 'Failed. '}
          <Ago time={time} />
        </Text>
      </Group>
      {redacted ? (
        <Text size="sm" c="dimmed">
          The texts are withheld because of a setting of the workflow (Save inputs and outputs) or of the node
          (Sensitive).
        </Text>
      ) : (
        <Stack gap={6}>
          <Line who="User" text={user} />
          {steps.flatMap(({ text, calls }, step) => [
            ...(text === '' ? [] : [<Line key={`${step} text`} who="Agent" text={text} />]),
            ...calls.map((call, index) => (
              <Code block key={`${step} ${index}`} style={{ maxHeight: 160, overflow: 'auto' }}>
                {visibleText(`${call.name} ${call.arguments}\n${call.error ? 'error: ' : ''}${call.result}`)}
              </Code>
            )),
          ])}
          <Line who="Agent" text={answer} />
        </Stack>
      )}
    </Paper>
  );
}

function Line({ who, text }: { who: string; text: string }) {
  return (
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      <b>{who}: </b>
      {visibleText(text)}
    </Text>
  );
}
