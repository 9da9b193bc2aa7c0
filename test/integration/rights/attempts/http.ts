/** Over HTTP, with a token of its own and all names of the victim's. */
import { ask, type Ask } from '../../../support/gateway/rawCalls.ts';
import type { TwoProjects } from '../../../support/rights/twoProjects.ts';
import type { Attempt } from './attempt.ts';

const UNKNOWN = /^40[034] /;
const POST = { method: 'POST', body: '{}' };

/** On the listener for callers with a token. `{run}` and `{waiting}` stand for the victim's. */
function inside(what: string, request: Ask, refused: RegExp = UNKNOWN): Attempt {
  const attempt = ({ gateway, mallory, known }: TwoProjects): Promise<string> => {
    const path = request.path.replaceAll('{run}', known.run).replaceAll('{waiting}', known.waiting);
    return ask(gateway.internalURL, { token: mallory.token, ...request, path });
  };
  return { what: `HTTP: ${what}`, attempt, refused };
}

/** On the listener that anybody reaches. */
function outside(what: string, request: (projects: TwoProjects) => Ask, refused: RegExp = UNKNOWN): Attempt {
  const attempt = (projects: TwoProjects): Promise<string> =>
    ask(projects.gateway.publicURL, request(projects));
  return { what: `webhook: ${what}`, attempt, refused };
}

const execute = (what: string, path: string, refused?: RegExp): Attempt =>
  inside(`execute ${what}`, { ...POST, path }, refused);

const starting: Attempt[] = [
  execute('of the victim’s workflow', '/workflows/victim.orders/execute', /^403 /),
  execute('of it as a test', '/workflows/victim.orders/execute?test=true', /^403 /),
  execute('of a workflow with a dot in its name', '/workflows/victim.lists.open/execute', /^403 /),
  execute('with an encoded dot', '/workflows/victim%2eorders/execute', /^403 /),
  execute('with a dot that is encoded twice', '/workflows/victim%252eorders/execute'),
  execute('with an encoded slash', '/workflows/victim%2forders/execute'),
  execute('up from its own', '/workflows/mallory.orders/../victim.orders/execute'),
  execute('up from its own, encoded', '/workflows/mallory.orders%2f..%2fvictim.orders/execute'),
  execute('up from its own, with encoded dots', '/workflows/mallory.orders/%2e%2e/victim.orders/execute'),
  execute('behind two slashes', '/workflows//victim.orders/execute'),
  execute('with a semicolon', '/workflows/mallory.orders;victim.orders/execute'),
  execute('in capitals', '/workflows/VICTIM.orders/execute'),
  execute('in full-width letters', '/workflows/%EF%BD%96ictim.orders/execute'),
  execute('with a null byte', '/workflows/victim.orders%00/execute'),
  execute('with a name of a namespace and no more', '/workflows/victim./execute'),
  execute('of no namespace', '/workflows/.victim.orders/execute'),
  execute('with both ids', '/workflows/mallory.orders,victim.orders/execute'),
  execute('with the other id in the query', '/workflows/victim.orders/execute?id=mallory.orders', /^403 /),
  // It has a workflow of that name, which alone this is about.
  execute('of victim.orders in its own namespace', '/workflows/mallory.victim.orders/execute', /^202 /),
  inside(
    'execute as the victim’s account by impersonation',
    {
      ...POST,
      path: '/workflows/victim.orders/execute',
      headers: {
        'impersonate-user': 'system:serviceaccount:victim:editor',
        'x-remote-user': 'system:serviceaccount:victim:editor',
      },
    },
    /^403 /,
  ),
  inside(
    'execute with the victim’s address in headers',
    {
      ...POST,
      path: '/workflows/mallory.orders/execute',
      headers: { 'x-original-url': '/workflows/victim.orders/execute', 'x-forwarded-prefix': '/victim' },
    },
    /^202 /,
  ),
  inside(
    'execute by another method in a header',
    {
      path: '/workflows/victim.orders/execute',
      headers: { 'x-http-method-override': 'POST' },
    },
    /^405 /,
  ),
  inside(
    'execute with an absolute URL',
    { ...POST, path: 'http://127.0.0.1/workflows/victim.orders/execute' },
    /^40[034] /,
  ),
];

