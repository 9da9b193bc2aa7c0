/** Who may name a Secret and who may start a run, as a real API server decides it with the chart's policies. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import {
  namespaces,
  secrets as secretObjects,
  type KubeObject,
  type PolicyRule,
  type Resource,
} from '../../../kube/resource.ts';
import { poolRole } from '../../../operator/project/manifests.ts';
import { credentials, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { startApiServer, type ApiServer } from '../../support/apiserver.ts';
import { ADMISSION, applyChart } from '../../support/chart.ts';
import { installCrds } from '../../support/crds.ts';
import { kubectl } from '../../support/kubectl.ts';
import { makeFolder } from '../../support/folder.ts';
import { pollUntil } from '../../support/poll.ts';
import { createUser } from '../../support/users.ts';
import { draft, NAMESPACE, outcomeOf, own, type Spec } from './admission/stage.ts';
import { testRevisions } from './admission/revisions.ts';
import { testUse } from './admission/use.ts';

const namespace = NAMESPACE;
const secrets = (verbs: string[], resourceNames?: string[]): PolicyRule => ({
  apiGroups: [''],
  resources: ['secrets'],
  verbs,
  ...(resourceNames && { resourceNames }),
});
const write = own(
  ['workflows', 'credentials', 'workflowruns'],
  ['create', 'get', 'patch', 'update', 'delete'],
);

/** What each may do in the namespace. */
const RIGHTS = {
  writer: [write],
  lister: [write, secrets(['list', 'watch'])],
  reader: [write, secrets(['get'])],
  'reader-of-one': [write, secrets(['get'], ['one'])],
  'reader-of-tokens': [write, secrets(['get'], ['windlass-tokens'])],
  'executor-of-orders': [write, own(['workflows/execute'], ['create'], ['orders'])],
  executor: [write, own(['workflows/execute'], ['create'])],
  recorder: [write, own(['workflows/execute'], ['create']), own(['workflowruns/status'], ['patch'])],
  canceller: [own(['workflowruns'], ['get', 'patch'])],
  viewer: [own(['workflowruns'], ['get'])],
  'windlass-runner': poolRole(namespace, []).rules ?? [],
} satisfies Record<string, PolicyRule[]>;
type User = keyof typeof RIGHTS;

let server: ApiServer;
/** Where the API server writes down who did what, by the policy that docs/audit.md shows. */
let audit: Awaited<ReturnType<typeof makeFolder>>;
let admin: KubeClient;
let users: Record<User, KubeClient>;

beforeAll(async () => {
  audit = await makeFolder('audit');
  const page = await readFile(join(import.meta.dirname, '../../../docs/audit.md'), 'utf8');
  const [, policy = ''] = /```yaml\n(apiVersion: audit[^]*?)```/.exec(page) ?? [];
  await writeFile(join(audit.path, 'policy.yaml'), policy);
  const files = { 'audit-policy-file': 'policy.yaml', 'audit-log-path': 'audit.log' };
  server = await startApiServer({
    args: Object.entries(files).map(([name, file]) => `--${name}=${join(audit.path, file)}`),
  });
  admin = createClient(server.connection, { fieldManager: 'test' });
  await installCrds(admin);
  await applyChart(server, 'windlass-system', { templates: ADMISSION });
  await admin.create(namespaces, { metadata: { name: namespace } });
  const made = Object.entries(RIGHTS).map(async ([name, rules]) => {
    const client = await createUser(admin, server.connection, { namespace, name, rules });
    return [name, client] as const;
  });
  users = Object.fromEntries(await Promise.all(made)) as typeof users;
  await pollUntil(
    'the policies in effect',
    async () => {
      const refused = [
        await tryTo('writer', credentials, smtp('one')),
        await tryTo('writer', workflowRuns, run('orders')),
        await tryTo('executor', workflowRuns, { ...run('orders'), requestedBy: 'ada' }),
      ];
      return refused.every((answer) => answer.startsWith('403'));
    },
    { timeoutMs: 20_000, everyMs: 50 },
  );
});
afterAll(async () => {
  await Promise.all([admin, ...Object.values(users)].map((client) => client?.close()));
  await server?.stop();
  audit?.remove();
});

