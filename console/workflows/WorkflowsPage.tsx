/** The workflows of a project, live, with search, filters, actions and creation. */
import { Button, Code, Group, Kbd, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconBinaryTree2, IconFileCode, IconPlus, IconSearchOff, IconTemplate } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react';
import { DocLink } from '../docs/DocLink.tsx';
import { N8N_DOC } from '../docs/n8nDoc.ts';
import { useTable, type LiveTable } from '../kube/hooks.ts';
import { useMay } from '../kube/access.ts';
import { DRAFTS, RUNS, WORKFLOWS } from '../kube/resources.ts';
import { textCell, type Row } from '../kube/table.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { keepTyping } from '../ui/keepTyping.ts';
import { useNewInAddress } from '../ui/useNewInAddress.ts';
import { usePageKey } from '../ui/usePageKey.ts';
import { useReturnFocus } from '../ui/useReturnFocus.ts';
import { FailureNote } from '../ui/FailureNote.tsx';
import { count, countShown } from '../ui/format.ts';
import type { RecordedRuns } from './consequences.ts';
import type { CreateTab } from './CreateDialog.tsx';
import { exportYaml } from './exportYaml.ts';
import { countedSoFar, recentRuns } from './recent.ts';
import { useRights, type RowAction } from './RowMenu.tsx';
import {
  changedBy,
  filtered,
  itemOf,
  NO_FILTER,
  sorted,
  type Filter,
  type Sort,
  type SortKey,
  type WorkflowItem,
} from './items.ts';
import { Toolbar } from './Toolbar.tsx';
import { useFilter } from './useFilter.ts';
import { WorkflowTable } from './WorkflowTable.tsx';

const CreateDialog = lazy(async () => ({ default: (await import('./CreateDialog.tsx')).CreateDialog }));
const loadRowDialogs = () => import('./RowDialogs.tsx');
const DuplicateDialog = lazy(async () => ({ default: (await loadRowDialogs()).DuplicateDialog }));
const RenameDialog = lazy(async () => ({ default: (await loadRowDialogs()).RenameDialog }));
const DeleteDialog = lazy(async () => ({ default: (await loadRowDialogs()).DeleteDialog }));
const SuspendDialog = lazy(async () => ({ default: (await import('./SuspendDialogs.tsx')).SuspendDialog }));
const ResumeDialog = lazy(async () => ({ default: (await import('./SuspendDialogs.tsx')).ResumeDialog }));

/** The page limit of runs to read for the bars. */
const RUN_PAGES = 4;

type Dialog = Exclude<RowAction, 'export'>;
type Shown = { what: 'create'; tab: CreateTab } | { what: Dialog; item: WorkflowItem };

export function WorkflowsPage() {
  const { project } = useParams({ from: '/p/$project/workflows' });
  // A new component for each project, so that no input carries over.
  return <ProjectWorkflows key={project} project={project} />;
}

