/** Where runs queue up: the workflows with most runs that have not ended. */
import { Card, Group, Stack, Text, Title } from '@mantine/core';
import { TextLink } from '../ui/links.tsx';
import { count } from '../ui/format.ts';
import type { WorkflowItem } from '../workflows/items.ts';

const SHOWN = 6;

export function Backlog({ items, project }: { items: WorkflowItem[]; project: string }) {
  const open = ({ running, waiting }: WorkflowItem): number => running + waiting;
  const busy = items.filter((item) => open(item) > 0).toSorted((a, b) => open(b) - open(a));
  return (
    <Card withBorder padding="md" component="section" aria-label="Running and waiting">
      <Title order={2} size="h5" mb="xs">
        Running and waiting
      </Title>
      {busy.length === 0 ? (
        <Text size="sm" c="dimmed">
          No run is waiting or running.
        </Text>
      ) : (
        <Stack gap={6}>
          {busy.slice(0, SHOWN).map((item) => (
            <Group key={item.name} justify="space-between" wrap="nowrap">
              <TextLink
                to="/p/$project/workflows/$workflow"
                params={{ project, workflow: item.name }}
                size="sm"
              >
                {item.title}
              </TextLink>
              <Text size="sm">{openText(item)}</Text>
            </Group>
          ))}
          {busy.length > SHOWN && (
            <Text size="xs" c="dimmed">
              and {count(busy.length - SHOWN, 'more workflow')}
            </Text>
          )}
        </Stack>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        Updated every minute.
      </Text>
    </Card>
  );
}

function openText({ running, waiting, suspended }: WorkflowItem): string {
  if (waiting === 0) return count(running, 'run');
  const why = suspended ? ', suspended' : '';
  return `${count(running + waiting, 'run')} (${waiting.toLocaleString('en')} waiting${why})`;
}