const ref = (name: string) => ({ name, key: 'key' });
const smtp = (secret: string, host = 'mail.example.com'): Spec => ({
  smtp: { host, from: 'a@example.com', username: 'a', passwordRef: ref(secret) },
});
const run = (workflow: string): Spec => ({ workflow });
const webhook = (auth?: Spec, further: Spec = {}): Spec => ({
  nodes: [{ id: 'call', webhook: { path: 'orders', ...(auth && { auth }), ...further } }],
});

/** Creates such an object; answers with `allowed` or with the status and the words of the refusal. */
const tryTo = (user: User, resource: Resource, spec: Spec): Promise<string> =>
  outcomeOf(users[user].create(resource, draft(spec)));

const tryToPatch = (user: User, resource: Resource, name: string, patch: object): Promise<string> =>
  outcomeOf(users[user].patch(resource, { namespace, name }, patch, { type: 'merge' }));

async function make(resource: Resource, spec: Spec): Promise<string> {
  const object = await admin.create(resource, draft(spec));
  return object.metadata.name;
}

test.each<[User, string]>([
  ['writer', '403'],
  ['lister', '403'],
  ['reader', 'allowed'],
  ['reader-of-one', 'allowed'],
])('a credential that names Secret one, written by %s: %s', async (user, answer) => {
  expect(await tryTo(user, credentials, smtp('one'))).toContain(answer);
});

/** What kubectl prints when the manifest of a workflow is applied: what was done, and warnings. */
async function applied(spec: Spec): Promise<string> {
  const { metadata } = draft(spec);
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata, spec };
  const lines: string[] = [];
  await kubectl(server, ['apply', '-f', '-'], {
    input: JSON.stringify(object),
    onLine: (line) => lines.push(line),
  });
  return lines.join('\n');
}

test('whoever applies a workflow that is not active is warned, and it is created all the same', async () => {
  const isWarned = async () =>
    (await applied(webhook())).includes('starts no runs until you set spec.active to true');
  await pollUntil('the warning', isWarned, { timeoutMs: 20_000, everyMs: 50 });
  expect(await applied(webhook())).toMatch(/Warning: [^\n]*\n?[^]*workflow\.windlass\.dev\/\S+ created/);
  expect(await applied({ active: true, ...webhook() })).not.toContain('Warning');
});

test('a refusal names the user, the Secret, the verb and the namespace', async () => {
  expect(await tryTo('reader-of-one', credentials, smtp('two'))).toContain(
    'whoever decides where a Secret goes must be allowed to read it: system:serviceaccount:shop:reader-of-one lacks the right to get secrets/two in namespace shop',
  );
});

type Schema = { properties?: Record<string, Schema>; items?: Schema; pattern?: string };
type Crd = { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } };

async function specOf(crd: string): Promise<Schema> {
  const text = await readFile(join(import.meta.dirname, `../../../crds/${crd}.yaml`), 'utf8');
  return (parse(text) as Crd).spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
}

/** The paths of all that names a Secret in a spec: `smtp.passwordRef`, `webhook.auth.hmac.secretRefs`. */
async function pathsOf(crd: string, ...below: string[]): Promise<string[][]> {
  const root = await specOf(crd);
  const walk = ({ properties = {}, items }: Schema, path: string[]): string[][] =>
    [...Object.entries(properties), ...Object.entries(items?.properties ?? {})].flatMap(([name, child]) =>
      /Refs?$/.test(name) ? [[...path, name]] : walk(child, [...path, name]),
    );
  const start = below.reduce<Schema | undefined>((schema, name) => schema?.properties?.[name], root);
  return walk(start ?? {}, []);
}

/** What else the schema wants of these kinds. */
const REQUIRED: Record<string, Spec> = {
  smtp: { host: 'mail.example.com', from: 'a@example.com', username: 'a' },
  imap: { host: 'mail.example.com', username: 'a' },
  oauth2: { clientID: 'a', preset: 'google' },
  s3: { endpoint: 'https://s3.example.com', bucket: 'abc', accessKeyIdRef: ref('one') },
  bot: { tokenRef: ref('one') },
  'http.basic': { username: 'a' },
  'http.header': { name: 'x' },
  'http.query': { name: 'x' },
  webhook: { path: 'orders' },
  'webhook.auth.hmac': { header: 'x-signature' },
  'webhook.auth.basic': { username: 'a' },
};

