/** The pages and their URLs. Each page is loaded on first use. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
} from '@tanstack/react-router';
import { ProjectsPage } from './projects/ProjectsPage.tsx';
import { runFilters } from './runs/filters.ts';
import { ErrorPage, NotFoundPage } from './shell/ErrorPage.tsx';
import { Shell } from './shell/Shell.tsx';
import { addressFilters, type AddressFilters } from './workflows/addressFilters.ts';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage });

const projects = createRoute({ getParentRoute: () => root, path: '/', component: ProjectsPage });

const project = createRoute({
  getParentRoute: () => root,
  path: '/p/$project',
  component: function ProjectStart() {
    const { project: name } = project.useParams();
    return <Navigate to="/p/$project/workflows" params={{ project: name }} replace />;
  },
});

/** `new`: the dialog for a new object opens. */
function newSearch({ new: isNew }: Record<string, unknown>): { new?: true } {
  return isNew === true ? { new: true } : {};
}

/** With the filters of the list. */
function listSearch(search: Record<string, unknown>): { new?: true } & AddressFilters {
  return { ...newSearch(search), ...addressFilters(search) };
}

const workflows = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/workflows',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./workflows/WorkflowsPage.tsx'), 'WorkflowsPage'),
});

/** `settings`: those of the workflow are open. `version`: the one that the list of versions opens at. */
type EditorSearch = { run?: string; node?: string; settings?: true; version?: string };

/** The parameters of the editor. Invalid values are dropped. */
function editorSearch({ run, node, settings, version }: Record<string, unknown>): EditorSearch {
  return {
    ...(typeof run === 'string' && { run }),
    ...(typeof node === 'string' && { node }),
    ...(settings === true && { settings }),
    ...(typeof version === 'string' && { version }),
  };
}

const editor = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/workflows/$workflow',
  validateSearch: editorSearch,
  component: lazyRouteComponent(() => import('./editor/EditorPage.tsx'), 'EditorPage'),
});

const templates = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/templates',
  // The template whose form is shown.
  validateSearch: ({ template }: Record<string, unknown>): { template?: string } =>
    typeof template === 'string' ? { template } : {},
  component: lazyRouteComponent(() => import('./workflows/TemplatesPage.tsx'), 'TemplatesPage'),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/runs',
  validateSearch: runFilters,
  component: lazyRouteComponent(() => import('./runs/RunsPage.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/runs/$run',
  // A run without a record can only be found in the run store, by its workflow.
  validateSearch: ({ workflow }: Record<string, unknown>): { workflow?: string } =>
    typeof workflow === 'string' ? { workflow } : {},
  component: lazyRouteComponent(() => import('./runs/RunPage.tsx'), 'RunPage'),
});

type CredentialsSearch = {
  new?: true;
  /** The row to expand. */
  credential?: string;
  /** The run, of that workflow, or the overview that led here and to which the page leads back. */
  run?: string;
  workflow?: string;
  overview?: true;
};

function credentialsSearch(search: Record<string, unknown>): CredentialsSearch {
  const { credential, run, workflow, overview } = search;
  return {
    ...newSearch(search),
    ...(typeof credential === 'string' && { credential }),
    ...(typeof run === 'string' && { run }),
    ...(typeof workflow === 'string' && { workflow }),
    ...(overview === true && { overview }),
  };
}

const credentials = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/credentials',
  validateSearch: credentialsSearch,
  component: lazyRouteComponent(() => import('./credentials/CredentialsPage.tsx'), 'CredentialsPage'),
});

const overview = createRoute({
  getParentRoute: () => root,
  path: '/p/$project/overview',
  component: lazyRouteComponent(() => import('./overview/OverviewPage.tsx'), 'OverviewPage'),
});

const docs = createRoute({
  getParentRoute: () => root,
  path: '/docs/$',
  component: lazyRouteComponent(() => import('./docs/DocsPage.tsx'), 'DocsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    projects,
    project,
    workflows,
    templates,
    editor,
    runs,
    run,
    credentials,
    overview,
    docs,
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: ErrorPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
