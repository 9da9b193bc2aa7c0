/** The entries of the command palette in a project, as far as the user may use them. */
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { docs } from 'windlass:docs';
import { useMay } from '../kube/access.ts';
import { useObject, useTable } from '../kube/hooks.ts';
import { CREDENTIALS, RUNS, WORKFLOWS } from '../kube/resources.ts';
import { textCell } from '../kube/table.ts';
import { credentialKindLabel } from '../credentials/choices.ts';
import { runOfRow } from '../runs/filters.ts';
import { openTestDialog } from '../runs/live/runRequests.ts';
import { itemOf, sorted } from '../workflows/items.ts';
import { actionLabel, nodeLabel } from '../workflows/kinds.ts';
import type { Entry } from './entries.ts';

/** As many pages of runs are searched as the list of workflows reads. */
const RUN_PAGES = 4;

export function useEntries(project: string): Entry[] {
  return [
    ...useActions(project),
    ...useNodes(project),
    ...useWorkflows(project),
    ...useRuns(project),
    ...useCredentials(project),
    ...usePages(project),
    ...useDocs(),
  ];
}

function useActions(project: string): Entry[] {
  const navigate = useNavigate();
  const { workflow } = useParams({ strict: false });
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'light' ? 'dark' : 'light';
  const params = { project };
  const ofWorkflows = { resource: WORKFLOWS, namespace: project };
  const mayCreate = useMay({ verb: 'create', ...ofWorkflows });
  const mayConnect = useMay({ verb: 'create', resource: CREDENTIALS, namespace: project });
  const mayTest = useMay({ verb: 'create', subresource: 'execute', ...ofWorkflows, name: workflow ?? '' });
  const action = (label: string, open: () => void): Entry => ({
    key: `action ${label}`,
    group: 'Actions',
    label,
    open,
  });
  return [
    ...(workflow !== undefined && mayTest ? [action('Test run', () => openTestDialog())] : []),
    ...(mayCreate
      ? [
          action(
            'New workflow',
            () => void navigate({ to: '/p/$project/workflows', params, search: { new: true } }),
          ),
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
}

/** The saved nodes of the workflow that is open. */
function useNodes(project: string): Entry[] {
  const navigate = useNavigate();
  const { workflow = '' } = useParams({ strict: false });
  const { data } = useObject(WORKFLOWS, project, workflow, { enabled: workflow !== '' });
  return (data?.spec.nodes ?? []).map((node) => ({
    key: `node ${node.id}`,
    group: 'Nodes',
    label: nodeLabel(node),
    detail: nodeLabel(node) === node.id ? actionLabel(node) : `${actionLabel(node)} · ${node.id}`,
    open: () =>
      void navigate({
        to: '/p/$project/workflows/$workflow',
        params: { project, workflow },
        search: { node: node.id },
      }),
  }));
}

function useWorkflows(project: string): Entry[] {
  const navigate = useNavigate();
  const { data } = useTable(WORKFLOWS, project);
  const items = sorted((data?.rows ?? []).map(itemOf), { key: 'title', descending: false });
  return items.map(({ name, title }) => ({
    key: `workflow ${name}`,
    group: 'Workflows',
    label: title,
    ...(title !== name && { detail: name }),
    open: () => void navigate({ to: '/p/$project/workflows/$workflow', params: { project, workflow: name } }),
  }));
}

function useRuns(project: string): Entry[] {
  const navigate = useNavigate();
  const { data } = useTable(RUNS, project, { maxPages: RUN_PAGES });
  const newestFirst = (data?.rows ?? []).map(runOfRow).toSorted((one, other) => other.at - one.at);
  return newestFirst.map(({ run, workflow, phase }) => ({
    key: `run ${run}`,
    group: 'Runs',
    label: run,
    detail: phase,
    open: () =>
      void navigate({ to: '/p/$project/runs/$run', params: { project, run }, search: { workflow } }),
  }));
}

function useCredentials(project: string): Entry[] {
  const navigate = useNavigate();
  const { data } = useTable(CREDENTIALS, project);
  return (data?.rows ?? []).map((row) => ({
    key: `credential ${row.metadata.name}`,
    group: 'Credentials',
    label: row.metadata.name,
    detail: credentialKindLabel(textCell(row, 'Kind')),
    open: () =>
      void navigate({
        to: '/p/$project/credentials',
        params: { project },
        search: { credential: row.metadata.name },
      }),
  }));
}

/** The pages of the documentation and their parts. */
function useDocs(): Entry[] {
  const navigate = useNavigate();
  const entry = (label: string, page: string, hash?: string): Entry => ({
    key: `docs ${page} ${hash ?? ''}`,
    group: 'Documentation',
    label,
    ...(hash !== undefined && { detail: page }),
    open: () => void navigate({ to: '/docs/$', params: { _splat: page }, ...(hash && { hash }) }),
  });
  return [
    ...docs.map(({ page, title }) => entry(title, page)),
    ...docs.flatMap(({ page, headings }) => headings.map(({ id, text }) => entry(text, page, id))),
  ];
}

const PAGES = [
  { to: '/p/$project/workflows', label: 'Workflows' },
  { to: '/p/$project/runs', label: 'Runs' },
  { to: '/p/$project/credentials', label: 'Credentials' },
  { to: '/p/$project/templates', label: 'Templates' },
  { to: '/p/$project/overview', label: 'Overview' },
] as const;

function usePages(project: string): Entry[] {
  const navigate = useNavigate();
  return PAGES.map(({ to, label }) => ({
    key: `page ${label}`,
    group: 'Pages',
    label,
    open: () => void navigate({ to, params: { project } }),
  }));
}
