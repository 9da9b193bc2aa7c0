/** Through the Kubernetes API, as whoever may edit mallory's namespace, and as mallory's runners. */
import { callApi, type Ask } from '../../../support/gateway/rawCalls.ts';
import type { TwoProjects } from '../../../support/rights/twoProjects.ts';
import type { Attempt } from './attempt.ts';

type As = (projects: TwoProjects) => string;
const editor: As = ({ mallory }) => mallory.token;
const owner: As = ({ mallory }) => mallory.ownerToken;
const runner: As = ({ mallory }) => mallory.runnerToken;

const DENIED = /^40[134] /;

/** `{run}`, `{revision}`, `{workflowUID}` and `{project}` stand for the victim's. */
function ask(
  what: string,
  as: As,
  request: Omit<Ask, 'body'> & { body?: object },
  refused = DENIED,
): Attempt {
  const attempt = async (projects: TwoProjects): Promise<string> => {
    const { run, revision, workflowUID } = projects.known;
    const names = { run, revision, workflowUID, project: projects.victim.uid };
    const filled = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (all, name: keyof typeof names) => names[name] ?? all);
    const { body, path, ...rest } = request;
    const answer = await callApi(projects.harness.server, {
      ...rest,
      token: as(projects),
      path: filled(path),
      ...(body !== undefined && { body: filled(JSON.stringify(body)) }),
    });
    return `${answer.status} ${answer.body}`;
  };
  return { what: `Kubernetes: ${what}`, attempt, refused };
}

const core = (namespace: string, path: string): string => `/api/v1/namespaces/${namespace}/${path}`;
const ours = (namespace: string, path: string): string =>
  `/apis/windlass.dev/v1alpha1/namespaces/${namespace}/${path}`;
const rbac = (path: string): string => `/apis/rbac.authorization.k8s.io/v1/namespaces/mallory/${path}`;
const object = (kind: string, name: string, rest: object) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind,
  metadata: { name },
  ...rest,
});
const run = object('WorkflowRun', 'started', { spec: { workflow: 'orders' } });
const route = object('WebhookRoute', 'made', {
  spec: {
    workflow: 'orders',
    workflowUID: '{workflowUID}',
    projectUID: '{project}',
    revision: '{revision}',
    trigger: 'webhook',
    active: true,
  },
});
const victim = 'system:serviceaccount:victim:editor';
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'mine' },
  spec: { containers: [{ name: 'a', image: 'a' }] },
};
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'windlass-operator' };
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'mine' },
  roleRef,
  subjects: [{ kind: 'ServiceAccount', name: 'editor', namespace: 'mallory' }],
};
const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'mine' },
  rules: [{ apiGroups: ['windlass.dev'], resources: ['webhookroutes'], verbs: ['create'] }],
};

/** What both try in the victim's namespace. */
const elsewhere = (name: string, as: As): Attempt[] => [
  ask(`${name} lists the victim’s Secrets`, as, { path: core('victim', 'secrets') }),
  ask(`${name} gets the Secret of the victim’s account`, as, { path: core('victim', 'secrets/accounts') }),
  ask(`${name} gets the password of the victim’s pool`, as, {
    path: core('victim', 'secrets/windlass-runner'),
  }),
  ask(`${name} gets the password of the operator`, as, {
    path: core('windlass-system', 'secrets/windlass-run-store'),
  }),
  ask(`${name} lists all Secrets`, as, { path: '/api/v1/secrets' }),
  ask(`${name} lists all runs`, as, { path: '/apis/windlass.dev/v1alpha1/workflowruns' }),
  ask(`${name} gets the victim’s run`, as, { path: ours('victim', 'workflowruns/{run}') }),
  ask(`${name} watches the victim’s runs`, as, { path: ours('victim', 'workflowruns?watch=true') }),
  ask(`${name} gets the victim’s credential`, as, { path: ours('victim', 'credentials/smtp') }),
  ask(`${name} starts a run of the victim’s workflow`, as, {
    method: 'POST',
    path: ours('victim', 'workflowruns'),
    body: run,
  }),
  ask(`${name} changes the status of the victim’s run`, as, {
    method: 'PATCH',
    path: ours('victim', 'workflowruns/{run}/status'),
    body: { status: { message: 'mallory' } },
  }),
  ask(`${name} makes a token of the victim’s account`, as, {
    method: 'POST',
    path: core('victim', 'serviceaccounts/editor/token'),
    body: review,
  }),
  ask(`${name} impersonates the victim`, as, {
    path: ours('victim', 'workflowruns/{run}'),
    headers: { 'impersonate-user': victim },
  }),
];