const reading: Attempt[] = [
  inside('the victim’s list of runs', { path: '/workflows/victim.orders/runs' }, /^403 /),
  inside('the victim’s run', { path: '/workflows/victim.orders/runs/{run}' }, /^403 /),
  inside('its events', { path: '/workflows/victim.orders/runs/{run}/events' }, /^403 /),
  inside('cancelling it', { method: 'DELETE', path: '/workflows/victim.lists.open/runs/{waiting}' }, /^403 /),
  inside('the victim’s run as one of its own', { path: '/workflows/mallory.orders/runs/{run}' }, /^404 /),
  inside(
    'its events as those of its own',
    { path: '/workflows/mallory.orders/runs/{run}/events', headers: { 'last-event-id': '0' } },
    /^404 /,
  ),
  inside(
    'cancelling it as one of its own',
    { method: 'DELETE', path: '/workflows/mallory.orders/runs/{waiting}' },
    /^404 /,
  ),
  inside(
    'the victim’s run as one of its own victim.orders',
    { path: '/workflows/mallory.victim.orders/runs/{run}' },
    /^404 /,
  ),
  inside('a run up the path', {
    path: '/workflows/mallory.orders/runs/..%2f..%2fvictim.orders%2fruns%2f{run}',
  }),
  inside('a run up the path of the Kubernetes API', {
    path: '/workflows/mallory.orders/runs/..%2f..%2f..%2fvictim%2fworkflowruns%2f{run}',
  }),
  inside('a run up the path, encoded twice', {
    path: '/workflows/mallory.orders/runs/%252e%252e%252fvictim%252f{run}',
  }),
  inside('a Secret in place of a run', { path: '/workflows/mallory.orders/runs/..%2fsecrets%2faccounts' }),
  inside('a run by its key in the run store', {
    path: '/workflows/mallory.orders/runs/{run}%0d%0aHGETALL',
  }),
  inside('a list of runs from the victim’s run on', {
    path: `/workflows/mallory.orders/runs?continue=${Buffer.from('1 1 {run}').toString('base64url')}`,
  }),
  inside('a list of all', { path: '/workflows/*/runs' }),
  inside('a list of a namespace', { path: '/workflows/victim/runs' }),
  inside('a list on the address of the Kubernetes API', {
    path: '/apis/windlass.dev/v1alpha1/namespaces/victim/workflowruns',
  }),
];

const JSON_TYPE = { 'content-type': 'application/json' };
const HOOK = '/webhook/victim.orders/orders';
const call =
  (path: string): (() => Ask) =>
  () => ({ ...POST, path });

const calling: Attempt[] = [
  outside('the victim’s without its secret', call(HOOK), /^401 /),
  outside('with its own token', ({ mallory }) => ({ ...POST, path: HOOK, token: mallory.token }), /^401 /),
  outside(
    'again what the victim’s caller sent, key and body',
    ({ known, mallory }) => ({
      method: 'POST',
      path: HOOK,
      token: mallory.token,
      headers: { ...JSON_TYPE, 'idempotency-key': known.dedupeKey },
      body: known.body,
    }),
    /^401 /,
  ),
  outside('an empty secret', () => ({ ...POST, path: HOOK, headers: { authorization: 'Bearer ' } }), /^401 /),
  outside(
    'two secrets',
    ({ mallory }) => ({
      ...POST,
      path: HOOK,
      headers: { authorization: `Bearer ${mallory.token}, Bearer x` },
    }),
    /^401 /,
  ),
  outside('up from its own', call('/webhook/mallory.orders/../victim.orders/orders')),
  outside('up from its own, encoded', call('/webhook/mallory.orders/%2e%2e/victim.orders/orders')),
  outside('with an encoded dot', call('/webhook/victim%2eorders/orders')),
  outside('with a semicolon', call('/webhook/mallory.orders;/victim.orders/orders')),
  outside('its own path on the victim’s workflow', call('/webhook/victim.report/orders')),
  outside('a name with a dot, divided at another', call('/webhook/victim.lists/open/open')),
  outside('behind its own', call('/webhook/mallory.orders/orders/victim.orders/orders')),
  outside('the internal routes', call('/workflows/victim.orders/execute')),
  // Its own workflow answers with what it was sent, under the key of the victim's event.
  outside(
    'its own with the victim’s key',
    ({ known }) => ({
      method: 'POST',
      path: '/webhook/mallory.orders/orders',
      headers: { ...JSON_TYPE, 'idempotency-key': known.dedupeKey },
      body: '{"from":"mallory"}',
    }),
    /^200 [^]*mallory/,
  ),
  outside(
    'its own with the victim’s address in the query',
    () => ({
      ...POST,
      path: '/webhook/mallory.orders/orders?x=/../victim.orders/orders',
    }),
    /^200 /,
  ),
];

export const httpAttempts: Attempt[] = [...starting, ...reading, ...calling];
