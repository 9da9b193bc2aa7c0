import { expect, test } from 'vitest';
import { PROBLEMS } from '../../contract/problems.ts';
import { checkRequest, requestTarget } from './allowlist.ts';

const OWN = '/apis/windlass.dev/v1alpha1/namespaces/shop';
const CORE = '/api/v1/namespaces/shop';
const judge = (method: string, url: string): string | undefined => {
  const judged = checkRequest(method, url);
  return judged && `${judged.verb} ${judged.resource}`;
};

test.each([
  ['GET', `${OWN}/workflows`, 'list workflows'],
  ['GET', `${OWN}/workflows?watch=true&resourceVersion=7&allowWatchBookmarks=true`, 'watch workflows'],
  ['GET', `${OWN}/workflows?watch=false`, 'list workflows'],
  ['GET', `${OWN}/workflows/orders`, 'get workflows'],
  ['POST', `${OWN}/workflows?dryRun=All&fieldManager=console&fieldValidation=Strict`, 'create workflows'],
  ['PUT', `${OWN}/workflows/orders`, 'update workflows'],
  ['PATCH', `${OWN}/workflows/orders?force=true&fieldManager=console`, 'patch workflows'],
  ['DELETE', `${OWN}/workflows/orders?propagationPolicy=Background`, 'delete workflows'],
  ['GET', `${OWN}/workflowruns?labelSelector=a%3Db&limit=500&continue=x`, 'list workflowruns'],
  ['POST', `${OWN}/workflowruns`, 'create workflowruns'],
  ['PATCH', `${OWN}/workflowruns/orders-1`, 'patch workflowruns'],
  ['DELETE', `${OWN}/workflowruns/orders-1`, 'delete workflowruns'],
  ['PATCH', `${OWN}/workflowdrafts/orders`, 'patch workflowdrafts'],
  ['PUT', `${OWN}/credentials/mail`, 'update credentials'],
  ['GET', `${OWN}/webhookroutes/orders`, 'get webhookroutes'],
  ['GET', `${OWN}/projectsettings?watch=true`, 'watch projectsettings'],
  ['GET', '/api/v1/namespaces', 'list namespaces'],
  ['GET', '/api/v1/namespaces/shop', 'get namespaces'],
  ['GET', `${CORE}/events?fieldSelector=involvedObject.name%3Dorders`, 'list events'],
  ['GET', `${CORE}/events?watch=true`, 'watch events'],
  ['GET', `${CORE}/secrets`, 'list secrets'],
  ['GET', `${CORE}/secrets/mail`, 'get secrets'],
  ['POST', `${CORE}/secrets`, 'create secrets'],
  ['PATCH', `${CORE}/secrets/mail`, 'patch secrets'],
  ['GET', '/apis/apps/v1/namespaces/shop/controllerrevisions/orders-1', 'get controllerrevisions'],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'create selfsubjectaccessreviews'],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', 'create selfsubjectrulesreviews'],
  ['POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', 'create selfsubjectreviews'],
])('%s %s is forwarded', (method, url, verb) => {
  expect(judge(method, url)).toBe(verb);
});

test.each([
  ['PUT', `${OWN}/workflowruns/orders-1`],
  ['PUT', `${OWN}/workflowdrafts/orders`],
  ['PATCH', `${OWN}/workflows/orders/status`],
  ['PUT', `${OWN}/workflowruns/orders-1/status`],
  ['POST', `${OWN}/workflows/orders/execute`],
  ['DELETE', `${OWN}/workflows`],
  ['DELETE', `${OWN}/workflowruns?labelSelector=a`],
  ['POST', `${OWN}/workflows/orders`],
  ['POST', `${OWN}/webhookroutes`],
  ['PATCH', `${OWN}/webhookroutes/orders`],
  ['POST', `${OWN}/projectsettings`],
  ['PATCH', `${OWN}/projectsettings/default`],
  ['GET', '/apis/windlass.dev/v1alpha1/workflows'],
  ['GET', '/apis/windlass.dev/v1/namespaces/shop/workflows'],
  ['GET', '/apis/windlass.dev/v1alpha1/namespaces'],
  ['GET', '/apis/windlass.dev/v1alpha1'],
  ['GET', '/api/v1/secrets'],
  ['GET', '/api/v1/events'],
  ['GET', `${CORE}/secrets?watch=true`],
  ['DELETE', `${CORE}/secrets/mail`],
  ['PUT', `${CORE}/secrets/mail`],
  ['GET', `${CORE}/pods`],
  ['GET', `${CORE}/configmaps`],
  ['GET', `${CORE}/events/one`],
  ['POST', `${CORE}/events`],
  ['POST', `${CORE}/serviceaccounts/default/token`],
  ['GET', `${CORE}/pods/one/exec`],
  ['GET', '/api/v1/namespaces?watch=true'],
  ['POST', '/api/v1/namespaces'],
  ['DELETE', '/api/v1/namespaces/shop'],
  ['PUT', '/api/v1/namespaces/shop/finalize'],
  ['GET', '/api/v1/nodes'],
  ['GET', '/apis/apps/v1/namespaces/shop/deployments'],
  ['GET', '/apis/apps/v1/namespaces/shop/controllerrevisions?watch=true'],
  ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews'],
  ['POST', '/apis/authorization.k8s.io/v1/namespaces/shop/localsubjectaccessreviews'],
  ['POST', '/apis/authorization.k8s.io/v1/namespaces/shop/selfsubjectaccessreviews'],
  ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
  ['POST', '/apis/authentication.k8s.io/v1/tokenreviews'],
  ['GET', '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles'],
  ['GET', '/version'],
  ['GET', '/openapi/v3'],
  ['GET', '/metrics'],
  ['GET', '/apis'],
  ['GET', '/api'],
  ['GET', '/'],
  ['GET', ''],
  ['HEAD', `${OWN}/workflows`],
  ['OPTIONS', `${OWN}/workflows`],
  ['TRACE', `${OWN}/workflows/orders`],
  ['constructor', `${OWN}/workflows/orders`],
  ['GET', '/api/v1/namespaces/shop/constructor'],
  ['GET', '/apis/__proto__/v1/namespaces/shop/workflows'],
])('%s %s is refused', (method, url) => {
  expect(judge(method, url)).toBeUndefined();
});

