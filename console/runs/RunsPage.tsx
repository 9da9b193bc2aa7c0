/** The recorded runs of a project, live, newest first. */
import { Box, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconFilterOff, IconPlayerPlay } from '@tabler/icons-react';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useMemo } from 'react';
import { useNow } from '../ui/useNow.ts';
import { useTable } from '../kube/hooks.ts';
import { RUNS, WORKFLOWS } from '../kube/resources.ts';
import { itemOf, type WorkflowItem } from '../workflows/items.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { ButtonLink } from '../ui/links.tsx';
import { countShown } from '../ui/format.ts';
import {
  filtered,
  hasUnlisted,
  isFiltered,
  noMatchAdvice,
  runOfRow,
  type ListedRun,
  type RunFilters,
} from './filters.ts';
import { RunFilterBar } from './RunFilterBar.tsx';
import { ListNote, RunsList } from './RunsList.tsx';

/** How often a time filter is evaluated. */
const MINUTE = 60_000;

export function RunsPage() {
  const { project } = useParams({ from: '/p/$project/runs' });
  const filters = useSearch({ from: '/p/$project/runs' });
  const navigate = useNavigate();
  const { data, error, refetch } = useTable(RUNS, project);
  const rows = useDeferredValue(data?.rows);
  const runs = useMemo(() => rows?.map(runOfRow), [rows]);
  const { data: workflows } = useTable(WORKFLOWS, project);
  const items = useMemo(() => workflows?.rows.map(itemOf), [workflows]);
  const titles = useMemo(() => items && new Map(items.map(({ name, title }) => [name, title])), [items]);
  const now = useNow(filters.within !== undefined, MINUTE);
  const shown = useMemo(() => (runs ? filtered(runs, filters, now) : []), [runs, filters, now]);
  const setFilters = (next: RunFilters): void =>
    void navigate({ to: '/p/$project/runs', params: { project }, search: next, replace: true });
  return (
    <Stack gap={0} style={{ flex: 1, minHeight: 0 }}>
      <Stack gap={10} px="md" pt="md" pb={10}>
        <Group gap="sm" align="baseline">
          <Title order={1} size="h3">
            Runs
          </Title>
          {runs !== undefined && (
            <Text size="sm" c="dimmed" role="status">
              {countShown(shown.length, runs.length, 'run')}
            </Text>
          )}
        </Group>
        <RunFilterBar
          filters={filters}
          onChange={setFilters}
          workflows={valuesOf(runs, 'workflow', filters.workflow)}
          titles={titles}
          triggers={valuesOf(runs, 'trigger', filters.trigger)}
        />
      </Stack>
      {error !== null && runs === undefined && (
        <Box px="md">
          <FailureNote error={error} onRetry={() => void refetch()} />
        </Box>
      )}
      {error === null && runs === undefined && <Loading />}
      {runs !== undefined && shown.length > 0 && (
        <RunsList
          project={project}
          runs={shown}
          titles={titles}
          footer={
            <OlderRuns
              runs={runs}
              workflows={items?.filter(({ name }) => name === (filters.workflow ?? name)) ?? []}
              isCut={data?.more === true}
            />
          }
        />
      )}
      {runs !== undefined && shown.length === 0 && <NoRuns project={project} filters={filters} />}
    </Stack>
  );
}

/** `isCut`: the project has more records than were read. */
type OlderProps = { runs: ListedRun[]; workflows: WorkflowItem[]; isCut: boolean };

function OlderRuns({ runs, workflows, isCut }: OlderProps) {
  if (!isCut && !hasUnlisted(runs, workflows)) return null;
  return (
    <ListNote>
      {isCut && 'Not all runs are listed. '}
      Older runs may be listed in the editor of their workflow, under Runs.
    </ListNote>
  );
}

function Loading() {
  return (
    <Stack gap={6} px="md" role="group" aria-busy aria-label="Loading runs">
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} h={28} />
      ))}
    </Stack>
  );
}

function NoRuns({ project, filters }: { project: string; filters: RunFilters }) {
  if (isFiltered(filters))
    return (
      <EmptyState icon={IconFilterOff} title="No runs match the filters">
        {noMatchAdvice(filters)}
      </EmptyState>
    );
  return (
    <EmptyState
      icon={IconPlayerPlay}
      title="No runs yet"
      actions={
        <ButtonLink to="/p/$project/workflows" params={{ project }}>
          Go to workflows
        </ButtonLink>
      }
    >
      Runs appear here when an event starts a workflow. Open a workflow and click Test run, or activate it.
    </EmptyState>
  );
}

/** The values to choose from, including the current filter even if no run matches. */
function valuesOf(
  runs: readonly ListedRun[] | undefined,
  name: 'workflow' | 'trigger',
  chosen: string | undefined,
): string[] {
  const values = new Set((runs ?? []).map((run) => run[name]).filter((value) => value !== ''));
  if (chosen !== undefined) values.add(chosen);
  return [...values].toSorted();
}