function nest([first = '', ...rest]: string[], value: unknown, path = ''): Spec {
  const here = path === '' ? first : `${path}.${first}`;
  const inner = rest.length === 0 ? value : { ...REQUIRED[here], ...nest(rest, value, here) };
  return { [first]: inner };
}

/** Whether the spec, which names the Secrets one and two, is refused to who may not read two and taken from who may. */
async function onlyReaderMay(resource: Resource, spec: Spec): Promise<boolean> {
  const refused = await tryTo('reader-of-one', resource, spec);
  return /^403 .*secrets\/two/.test(refused) && (await tryTo('reader', resource, spec)) === 'allowed';
}

test('every field of a credential that names a Secret asks for the right to get it', async () => {
  const paths = await pathsOf('credentials');
  expect(paths.length).toBeGreaterThanOrEqual(12);
  const wrong: string[] = [];
  for (const path of paths) {
    // The fields beside it name Secret one, so that it is this field that is refused.
    const spec = { ...nest(path, ref('two')) };
    if (path.join('.') === 's3.accessKeyIdRef')
      Object.assign(spec['s3'] as Spec, { secretAccessKeyRef: ref('one') });
    if (!(await onlyReaderMay(credentials, spec))) wrong.push(path.join('.'));
  }
  expect(wrong).toEqual([]);
}, 60_000);

test('every way to verify a webhook asks for the right to get each Secret that it names', async () => {
  const paths = await pathsOf('workflows', 'nodes');
  expect(paths.length).toBeGreaterThanOrEqual(5);
  const wrong: string[] = [];
  for (const path of paths)
    for (const index of [0, 1, 4]) {
      const refs = Array.from({ length: 5 }, (_, at) => ref(at === index ? 'two' : 'one'));
      const { webhook: trigger } = nest(path, refs);
      const spec = { nodes: [{ id: 'call', webhook: trigger }] };
      if (!(await onlyReaderMay(workflows, spec))) wrong.push(`${path.join('.')}[${index}]`);
    }
  expect(wrong).toEqual([]);
}, 60_000);

test('a workflow that names no Secret asks for no right to read one', async () => {
  expect(await tryTo('writer', workflows, webhook())).toBe('allowed');
  expect(await tryTo('writer', workflows, { nodes: [{ id: 'start', manual: {} }] })).toBe('allowed');
});

/** An account of each kind. */
const ACCOUNTS: Record<string, Spec> = {
  smtp: { host: 'mail.example.com', from: 'a@example.com', username: 'a', passwordRef: ref('one') },
  imap: { host: 'mail.example.com', username: 'a', passwordRef: ref('one') },
  openai: { apiKeyRef: ref('one') },
  oauth2: {
    preset: 'google',
    clientID: 'a',
    clientSecretRef: ref('one'),
    allowedHosts: ['www.googleapis.com'],
  },
  bot: { tokenRef: ref('one'), signingSecretRef: ref('one') },
  http: { bearer: { tokenRef: ref('one') }, allowedHosts: ['api.example.com'] },
  s3: {
    endpoint: 'https://s3.example.com',
    bucket: 'abc',
    accessKeyIdRef: ref('one'),
    secretAccessKeyRef: ref('one'),
  },
};
/** What of an account can be left out, so that the new object names fewer Secrets. */
const LEFT_OUT: Record<string, Spec> = {
  smtp: { username: null, passwordRef: null },
  oauth2: { clientSecretRef: null, allowedHosts: null },
  bot: { signingSecretRef: null },
};

