/** The entries of the command palette in a project, as far as the user may use them. */
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { docs } from 'windlass:docs';
import { rightQuery, useKnowsRights } from '../kube/access.ts';
import { useTable } from '../kube/hooks.ts';
import { CREDENTIALS, RUNS, WORKFLOWS } from '../kube/resources.ts';
import { textCell } from '../kube/table.ts';
import { credentialKindLabel } from '../credentials/kindLabels.ts';
import { runOfRow } from '../runs/filters.ts';
import { cutRun, runTitle } from '../runs/shortRun.ts';
import { itemOf, sorted } from '../workflows/items.ts';
import { keepTyping } from '../ui/keepTyping.ts';
import { actionLabel, nodeLabel } from '../workflows/kinds.ts';
import type { Entry } from './entries.ts';
import { useOpenActions, useOpenNodes } from '../ui/offered.ts';

/** As many pages of runs are searched as the list of workflows reads. */
const RUN_PAGES = 4;

type Listed = { entries: Entry[]; isLoaded: boolean };

/** `isLoaded`: none is missing that existed when the palette was opened. */
export function useEntries(project: string): Listed {
  const lists = [
    useActions(project),
    useNodes(project),
    useWorkflows(project),
    useRuns(project),
    useCredentials(project),
    usePages(project),
    useDocs(),
  ];
  return {
    entries: lists.flatMap(({ entries }) => entries),
    isLoaded: lists.every(({ isLoaded }) => isLoaded),
  };
}

/** What cannot be read is not waited for. */
const isRead = ({ isPending }: { isPending: boolean }): boolean => !isPending;

function useActions(project: string): Listed {
  const navigate = useNavigate();
  const offered = useOpenActions();
  const knowsRights = useKnowsRights();
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'light' ? 'dark' : 'light';
  const params = { project };
  const ofWorkflows = { resource: WORKFLOWS, namespace: project };
  const rights = useQueries({
    queries: [
      rightQuery({ verb: 'create', ...ofWorkflows }),
      rightQuery({ verb: 'create', resource: CREDENTIALS, namespace: project }),
    ],
  });
  const [mayCreate, mayConnect] = rights.map(({ data }) => data === true);
  const action = (label: string, open: () => void): Entry => ({
    key: `action ${label}`,
    group: 'Actions',
    label,
    open,
  });
  const entries = [
    ...[...offered].map(([label, open]) => action(label, open)).toSorted(byUse),
    ...(mayCreate
      ? [
          action('New workflow', () => {
            keepTyping();
            void navigate({ to: '/p/$project/workflows', params, search: { new: true } });
          }),
        ]
      : []),
    ...(mayConnect
      ? [
          action(
            'New credential',
            () => void navigate({ to: '/p/$project/credentials', params, search: { new: true } }),
          ),
        ]
      : []),
    action(`Switch to ${other}`, () => setColorScheme(other)),
  ];
  // A component offers its actions once it knows the rights that they need.
  return { entries, isLoaded: knowsRights && rights.every(isRead) };
}

/** The actions that come first; the others follow as their components have them. */
const OFTEN_USED = ['Test run', 'Publish', 'Add a node', 'Versions', 'Activate'];

const byUse = (one: Entry, other: Entry): number => rankOfUse(one) - rankOfUse(other);

function rankOfUse({ label }: Entry): number {
  const at = OFTEN_USED.indexOf(label);
  return at < 0 ? OFTEN_USED.length : at;
}

/** The run on the canvas of the workflow that is open: it stays there beside another panel. */
function useRunSearch(): { run?: string } {
  const { run } = useSearch({ strict: false });
  return run === undefined ? {} : { run };
}

