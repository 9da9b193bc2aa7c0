/** The cards of the overview: totals and unfinished runs. */
import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { count, formatDuration } from '../ui/format.ts';
import { rateText, successRate, type WorkflowItem } from '../workflows/items.ts';
import { costText, usageNote } from '../ui/usage.ts';
import type { ShownUsage } from '../../api/usage.ts';
import type { Totals } from './statistics.ts';
import { TextLink } from '../ui/links.tsx';

type Props = {
  totals: Totals;
  p50: number | undefined;
  /** Unfinished runs, as the workflows count them. */
  unfinished: number;
  active: number;
  workflows: number;
  /** What agents used today; undefined where none asked a model. */
  used: ShownUsage | undefined;
  /** Tokens of today that have no price. */
  unpriced: number;
};

export function Tiles({ totals, p50, unfinished, active, workflows, used, unpriced }: Props) {
  const rate = successRate({ succeeded: totals.succeeded, failed: totals.failed });
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: used === undefined ? 5 : 6 }} spacing="sm">
      <Tile label="Runs" value={totals.runs.toLocaleString('en')} />
      <Tile
        label="Succeeded"
        value={rate === undefined ? '—' : rateText(rate)}
        note={totals.failed > 0 ? `${totals.failed.toLocaleString('en')} failed` : 'none failed'}
      />
      <Tile label="Median duration" value={p50 === undefined ? '—' : formatDuration(p50)} />
      <Tile label="Running and waiting" value={unfinished.toLocaleString('en')} note="updated every minute" />
      <Tile
        label="Active workflows"
        value={active.toLocaleString('en')}
        note={`of ${count(workflows, 'workflow')}`}
      />
      {used !== undefined && <UsedTile used={used} unpriced={unpriced} />}
    </SimpleGrid>
  );
}

/** What is charged to the project, so that it does not shrink when a workflow is deleted. */
function UsedTile({ used, unpriced }: { used: ShownUsage; unpriced: number }) {
  const { tokens, cost, currency = '' } = used;
  const value =
    cost === undefined ? `${tokens.toLocaleString('en')} tokens` : `${costText(cost)} ${currency}`;
  return <Tile label="Model use today (UTC)" value={value} note={usageNote(used, unpriced)} />;
}

function Tile({ label, value, note }: { label: string; value: string; note?: string }) {
  return (
    <Card withBorder padding="sm">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fz={22} fw={600} lh={1.3}>
        {value}
      </Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Card>
  );
}

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