function ProjectWorkflows({ project }: { project: string }) {
  const workflows = useTable(WORKFLOWS, project);
  const runs = useTable(RUNS, project, { maxPages: RUN_PAGES });
  const rights = useRights(project);
  const drafted = useDrafted(project);
  const [shown, setShown] = useState<Shown>();
  // Deferred, so that rendering does not block typing.
  const data = useDeferredValue(workflows.data);
  const recorded = useDeferredValue(runs.data);
  const items = useMemo(() => (data?.rows ?? []).map(itemOf), [data?.rows]);
  const taken = useMemo(() => new Set(items.map(({ name }) => name)), [items]);
  const [filter, setFilter] = useFilter();
  const asked = useDeferredValue(filter);
  const matches = useMemo(() => filtered(items, asked), [items, asked]);
  const create = (tab: CreateTab): void => {
    keepTyping();
    setShown({ what: 'create', tab });
  };
  const close = () => setShown(undefined);
  useNewInAddress('/p/$project/workflows', rights.mayCreate, () => create('name'));
  usePageKey('n', () => {
    if (rights.mayCreate && shown === undefined) create('name');
  });
  const act = useCallback(
    (action: RowAction, item: WorkflowItem): void => {
      if (action === 'export') exportYaml(project, item.name);
      else setShown({ what: action, item });
    },
    [project],
  );
  const found = { filter, setFilter, asked, matches };
  const page = { project, rights, items, found, drafted, runs: recorded?.rows, onAction: act };
  return (
    <Stack gap="sm" p="md" style={{ flex: 1, minHeight: 0 }}>
      <Group justify="space-between">
        <Group gap="sm" align="baseline">
          <Title order={1} size="h3">
            Workflows
          </Title>
          {items.length > 0 && (
            <Text size="sm" c="dimmed" role="status" visibleFrom="xs">
              {countShown(matches.length, items.length, 'workflow')}
              {data?.more === true && ', more are not shown'}
            </Text>
          )}
        </Group>
        {rights.mayCreate && items.length > 0 && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => create('name')} aria-keyshortcuts="n">
            New workflow
          </Button>
        )}
      </Group>
      {data === undefined ? (
        <Missing error={workflows.error} onRetry={() => void workflows.refetch()} />
      ) : items.length === 0 ? (
        <NoWorkflows project={project} mayCreate={rights.mayCreate} onCreate={create} />
      ) : (
        <WorkflowList {...page} />
      )}
      {shown && <ReturnFocus />}
      <Suspense>
        {shown && <Dialogs shown={shown} project={project} taken={taken} runs={runs.data} onClose={close} />}
      </Suspense>
    </Stack>
  );
}

const NO_DRAFTS: ReadonlySet<string> = new Set();

/** The names of the workflows with unpublished changes, for those who may list drafts. */
function useDrafted(project: string): ReadonlySet<string> {
  const at = { resource: DRAFTS, namespace: project };
  const mayRead = useMay({ verb: 'list', ...at }, { verb: 'watch', ...at });
  const { data } = useTable(DRAFTS, project, { enabled: mayRead });
  const rows = data?.rows;
  return useMemo(() => (rows ? changedBy(rows) : NO_DRAFTS), [rows]);
}

/** Not in the dialogs, which are loaded: by then the menu is closed. */
function ReturnFocus() {
  useReturnFocus();
  return null;
}

type DialogsProps = {
  shown: Shown;
  project: string;
  taken: ReadonlySet<string>;
  runs: LiveTable | undefined;
  onClose: () => void;
};

function Dialogs({ shown, runs, taken, ...shared }: DialogsProps) {
  switch (shown.what) {
    case 'create':
      return <CreateDialog {...shared} taken={taken} tab={shown.tab} />;
    case 'suspend':
    case 'resume': {
      const Shown = shown.what === 'suspend' ? SuspendDialog : ResumeDialog;
      return <Shown {...shared} item={shown.item} />;
    }
    case 'duplicate':
      return <DuplicateDialog {...shared} item={shown.item} taken={taken} />;
    case 'rename':
      return <RenameDialog {...shared} item={shown.item} />;
    case 'delete': {
      const recorded = runs && recordedOf(runs, shown.item.name);
      return <DeleteDialog {...shared} item={shown.item} {...(recorded && { recorded })} />;
    }
  }
}

function recordedOf({ rows, more }: LiveTable, workflow: string): RecordedRuns {
  return { number: rows.filter((row) => textCell(row, 'Workflow') === workflow).length, isAll: !more };
}

