/** The cards of the overview: totals and unfinished runs. */
import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { count, formatDuration } from '../ui/format.ts';
import { rateText, successRate, type WorkflowItem } from '../workflows/items.ts';
import { costText, usageNote } from '../ui/usage.ts';
import type { ShownUsage } from '../../api/usage.ts';
import { openCount, type Period, type Totals, type Unfinished } from './statistics.ts';
import { TextLink } from '../ui/links.tsx';

type Props = {
  totals: Totals;
  period: Period;
  p50: number | undefined;
  /** Unfinished runs, and how many of them are test runs, if all of them were read. */
  unfinished: number;
  tests: number | undefined;
  active: number;
  workflows: number;
  /** What agents used today; undefined where none asked a model. */
  used: ShownUsage | undefined;
  /** Tokens of today that have no price. */
  unpriced: number;
};

export function Tiles({ totals, period, p50, unfinished, tests, active, workflows, used, unpriced }: Props) {
  const rate = successRate({ succeeded: totals.succeeded, failed: totals.failed });
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: used === undefined ? 5 : 6 }} spacing="sm">
      <Tile label="Runs" value={totals.runs.toLocaleString('en')} note={period.label.toLowerCase()} />
      <Tile
        label="Success rate"
        value={rate === undefined ? '—' : rateText(rate)}
        note={totals.failed > 0 ? `${totals.failed.toLocaleString('en')} failed` : 'none failed'}
      />
      <Tile
        label="Median duration"
        value={p50 === undefined ? '—' : formatDuration(p50)}
        note={period.label.toLowerCase()}
      />
      <Tile
        label="Running and waiting"
        value={unfinished.toLocaleString('en')}
        note={unfinishedNote(tests)}
      />
      <Tile
        label="Active workflows"
        value={active.toLocaleString('en')}
        note={`of ${count(workflows, 'workflow')}`}
      />
      {used !== undefined && <UsedTile used={used} unpriced={unpriced} />}
    </SimpleGrid>
  );
}

function unfinishedNote(tests: number | undefined): string {
  if (tests === undefined) return 'now';
  if (tests === 0) return 'now, no test runs';
  return tests === 1 ? 'now; 1 is a test run' : `now; ${tests.toLocaleString('en')} are test runs`;
}

/** What is charged to the project, so that it does not shrink when a workflow is deleted. */
function UsedTile({ used, unpriced }: { used: ShownUsage; unpriced: number }) {
  const { tokens, cost, currency = '' } = used;
  const shown =
    cost === undefined
      ? { value: tokens.toLocaleString('en'), unit: 'tokens' }
      : { value: costText(cost), unit: currency };
  return <Tile label="Model use today (UTC)" {...shown} note={usageNote(used, unpriced)} />;
}

type TileProps = { label: string; value: string; unit?: string; note?: string };

function Tile({ label, value, unit, note }: TileProps) {
  return (
    <Card withBorder padding="sm">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fz={22} fw={600} lh={1.3}>
        {value}
        {unit !== undefined && (
          <Text span size="sm" fw={500}>
            {` ${unit}`}
          </Text>
        )}
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

type OpenItem = WorkflowItem & Unfinished;

export function Backlog({ items, project }: { items: OpenItem[]; project: string }) {
  const busy = items.filter((item) => openCount(item) > 0).toSorted((a, b) => openCount(b) - openCount(a));
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
        With test runs.
      </Text>
    </Card>
  );
}

function openText({ running, waiting, suspended }: OpenItem): string {
  if (waiting === 0) return count(running, 'run');
  const why = suspended ? ', suspended' : '';
  return `${count(running + waiting, 'run')} (${waiting.toLocaleString('en')} waiting${why})`;
}