const asRunner: Attempt[] = [
  ask('a runner lists the Secrets of its own namespace', runner, { path: core('mallory', 'secrets') }),
  ask('a runner gets a Secret that no credential in use names', runner, {
    path: core('mallory', 'secrets/own'),
  }),
  ask('a runner gets the Secret of its own pool', runner, {
    path: core('mallory', 'secrets/windlass-runner'),
  }),
  ask('a runner makes a pod', runner, { method: 'POST', path: core('mallory', 'pods'), body: pod }),
  ask('a runner makes a role', runner, { method: 'POST', path: rbac('roles'), body: role }),
  ask('a runner binds itself', runner, { method: 'POST', path: rbac('rolebindings'), body: binding }),
  ask('a runner changes its own role', runner, {
    method: 'PATCH',
    path: rbac('roles/windlass-runner'),
    body: { rules: [] },
  }),
  ask('a runner makes a token of an editor', runner, {
    method: 'POST',
    path: core('mallory', 'serviceaccounts/editor/token'),
    body: review,
  }),
  ask('a runner makes a route', runner, {
    method: 'POST',
    path: ours('mallory', 'webhookroutes'),
    body: route,
  }),
  ask('a runner changes a workflow', runner, {
    method: 'PATCH',
    path: ours('mallory', 'workflows/orders'),
    body: { spec: { active: false } },
  }),
  ask('a runner changes a credential', runner, {
    method: 'POST',
    path: ours('mallory', 'credentials'),
    body: object('Credential', 'x', {
      spec: { openai: { apiKeyRef: { name: 'windlass-runner', key: 'password' } } },
    }),
  }),
];

const asEditor: Attempt[] = [
  ask('an editor makes a route to the victim’s project', editor, {
    method: 'POST',
    path: ours('mallory', 'webhookroutes'),
    body: route,
  }),
  ask('an editor changes a route', editor, {
    method: 'PATCH',
    path: ours('mallory', 'webhookroutes/orders'),
    body: { spec: { projectUID: '{project}' } },
  }),
  ask('an editor changes the status of a route', editor, {
    method: 'PATCH',
    path: ours('mallory', 'webhookroutes/orders/status'),
    body: { status: {} },
  }),
  ask('an editor removes a route', editor, {
    method: 'DELETE',
    path: ours('mallory', 'webhookroutes/orders'),
  }),
  ask('an editor changes the status of a workflow', editor, {
    method: 'PATCH',
    path: ours('mallory', 'workflows/orders/status'),
    body: { status: { id: 'victim.orders' } },
  }),
  ask('an editor makes a revision', editor, {
    method: 'POST',
    path: '/apis/apps/v1/namespaces/mallory/controllerrevisions',
    body: {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: '{revision}', labels: { 'windlass.dev/workflow': 'orders' } },
      revision: 1,
    },
  }),
  ask('an editor grants itself routes', editor, { method: 'POST', path: rbac('roles'), body: role }),
  ask('an editor binds itself to the operator’s rights', editor, {
    method: 'POST',
    path: rbac('rolebindings'),
    body: binding,
  }),
  ask('an editor writes the Lease of a gateway', editor, {
    method: 'PATCH',
    path: '/apis/coordination.k8s.io/v1/namespaces/windlass-system/leases/windlass-gateway-one',
    body: { spec: { holderIdentity: 'mallory' } },
  }),
  ask('an editor switches the admission policies off', editor, {
    method: 'DELETE',
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/windlass-secrets',
  }),
  ask('an editor reaches the gateway through the API server', editor, {
    path: core('windlass-system', 'services/windlass-gateway-internal/proxy/workflows/victim.orders/runs'),
  }),
];

/** Whoever may do everything in mallory's namespace, as projects of some clusters may. */
const asOwner: Attempt[] = [
  ask('an owner gets the victim’s Secret', owner, { path: core('victim', 'secrets/accounts') }),
  ask('an owner binds itself to the operator’s rights in the victim’s namespace', owner, {
    method: 'POST',
    path: rbac('rolebindings').replace('mallory', 'victim'),
    body: binding,
  }),
  ask(
    'an owner makes a route to the victim’s project',
    owner,
    { method: 'POST', path: ours('mallory', 'webhookroutes'), body: route },
    /^403 [^]*routes are written by the operator/,
  ),
  ask(
    'an owner has its own route lead to the victim’s project',
    owner,
    {
      method: 'PATCH',
      path: ours('mallory', 'webhookroutes/orders'),
      body: { spec: { projectUID: '{project}', workflowUID: '{workflowUID}', revision: '{revision}' } },
    },
    /^403 [^]*routes are written by the operator/,
  ),
  ask(
    'an owner makes a revision that belongs to the victim’s workflow',
    owner,
    {
      method: 'POST',
      path: '/apis/apps/v1/namespaces/mallory/controllerrevisions',
      body: {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: {
          name: '{revision}',
          ownerReferences: [
            {
              apiVersion: 'windlass.dev/v1alpha1',
              kind: 'Workflow',
              name: 'orders',
              uid: '{workflowUID}',
              controller: true,
            },
          ],
        },
        revision: 1,
        data: {},
      },
    },
    /^403 [^]*revisions of workflows are written by the operator/,
  ),
];

export const kubernetesAttempts: Attempt[] = [
  ...elsewhere('an editor', editor),
  ...elsewhere('a runner', runner),
  ...asEditor,
  ...asRunner,
  ...asOwner,
];
