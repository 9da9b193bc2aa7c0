/**
 * The overview of a project: runs over time, failures, durations, model tokens, what needs
 * attention.
 */
import { Group, SegmentedControl, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTable } from '../kube/hooks.ts';
import { CREDENTIALS, WORKFLOWS } from '../kube/resources.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { count } from '../ui/format.ts';
import { unpricedTokens } from '../ui/usage.ts';
import { itemOf, type WorkflowItem } from '../workflows/items.ts';
import { AttentionList } from './AttentionList.tsx';
import { Backlog, Tiles } from './Cards.tsx';
import { needingAttention } from './attention.ts';
import { failureGroups } from './failureGroups.ts';
import { FailureGroups } from './FailureGroups.tsx';
import {
  beginOf,
  openCount,
  PERIODS,
  spread,
  testsAmong,
  throughput,
  totals,
  withUnfinished,
  type Period,
} from './statistics.ts';
import {
  MAX_WORKFLOWS,
  readDayUse,
  readRuns,
  readUsage,
  type ReadRuns,
  type ReadUsage,
  type WorkflowToRead,
} from './queries.ts';
import { GettingStarted } from './GettingStarted.tsx';
import { ModelUse } from './ModelUse.tsx';
import { RunCharts } from './RunCharts.tsx';

const EACH_MS = 60_000;

export function OverviewPage() {
  const { project } = useParams({ from: '/p/$project/overview' });
  return <ProjectOverview key={project} project={project} />;
}

function ProjectOverview({ project }: { project: string }) {
  const [id, setId] = useState<Period['id']>('24h');
  const period = PERIODS.find((known) => known.id === id) ?? PERIODS[0];
  const workflows = useTable(WORKFLOWS, project);
  const items = useMemo(() => workflows.data?.rows.map(itemOf), [workflows.data?.rows]);
  return (
    <Stack gap="md" p="md" style={{ flex: 1, minHeight: 0, overflow: 'auto' }}>
      <Group justify="space-between">
        <Title order={1} size="h3">
          Overview
        </Title>
        {items?.length !== 0 && (
          <SegmentedControl
            size="xs"
            aria-label="Period"
            data={PERIODS.map(({ id: value, label }) => ({ value, label }))}
            value={id}
            onChange={setId}
          />
        )}
      </Group>
      {items !== undefined && (
        <GettingStarted
          project={project}
          items={items}
          otherwise={items.length === 0 && <Nothing project={project} />}
        />
      )}
      {items === undefined || period === undefined ? (
        <Loading error={workflows.error} onRetry={() => void workflows.refetch()} />
      ) : (
        items.length > 0 && <Counted project={project} period={period} items={items} />
      )}
    </Stack>
  );
}

type CountedProps = { project: string; period: Period; items: WorkflowItem[] };

function Counted({ project, period, items }: CountedProps) {
  const { workflows, isAll } = workflowsToRead(items, beginOf(period, Date.now()));
  const runs = useQuery({
    // The names are part of the key, so that a first run counts at once.
    queryKey: ['overview', project, period.id, workflows.map(({ name }) => name).toSorted()],
    refetchInterval: EACH_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const now = Date.now();
      const read = await readRuns(project, workflows, { since: beginOf(period, now), signal });
      return { ...read, isAll: read.isAll && isAll, now };
    },
  });
  const usage = useQuery({
    queryKey: ['usage', project],
    refetchInterval: 5 * EACH_MS,
    queryFn: ({ signal }) => readUsage(project, signal),
  });
  if (runs.data === undefined) return <Loading error={runs.error} onRetry={() => void runs.refetch()} />;
  return (
    <>
      {runs.error !== null && <FailureNote error={runs.error} onRetry={() => void runs.refetch()} />}
      <Sections {...{ project, period, items }} read={runs.data} usage={usage.data} />
    </>
  );
}

/** Only workflows that ran in the period are read. */
function workflowsToRead(
  items: WorkflowItem[],
  since: number,
): { workflows: WorkflowToRead[]; isAll: boolean } {
  const timeOf = ({ lastRun = '' }: WorkflowItem) => Date.parse(lastRun) || 0;
  const ran = items
    .filter((item) => openCount(item) > 0 || timeOf(item) >= since)
    .toSorted((a, b) => timeOf(b) - timeOf(a));
  const read = ran.slice(0, MAX_WORKFLOWS);
  return {
    workflows: read.map((item) => ({ name: item.name, open: openCount(item) })),
    isAll: ran.length <= MAX_WORKFLOWS,
  };
}

type SectionsProps = CountedProps & { read: ReadRuns & { now: number }; usage: ReadUsage | undefined };

function Sections({ project, period, items, read, usage }: SectionsProps) {
  const { runs, isAll, now } = read;
  const credentials = useTable(CREDENTIALS, project);
  const titles = useMemo(() => new Map(items.map(({ name, title }) => [name, title])), [items]);
  const all = totals(throughput(runs, period, now));
  const today = new Date(now).toISOString().slice(0, 10);
  const used = useQuery({
    queryKey: ['day usage', project, today],
    refetchInterval: EACH_MS,
    queryFn: ({ signal }) => readDayUse(project, today, signal),
  });
  const open = withUnfinished(items, read.unfinished);
  const attention = needingAttention(items, credentials.data?.rows ?? []);
  const list = <AttentionList all={attention} project={project} />;
  return (
    <>
      <Text size="xs" c="dimmed">
        {isAll ? '' : `${count(runs.length, 'run')} counted, more exist. `}
        Test runs and deleted workflows count only where a card says so. Updated every minute.
      </Text>
      <Tiles
        totals={all}
        period={period}
        p50={spread(runs).p50}
        unfinished={open.reduce((sum, item) => sum + openCount(item), 0)}
        tests={testsAmong(open)}
        active={items.filter(({ active }) => active).length}
        workflows={items.length}
        used={used.data?.usage}
        unpriced={unpricedTokens(used.data?.workflows ?? [])}
      />
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
        {attention.length > 0 && list}
        <RunCharts runs={runs} usage={usage} period={period} now={now} />
        <FailureGroups
          groups={failureGroups(runs, beginOf(period, now))}
          project={project}
          titles={titles}
          period={period.id}
        />
        {used.data && <ModelUse use={used.data} project={project} titles={titles} />}
        {used.data === undefined && used.isError && (
          <FailureNote
            title="Could not load the model use"
            error={used.error}
            onRetry={() => void used.refetch()}
          />
        )}
        <Backlog items={open} project={project} />
        {attention.length === 0 && list}
      </SimpleGrid>
    </>
  );
}

function Loading({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  if (error !== null) return <FailureNote error={error} onRetry={onRetry} />;
  return (
    <Stack role="group" aria-busy aria-label="Loading the overview">
      <Skeleton h={80} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Skeleton h={260} />
        <Skeleton h={260} />
      </SimpleGrid>
    </Stack>
  );
}

/** Where to begin, where the first steps above it are not shown. */
function Nothing({ project }: { project: string }) {
  return (
    <EmptyState
      icon={IconChartBar}
      title="No data yet"
      actions={
        <Group gap="xs" justify="center">
          <ButtonLink to="/p/$project/workflows" params={{ project }}>
            Go to workflows
          </ButtonLink>
          <ButtonLink to="/p/$project/templates" params={{ project }} variant="default">
            Browse templates
          </ButtonLink>
        </Group>
      }
    >
      Runs, failures, durations and tokens at a glance. Create and run a workflow first.
    </EmptyState>
  );
}