/** The fields of an account that say to which host, or how safely, its secrets go, each with another value, by their paths. */
function hostFields({ properties = {} }: Schema, path: string[] = []): [path: string[], other: unknown][] {
  return Object.entries(properties).flatMap(([name, field]): [string[], unknown][] => {
    const here = [...path, name];
    if (/Refs?$/.test(name)) return [];
    if (field.properties) return hostFields(field, here);
    if (name === 'allowedHosts') return [[here, ['evil.example.com']]];
    if (name === 'port') return [[here, 4433]];
    if (name === 'tls') return [[here, 'None']];
    if (field.pattern?.startsWith('^https?:')) return [[here, 'https://evil.example.com']];
    return name === 'host' || name === 'bucket' ? [[here, 'evil.example.com']] : [];
  });
}

test('who may not read the Secrets of a credential turns none of its hosts to another one', async () => {
  const { properties = {} } = await specOf('credentials');
  expect(Object.keys(properties).toSorted()).toEqual(Object.keys(ACCOUNTS).toSorted());
  const turned = Object.entries(properties).flatMap(([kind, schema]) =>
    hostFields(schema).map(([path, other]) => ({ kind, path, other })),
  );
  expect(turned.length).toBeGreaterThanOrEqual(22);
  const wrong: string[] = [];
  for (const { kind, path, other } of turned) {
    const name = await make(credentials, { [kind]: ACCOUNTS[kind] });
    const inner =
      path[0] === 'imap'
        ? { imap: { username: 'a', ...(nest(path, other)['imap'] as Spec) } }
        : nest(path, other);
    const alone = { spec: { [kind]: inner } };
    const without = { spec: { [kind]: { ...LEFT_OUT[kind], ...inner } } };
    const answers = [
      await tryToPatch('writer', credentials, name, alone),
      await tryToPatch('writer', credentials, name, without),
      await tryToPatch('reader-of-tokens', credentials, name, without),
    ];
    const isRefused = answers.every((answer) => /^403 .*secrets\/(one|windlass-tokens)/.test(answer));
    const mayReader = await tryToPatch('reader', credentials, name, without);
    if (!isRefused || mayReader !== 'allowed') wrong.push([kind, ...path, ...answers, mayReader].join(' '));
  }
  expect(wrong).toEqual([]);
}, 60_000);

test('an account cannot be taken over by whoever may read the secret of its client alone, or its tokens alone', async () => {
  const name = await make(credentials, { oauth2: ACCOUNTS['oauth2'] });
  const moved = { clientSecretRef: null, allowedHosts: null, apiURL: 'https://evil.example.com' };
  const patch = { spec: { oauth2: moved } };
  expect(await tryToPatch('reader-of-one', credentials, name, patch)).toMatch(
    /^403 .*secrets\/windlass-tokens/,
  );
  expect(await tryToPatch('reader-of-tokens', credentials, name, patch)).toMatch(/^403 .*secrets\/one/);
  const publicClient = { oauth2: { preset: 'google', clientID: 'a' } };
  expect(await tryTo('reader-of-one', credentials, publicClient)).toMatch(/^403 .*secrets\/windlass-tokens/);
  expect(await tryTo('reader-of-tokens', credentials, publicClient)).toBe('allowed');
});

test('a credential that becomes one of another kind asks for the Secrets of both', async () => {
  const other = { bot: { tokenRef: ref('one'), signingSecretRef: ref('one') } };
  const two = { ...ACCOUNTS['s3'], accessKeyIdRef: ref('two'), secretAccessKeyRef: ref('three') };
  const bucket = await make(credentials, { s3: two });
  expect(await tryToPatch('reader-of-one', credentials, bucket, { spec: { s3: null, ...other } })).toMatch(
    /^403 .*secrets\/(two|three)/,
  );
  expect(await tryToPatch('reader', credentials, bucket, { spec: { s3: null, ...other } })).toBe('allowed');
  const account = await make(credentials, { oauth2: { preset: 'google', clientID: 'a' } });
  expect(
    await tryToPatch('reader-of-one', credentials, account, { spec: { oauth2: null, ...other } }),
  ).toMatch(/^403 .*secrets\/windlass-tokens/);
});

test('a Secret that a credential did not name before is asked for, too', async () => {
  const name = await make(credentials, smtp('one'));
  const two = { spec: { smtp: { passwordRef: ref('two') } } };
  expect(await tryToPatch('reader-of-one', credentials, name, two)).toMatch(/^403 .*secrets\/two/);
});

