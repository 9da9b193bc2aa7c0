/** The cards of the overview: totals, unfinished runs, failures. */
import { Card, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { count, formatDuration } from '../ui/format.ts';
import { rateText, reasonLabel, successRate, type WorkflowItem } from '../workflows/items.ts';
import { costText, usageNote } from '../ui/usage.ts';
import type { ShownUsage } from '../../api/usage.ts';
import { detailOf, type Failures, type Totals } from './statistics.ts';
import { TextLink } from '../ui/links.tsx';
import { Ago } from '../ui/Ago.tsx';

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

/** Further failures are on the page Runs. */
const FAILURES_SHOWN = 12;

type FailureListProps = { failures: Failures[]; project: string; titles: Map<string, string> };

/** Failures by workflow and reason, with the newest run of each. */
export function FailureList({ failures, project, titles }: FailureListProps) {
  return (
    <Card withBorder padding="md" component="section" aria-label="Failures">
      <Title order={2} size="h5" mb="xs">
        Failures
      </Title>
      {failures.length === 0 ? (
        <Text size="sm" c="dimmed">
          No failed runs.
        </Text>
      ) : (
        <Table verticalSpacing={6} fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Workflow</Table.Th>
              <Table.Th>Error</Table.Th>
              <Table.Th ta="right">Runs</Table.Th>
              <Table.Th visibleFrom="xs">Last failure</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {failures.slice(0, FAILURES_SHOWN).map(({ workflow, cause, number, last }) => (
              <Table.Tr key={`${workflow} ${cause.reason} ${cause.node}`}>
                <Table.Td>
                  <TextLink to="/p/$project/workflows/$workflow" params={{ project, workflow }} size="sm">
                    {titles.get(workflow) ?? workflow}
                  </TextLink>
                </Table.Td>
                <Table.Td>
                  {reasonLabel(cause.reason)}
                  {cause.node !== undefined && `, in ${cause.node}`}
                  {last.message !== undefined && (
                    <Text size="xs" c="dimmed" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
                      {detailOf(last)}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td ta="right">{number.toLocaleString('en')}</Table.Td>
                <Table.Td visibleFrom="xs" style={{ whiteSpace: 'nowrap' }}>
                  <TextLink to="/p/$project/runs/$run" params={{ project, run: last.run }} size="sm">
                    <Ago time={new Date(last.acceptedAt).toISOString()} />
                  </TextLink>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {failures.length > FAILURES_SHOWN && (
        <TextLink to="/p/$project/runs" params={{ project }} size="sm" mt="xs">
          All runs
        </TextLink>
      )}
    </Card>
  );
}
