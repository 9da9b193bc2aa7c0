/** What the agents of a workflow remember: the keys, last used first, and the turns of one of them. */
import {
  Badge,
  Button,
  Group,
  Loader,
  Stack,
  Table,
  Text,
  TextInput,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import { IconBrain, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import type { MemoryItem, MemoryPage } from '../../api/memory.ts';
import { useMay } from '../kube/access.ts';
import { RUNS } from '../kube/resources.ts';
import { Ago } from '../ui/Ago.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { count } from '../ui/format.ts';
import { visibleText } from '../ui/visibleText.ts';
import { DeleteMemory } from './DeleteMemory.tsx';
import { MemoryTurns } from './MemoryTurns.tsx';
import { readMemories, shortKey, type WorkflowAt } from './memories.ts';

export function WorkflowMemory({ at }: { at: WorkflowAt }) {
  const [text, setText] = useState('');
  const contains = useDeferredValue(text.trim());
  const [opened, setOpened] = useState<MemoryItem>();
  const [leaving, setLeaving] = useState<MemoryItem>();
  const mayDelete = useMay({ verb: 'delete', resource: RUNS, namespace: at.namespace });
  const { data, error, refetch } = useQuery({
    queryKey: ['memories', at.namespace, at.workflow, contains],
    queryFn: ({ signal }) => readMemories(at, contains, signal),
    staleTime: 0,
  });
  const asking = leaving && (
    <DeleteMemory
      at={at}
      memory={leaving}
      onClose={(isDeleted) => {
        setLeaving(undefined);
        if (isDeleted) setOpened(undefined);
        void refetch();
      }}
    />
  );
  if (opened)
    return (
      <>
        <MemoryTurns
          at={at}
          memory={opened}
          onClose={() => setOpened(undefined)}
          onDelete={mayDelete ? setLeaving : undefined}
        />
        {asking}
      </>
    );
  return (
    <Stack gap="sm">
      <TextInput
        leftSection={<IconSearch size={14} />}
        placeholder="Search keys and first messages"
        aria-label="Search keys and first messages"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      {error !== null && <FailureNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Loader role="progressbar" size="sm" aria-label="Loading memory" />
      )}
      {data && (
        <Memories
          page={data}
          isFiltered={contains !== ''}
          onOpen={setOpened}
          onDelete={mayDelete ? setLeaving : undefined}
        />
      )}
      {asking}
    </Stack>
  );
}

type ListProps = {
  page: MemoryPage;
  isFiltered: boolean;
  onOpen: (memory: MemoryItem) => void;
  onDelete: ((memory: MemoryItem) => void) | undefined;
};

function Memories({ page: { items, total }, isFiltered, onOpen, onDelete }: ListProps) {
  if (items.length === 0)
    return (
      <EmptyState
        icon={IconBrain}
        title={isFiltered ? 'No key or first message contains this text' : 'Nothing is remembered yet'}
      >
        An agent with a memory stores a turn for its key when it ends.
      </EmptyState>
    );
  return (
    <>
      <Table aria-label="Memories">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>First message and key</Table.Th>
            <Table.Th>Agent</Table.Th>
            <Table.Th>Turns</Table.Th>
            <Table.Th visibleFrom="sm">Size</Table.Th>
            <Table.Th visibleFrom="sm">Last used</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((memory) => (
            <MemoryRow
              key={`${memory.test} ${memory.name} ${memory.key}`}
              {...{ memory, onOpen, onDelete }}
            />
          ))}
        </Table.Tbody>
      </Table>
      {total > items.length && (
        <Text size="sm" c="dimmed">
          The last {items.length} of {count(total, 'memory', 'memories')}. Search for others by their key or
          first message.
        </Text>
      )}
    </>
  );
}

function MemoryRow({
  memory,
  onOpen,
  onDelete,
}: Omit<ListProps, 'page' | 'isFiltered'> & { memory: MemoryItem }) {
  const { key, name, test, turns, bytes, lastUsedTime, first = '' } = memory;
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <UnstyledButton onClick={() => onOpen(memory)} title={key}>
          {first !== '' && (
            <Text size="sm" c="var(--mantine-color-anchor)" lineClamp={2}>
              {visibleText(first)}
            </Text>
          )}
          <Text
            size={first === '' ? 'sm' : 'xs'}
            c={first === '' ? 'var(--mantine-color-anchor)' : 'dimmed'}
            ff="monospace"
          >
            {shortKey(key)}
          </Text>
        </UnstyledButton>
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Group gap="2px 6px">
          {name}
          {test && (
            <Badge size="xs" variant="default" tt="none">
              Test
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td>{turns}</Table.Td>
      <Table.Td visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
        {Math.ceil(bytes / 1_024)} KiB
      </Table.Td>
      <Table.Td visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
        <Ago time={lastUsedTime} />
      </Table.Td>
      <Table.Td>
        {onDelete && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            aria-label={`Delete ${key}`}
            onClick={() => onDelete(memory)}
          >
            Delete
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
