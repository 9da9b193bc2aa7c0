/** The overview in a few numbers. */
import { Card, SimpleGrid, Text } from '@mantine/core';
import { count, lasting } from '../ui/format.ts';
import { rateText, successRate } from '../workflows/items.ts';
import type { Totals } from './statistics.ts';

type Props = {
  totals: Totals;
  p50: number | undefined;
  /** Runs that have not ended, as the workflows count them. */
  underWay: number;
  active: number;
  workflows: number;
};

export function Tiles({ totals, p50, underWay, active, workflows }: Props) {
  const rate = successRate({ succeeded: totals.succeeded, failed: totals.failed });
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
      <Tile label="Runs" value={totals.runs.toLocaleString('en')} />
      <Tile
        label="Succeeded"
        value={rate === undefined ? '—' : rateText(rate)}
        note={totals.failed > 0 ? `${totals.failed.toLocaleString('en')} failed` : 'none failed'}
      />
      <Tile label="Median duration" value={p50 === undefined ? '—' : lasting(p50)} />
      <Tile label="Running and waiting" value={underWay.toLocaleString('en')} note="updated every minute" />
      <Tile
        label="Active workflows"
        value={active.toLocaleString('en')}
        note={`of ${count(workflows, 'workflow')}`}
      />
    </SimpleGrid>
  );
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