test('who may not read a Secret may change neither how a webhook is verified with it nor what it hands on', async () => {
  const name = await make(workflows, webhook({ bearer: { secretRefs: [ref('one')] } }));
  const changed = webhook({ github: { secretRefs: [ref('one')] } });
  expect(await tryToPatch('writer', workflows, name, { spec: changed })).toMatch(/^403 .*secrets\/one/);
  const headers = webhook({ bearer: { secretRefs: [ref('one')] } }, { headers: ['authorization'] });
  expect(await tryToPatch('writer', workflows, name, { spec: headers })).toMatch(/^403 .*secrets\/one/);
});

test('who may not read the Secrets of a webhook may not open it either, and show what its callers send', async () => {
  const name = await make(workflows, webhook({ bearer: { secretRefs: [ref('one')] } }));
  const opened = webhook(undefined, { headers: ['authorization'] });
  expect(await tryToPatch('writer', workflows, name, { spec: opened })).toMatch(/^403 .*secrets\/one/);
  expect(await tryToPatch('reader-of-one', workflows, name, { spec: opened })).toBe('allowed');
});

test('a webhook that names five Secrets can be verified with five others', async () => {
  const refs = (letter: string) => Array.from({ length: 5 }, (_, index) => ref(`${letter}-${index}`));
  const name = await make(workflows, webhook({ bearer: { secretRefs: refs('a') } }));
  const spec = webhook({ github: { secretRefs: refs('b') } });
  expect(await tryToPatch('reader-of-one', workflows, name, { spec })).toMatch(/^403 .*secrets\/b-0/);
  expect(await tryToPatch('reader', workflows, name, { spec })).toBe('allowed');
});

test('what leaves the Secrets alone asks for nothing: labels, finalizers, other nodes', async () => {
  const credential = await make(credentials, smtp('one'));
  const labels = { metadata: { labels: { team: 'a' }, finalizers: ['example.com/test'] } };
  expect(await tryToPatch('writer', credentials, credential, labels)).toBe('allowed');
  const verified = webhook({ bearer: { secretRefs: [ref('one')] } });
  const workflow = await make(workflows, verified);
  expect(await tryToPatch('writer', workflows, workflow, { spec: { active: true } })).toBe('allowed');
});

test.each<[User, string, string]>([
  ['writer', 'orders', '403'],
  ['reader', 'orders', '403'],
  ['executor-of-orders', 'orders', 'allowed'],
  ['executor-of-orders', 'invoices', '403'],
  ['executor', 'orders', 'allowed'],
  // Records are made by the same right.
  ['windlass-runner', 'orders', 'allowed'],
])('a run made by %s of workflow %s: %s', async (user, workflow, answer) => {
  expect(await tryTo(user, workflowRuns, run(workflow))).toContain(answer);
});

test('a refused run says which right is missing', async () => {
  expect(await tryTo('writer', workflowRuns, run('orders'))).toContain(
    'whoever creates a WorkflowRun must be allowed to execute its workflow: system:serviceaccount:shop:writer lacks the right to create workflows/execute for orders in namespace shop',
  );
});

const RECORD = { annotations: { 'windlass.dev/recorded': 'store' } };

test.each<[what: 'run' | 'record', User, requestedBy: string, string]>([
  ['run', 'executor', 'system:serviceaccount:shop:executor', 'allowed'],
  ['run', 'executor', 'ada', '403'],
  ['record', 'executor', 'ada', '403'],
  // Whoever may mark records may still name nobody else: that is for the runners alone.
  ['record', 'recorder', 'system:serviceaccount:shop:recorder', 'allowed'],
  ['record', 'recorder', 'ada', 'spec.requestedBy must be the user who creates'],
  ['run', 'executor', 'system:serviceaccount:shop:executor ', '403'],
  // Runners record runs that others have started; what they create otherwise starts a run.
  ['record', 'windlass-runner', 'ada', 'allowed'],
  ['run', 'windlass-runner', 'ada', '403'],
])('a %s created by %s that says %s requested it: %s', async (what, user, requestedBy, answer) => {
  const { metadata, ...rest } = draft({ ...run('orders'), requestedBy });
  const object = { ...rest, metadata: { ...metadata, ...(what === 'record' && RECORD) } };
  expect(await outcomeOf(users[user].create<KubeObject>(workflowRuns, object))).toContain(answer);
});