test.each([
  `${OWN}/../other/workflows`,
  `${OWN}/./workflows`,
  `${OWN}//workflows`,
  `${OWN}/workflows/`,
  `${OWN}/workflows/..`,
  `${OWN}/workflows/.`,
  `${OWN}/workflows/%2e%2e`,
  `${OWN}/workflows%2forders`,
  `${OWN}/workflows/orders%2fstatus`,
  `${OWN}/workflows/orders%00`,
  `${OWN}/workflows/orders%3fwatch=true`,
  `${OWN}/workflows/a%62c`,
  `${OWN}/workflows/Orders`,
  `${OWN}/workflows/orders;x=1`,
  `${OWN}/workflows/orders\\..`,
  `${OWN}/workflows/orders#x`,
  `${OWN}/workflows/ord ers`,
  `${OWN}/workflows/örders`,
  `${OWN}/workflows/${'a'.repeat(254)}`,
  `/apis/windlass.dev/v1alpha1/namespaces/*/workflows`,
  `/apis/windlass.dev/v1alpha1/namespaces//workflows`,
  `//apis/windlass.dev/v1alpha1/namespaces/shop/workflows`,
  `/kube${OWN}/workflows`,
  `/apis/WINDLASS.dev/v1alpha1/namespaces/shop/workflows`,
  `http://elsewhere${OWN}/workflows`,
  OWN.slice(1),
])('the path %s is invalid', (url) => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'POST']) expect(judge(method, url)).toBeUndefined();
});

test.each([
  'unknown=1',
  'pretty=true',
  'watch=1',
  'watch=yes',
  'watch',
  'watch=',
  'watch=TRUE',
  'watch=false&watch=true',
  'wa%74ch=false&watch=true',
  'limit=1&limit=2',
  'limit=1;watch=true',
  'dryRun=All',
  'force=true',
  '__proto__=1',
])('a list with ?%s is refused', (query) => {
  expect(judge('GET', `${OWN}/workflows?${query}`)).toBeUndefined();
});

test('a single object is never watched, and accepts no parameters of lists', () => {
  for (const query of ['watch=true', 'labelSelector=a', 'limit=1'])
    expect(judge('GET', `${OWN}/workflows/orders?${query}`)).toBeUndefined();
});

test('the sent request is rebuilt from the checked one', () => {
  const judged = checkRequest('GET', `${OWN}/workflows?l%61belSelector=a%3Db+c&limit=5`);
  expect(judged && requestTarget(judged)).toBe(`${OWN}/workflows?labelSelector=a%3Db+c&limit=5`);
  const plain = checkRequest('GET', `${OWN}/workflows?`);
  expect(plain && requestTarget(plain)).toBe(`${OWN}/workflows`);
});

test('the problem names every kind that is forwarded', () => {
  const { detail } = PROBLEMS['kube-path-refused'];
  for (const kind of [
    'workflows',
    'workflowdrafts',
    'workflowruns',
    'credentials',
    'webhookroutes',
    'projectsettings',
    'events',
    'secrets',
    'controllerrevisions',
    'namespaces',
  ])
    expect(detail).toContain(kind);
});
