/** The runs of one workflow: live records, followed by summaries from the run store. */
import { Button, Loader, Stack, Text } from '@mantine/core';
import { IconFilterOff, IconPlayerPlay } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { RunPage } from '../../api/runView.ts';
import { useNow } from '../ui/useNow.ts';
import { callJson } from '../http/call.ts';
import { ApiFailure } from '../http/failure.ts';
import { useTable } from '../kube/hooks.ts';
import { RUNS } from '../kube/resources.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { FailureNote } from '../ui/FailureNote.tsx';
import { countShown } from '../ui/format.ts';
import { filtered, isFiltered, noMatchAdvice, runOfRow, type RunFilters } from './filters.ts';
import { RunFilterBar } from './RunFilterBar.tsx';
import { ListNote, RunsList } from './RunsList.tsx';
import { mergeRuns } from './merge.ts';

type Props = { namespace: string; workflow: string };

const PAGE = 200;
/** How often summaries are read again. */
const RETRY_MS = 15_000;
const MINUTE = 60_000;

export function WorkflowRuns({ namespace, workflow }: Props) {
  const [filters, setFilters] = useState<RunFilters>({});
  const records = useTable(RUNS, namespace, { fieldSelector: `spec.workflow=${workflow}` });
  const pages = useStoredRuns(namespace, workflow);
  const rows = useDeferredValue(records.data?.rows);
  const runs = useMemo(
    () =>
      rows === undefined
        ? undefined
        : mergeRuns(rows.map(runOfRow), pages.data?.pages.flatMap(({ items }) => items) ?? []),
    [rows, pages.data],
  );
  const now = useNow(filters.within !== undefined, MINUTE);
  const shown = useMemo(() => (runs ? filtered(runs, filters, now) : []), [runs, filters, now]);
  if (runs === undefined)
    return records.error === null ? (
      <Loader role="progressbar" size="sm" m="md" aria-label="Loading runs" />
    ) : (
      <FailureNote error={records.error} onRetry={() => void records.refetch()} />
    );
  return (
    <Stack gap={8} style={{ flex: 1, minHeight: 0 }}>
      <RunFilterBar
        filters={filters}
        onChange={setFilters}
        triggers={[...new Set(runs.map(({ trigger }) => trigger))].filter((one) => one !== '').toSorted()}
      />
      {runs.length > 0 && (
        <Text size="xs" c="dimmed" role="status">
          {countShown(shown.length, runs.length, 'run')}
          {pages.hasNextPage && ', older ones are not loaded yet'}
        </Text>
      )}
      {pages.error !== null && (
        <FailureNote
          title="Could not load runs without a record"
          error={pages.error}
          onRetry={() => void pages.refetch()}
        />
      )}
      {shown.length === 0 ? (
        <NoRuns filters={filters} />
      ) : (
        <RunsList
          project={namespace}
          runs={shown}
          showsWorkflow={false}
          opensOn="canvas"
          footer={
            pages.hasNextPage && (
              <ListNote>
                <Button
                  variant="default"
                  loading={pages.isFetchingNextPage}
                  onClick={() => void pages.fetchNextPage()}
                >
                  Load older runs
                </Button>
              </ListNote>
            )
          }
        />
      )}
    </Stack>
  );
}

function useStoredRuns(namespace: string, workflow: string) {
  const path = `/workflows/${encodeURIComponent(`${namespace}.${workflow}`)}/runs?limit=${PAGE}`;
  const query = useInfiniteQuery({
    queryKey: ['stored-runs', namespace, workflow],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      readStoredRuns(pageParam === '' ? path : `${path}&continue=${encodeURIComponent(pageParam)}`, signal),
    getNextPageParam: (last) => last.continue,
  });
  const { refetch, data } = query;
  const isShort = (data?.pages.length ?? 0) <= 1;
  useEffect(() => {
    // Older pages do not change.
    if (!isShort) return undefined;
    const timer = setInterval(() => void refetch(), RETRY_MS);
    return () => clearInterval(timer);
  }, [refetch, isShort]);
  return query;
}

/** The gateway does not know a workflow that was never valid: it has no runs. */
async function readStoredRuns(path: string, signal: AbortSignal): Promise<RunPage> {
  try {
    return await callJson<RunPage>(path, { signal });
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return { items: [] };
    throw error;
  }
}

function NoRuns({ filters }: { filters: RunFilters }) {
  return isFiltered(filters) ? (
    <EmptyState icon={IconFilterOff} title="No runs match the filters">
      {noMatchAdvice(filters)}
    </EmptyState>
  ) : (
    <EmptyState icon={IconPlayerPlay} title="No runs yet">
      Click Test run to run it with test data, or activate it.
    </EmptyState>
  );
}