test('a run that names another user is told whose name it takes, and whoever may impersonate users may restore it', async () => {
  const spec = { ...run('orders'), requestedBy: 'ada' };
  expect(await tryTo('executor', workflowRuns, spec)).toContain(
    'spec.requestedBy must be the user who creates the WorkflowRun, system:serviceaccount:shop:executor, or be left out',
  );
  expect(await outcomeOf(admin.create<KubeObject>(workflowRuns, draft(spec)))).toBe('allowed');
});

test('an account of the runners’ name in another namespace has no rights here', async () => {
  await admin.create(namespaces, { metadata: { name: 'other' } });
  const stranger = await createUser(admin, server.connection, {
    namespace: 'other',
    name: 'windlass-runner',
    rules: poolRole('other', []).rules ?? [],
  });
  try {
    const answer = await outcomeOf(stranger.create<KubeObject>(workflowRuns, draft(run('orders'))));
    expect(answer).toMatch(/^403 .*cannot create resource "workflowruns"/);
  } finally {
    await stranger.close();
  }
});

test('cancelling a run takes the right to patch it, and that right changes nothing else of it', async () => {
  const name = await make(workflowRuns, run('orders'));
  expect(await tryToPatch('viewer', workflowRuns, name, { spec: { cancel: true } })).toMatch(/^403/);
  expect(await tryToPatch('canceller', workflowRuns, name, { spec: { workflow: 'invoices' } })).toMatch(
    /^422/,
  );
  expect(await tryToPatch('canceller', workflowRuns, name, { spec: { cancel: true } })).toBe('allowed');
});

describe('using credentials', () => {
  testUse(() => ({ server, admin }));
});
describe('writing revisions and records', () => {
  testRevisions(() => ({ server, admin }));
});

type AuditEvent = {
  verb: string;
  user: { username: string };
  objectRef?: { resource: string; name?: string };
  requestObject?: unknown;
  responseObject?: { metadata?: { resourceVersion?: string } };
};

test('the documented audit policy records changes of workflows whole, and nothing of what is in credentials, runs and Secrets', async () => {
  const made = await admin.create<KubeObject>(workflows, draft(webhook()));
  await make(credentials, smtp('one'));
  await make(workflowRuns, { ...run('orders'), input: { data_content: 'a-customer' } });
  const secret = { metadata: { name: 'audited', namespace }, stringData: { key: 'a-secret' } };
  await admin.create<KubeObject>(secretObjects, secret);
  const read = async (): Promise<AuditEvent[]> =>
    (await readFile(join(audit.path, 'audit.log'), 'utf8'))
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as AuditEvent);
  const created = async (resource: string) =>
    (await read()).filter(({ verb, objectRef }) => verb === 'create' && objectRef?.resource === resource);
  await expect.poll(() => created('secrets'), { timeout: 10_000 }).not.toEqual([]);
  const { resourceVersion } = made.metadata;
  // A label of a namespace closes public webhooks.
  expect(await created('namespaces')).toContainEqual(
    expect.objectContaining({ responseObject: expect.anything() as object }),
  );
  expect(await created('workflows')).toContainEqual(
    expect.objectContaining({
      requestObject: expect.anything() as object,
      responseObject: expect.objectContaining({
        metadata: expect.objectContaining({ resourceVersion }) as object,
      }) as object,
    }),
  );
  for (const resource of ['credentials', 'workflowruns', 'secrets']) {
    const events = await created(resource);
    expect(events.map(({ requestObject, responseObject }) => [requestObject, responseObject])).toEqual(
      events.map(() => [undefined, undefined]),
    );
  }
  const text = await readFile(join(audit.path, 'audit.log'), 'utf8');
  for (const payload of ['a-customer', 'a-secret', Buffer.from('a-secret').toString('base64')])
    expect(text).not.toContain(payload);
});