function Missing({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  if (error !== null) return <FailureNote error={error} onRetry={onRetry} />;
  return (
    <Stack gap="xs" role="group" aria-busy aria-label="Loading workflows">
      {[0, 1, 2, 3, 4].map((row) => (
        <Skeleton key={row} h={40} />
      ))}
    </Stack>
  );
}

/** `asked`: the filter that `matches` match, which may be older than the one that is being typed. */
type Found = {
  filter: Filter;
  setFilter: (next: Filter) => void;
  asked: Filter;
  matches: WorkflowItem[];
};

type ListProps = {
  project: string;
  rights: ReturnType<typeof useRights>;
  items: WorkflowItem[];
  found: Found;
  drafted: ReadonlySet<string>;
  runs: Row[] | undefined;
  onAction: (action: RowAction, item: WorkflowItem) => void;
};

function WorkflowList({ project, rights, items, found, drafted, runs, onAction }: ListProps) {
  const { filter, setFilter, asked, matches } = found;
  const [sort, setSort] = useState<Sort>({ key: 'title', descending: false });
  const search = useRef<HTMLInputElement>(null);
  usePageKey('/', () => search.current?.focus());
  const before = useRef<ReturnType<typeof recentRuns>>(undefined);
  const recent = useMemo(() => {
    before.current = runs && recentRuns(runs, before.current);
    return before.current;
  }, [runs]);
  const counted = useMemo(() => (recent ? countedSoFar(matches, recent) : matches), [matches, recent]);
  const list = useMemo(() => sorted(counted, sort), [counted, sort]);
  const isOnlySearched = filtered(items, { ...asked, text: '' }).length === items.length;
  // Times and rates are first sorted newest and lowest first.
  const sortBy = (key: SortKey) =>
    setSort((before) => ({ key, descending: before.key === key ? !before.descending : key === 'lastRun' }));
  return (
    <>
      <Toolbar items={items} filter={filter} onFilter={setFilter} search={search} />
      {list.length === 0 ? (
        <EmptyState
          icon={IconSearchOff}
          title="No workflows match"
          actions={
            <Button variant="default" onClick={() => setFilter(NO_FILTER)}>
              {isOnlySearched ? 'Clear search' : 'Clear filters'}
            </Button>
          }
        >
          None of the {count(items.length, 'workflow')} matches the{' '}
          {isOnlySearched ? 'search' : asked.text.trim() === '' ? 'filters' : 'search and filters'}.
        </EmptyState>
      ) : (
        <WorkflowTable
          items={list}
          project={project}
          rights={rights}
          drafted={drafted}
          {...(recent && { recent })}
          sort={sort}
          onSort={sortBy}
          onAction={onAction}
        />
      )}
      {list.length > 0 && list.length < items.length && (
        // Beside the title of a narrow screen there is no room for it.
        <Text size="xs" c="dimmed" role="status" hiddenFrom="xs">
          {countShown(list.length, items.length, 'workflow')}
        </Text>
      )}
    </>
  );
}

type Props = { project: string; mayCreate: boolean; onCreate: (tab: CreateTab) => void };

/** Shown in a project without workflows. */
function NoWorkflows({ project, mayCreate, onCreate }: Props) {
  if (!mayCreate)
    return (
      <EmptyState icon={IconBinaryTree2} title="No workflows yet">
        You are not allowed to create workflows in this project. Ask an administrator to bind the ClusterRole
        windlass-edit to you in the namespace {project}.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={IconBinaryTree2}
      title="Create your first workflow"
      actions={
        <Group justify="center" gap="xs" mt="xs">
          <Button leftSection={<IconPlus size={16} />} onClick={() => onCreate('name')}>
            New workflow
          </Button>
          <Button
            variant="default"
            leftSection={<IconTemplate size={16} />}
            onClick={() => onCreate('template')}
          >
            From a template
          </Button>
          <Button variant="default" leftSection={<IconFileCode size={16} />} onClick={() => onCreate('yaml')}>
            Paste YAML
          </Button>
        </Group>
      }
    >
      A workflow starts with a trigger, for example a webhook, a schedule or an email, and continues with
      other nodes: call a model, send an email, call an API. The template Hello needs no credentials: try it
      with a test run.{' '}
      <span data-no-touch>
        Press <Kbd size="xs">N</Kbd> to create a workflow.{' '}
      </span>
      You can also apply manifests with{' '}
      <Code style={{ whiteSpace: 'nowrap' }}>kubectl apply -n {project} -f FILE</Code>. For n8n workflows:{' '}
      <DocLink to={N8N_DOC} size="sm">
        How to import n8n workflows
      </DocLink>
    </EmptyState>
  );
}