/** The nodes of the workflow that is open, as the editor shows them. */
function useNodes(project: string): Listed {
  const navigate = useNavigate();
  const { workflow = '' } = useParams({ strict: false });
  const shown = useRunSearch();
  const nodes = useOpenNodes();
  const entries = (nodes ?? []).map((node) => ({
    key: `node ${node.id}`,
    group: 'Nodes' as const,
    label: nodeLabel(node),
    detail: nodeLabel(node) === node.id ? actionLabel(node) : `${actionLabel(node)} · ${node.id}`,
    open: () =>
      void navigate({
        to: '/p/$project/workflows/$workflow',
        params: { project, workflow },
        search: { ...shown, node: node.id },
      }),
  }));
  return { entries, isLoaded: workflow === '' || nodes !== undefined };
}

function useWorkflows(project: string): Listed {
  const navigate = useNavigate();
  const table = useTable(WORKFLOWS, project);
  const items = sorted((table.data?.rows ?? []).map(itemOf), { key: 'title', descending: false });
  const entries = items.map(({ name, title }) => ({
    key: `workflow ${name}`,
    group: 'Workflows' as const,
    label: title,
    ...(title !== name && { detail: name }),
    open: () => void navigate({ to: '/p/$project/workflows/$workflow', params: { project, workflow: name } }),
  }));
  return { entries, isLoaded: isRead(table) };
}

function useRuns(project: string): Listed {
  const navigate = useNavigate();
  const table = useTable(RUNS, project, { maxPages: RUN_PAGES });
  const workflows = useTable(WORKFLOWS, project);
  const titles = new Map((workflows.data?.rows ?? []).map(itemOf).map(({ name, title }) => [name, title]));
  const newestFirst = (table.data?.rows ?? []).map(runOfRow).toSorted((one, other) => other.at - one.at);
  const entries = newestFirst.map(({ run, workflow, phase, at }) => ({
    key: `run ${run}`,
    group: 'Runs' as const,
    // As its page is called.
    label: runTitle(titles.get(workflow) ?? workflow, at === 0 ? undefined : at),
    detail: phase,
    note: cutRun(run, workflow),
    alias: run,
    open: () =>
      void navigate({ to: '/p/$project/runs/$run', params: { project, run }, search: { workflow } }),
  }));
  return { entries, isLoaded: isRead(table) && isRead(workflows) };
}

function useCredentials(project: string): Listed {
  const navigate = useNavigate();
  const table = useTable(CREDENTIALS, project);
  const entries = (table.data?.rows ?? []).map((row) => ({
    key: `credential ${row.metadata.name}`,
    group: 'Credentials' as const,
    label: row.metadata.name,
    detail: credentialKindLabel(textCell(row, 'Kind')),
    open: () =>
      void navigate({
        to: '/p/$project/credentials',
        params: { project },
        search: { credential: row.metadata.name },
      }),
  }));
  return { entries, isLoaded: isRead(table) };
}

/** The pages of the documentation and their parts. */
function useDocs(): Listed {
  const navigate = useNavigate();
  const entry = (label: string, page: string, hash?: string): Entry => ({
    key: `docs ${page} ${hash ?? ''}`,
    group: 'Documentation',
    label,
    ...(hash !== undefined && { detail: page }),
    open: () => void navigate({ to: '/docs/$', params: { _splat: page }, ...(hash && { hash }) }),
  });
  const entries = [
    ...docs.map(({ page, title }) => entry(title, page)),
    ...docs.flatMap(({ page, headings }) => headings.map(({ id, text }) => entry(text, page, id))),
  ];
  return { entries, isLoaded: true };
}

const PAGES = [
  { to: '/p/$project/workflows', label: 'Workflows' },
  { to: '/p/$project/runs', label: 'Runs' },
  { to: '/p/$project/credentials', label: 'Credentials' },
  { to: '/p/$project/templates', label: 'Templates' },
  { to: '/p/$project/overview', label: 'Overview' },
] as const;

function usePages(project: string): Listed {
  const navigate = useNavigate();
  const entries = PAGES.map(({ to, label }) => ({
    key: `page ${label}`,
    group: 'Pages' as const,
    label,
    open: () => void navigate({ to, params: { project } }),
  }));
  return { entries, isLoaded: true };
}
