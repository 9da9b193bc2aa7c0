/**
 * Who may name a Secret and who may start a run, as a real API server decides it with the chart's policies.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import {
  namespaces,
  secrets as secretObjects,
  type KubeObject,
  type Resource,
} from '../../../kube/resource.ts';
import { poolRole } from '../../../operator/project/manifests.ts';
import { credentials, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { startApiServer, type ApiServer } from '../../support/cluster/apiserver.ts';
import { ADMISSION, applyChart } from '../../support/cluster/chart.ts';
import { installCrds } from '../../support/cluster/crds.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import { makeFolder } from '../../support/process/folder.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { createUser } from '../../support/cluster/users.ts';
import {
  draft,
  NAMESPACE,
  outcomeOf,
  RIGHTS,
  smtp,
  webhook,
  type Spec,
  type User,
} from './admission/harness.ts';
import { testDraftRuns } from './admission/drafts.ts';
import { testRevisions } from './admission/revisions.ts';
import { testSecretRefs } from './admission/secretRefs.ts';
import { testSkills } from './admission/skills.ts';
import { testUse } from './admission/use.ts';
import { testUseInTests } from './admission/useInTests.ts';

const namespace = NAMESPACE;
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

const run = (workflow: string): Spec => ({ workflow });

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

test('nobody publishes a workflow in the name of somebody else', async () => {
  const marks = (by: string, generation = '1') => ({
    'windlass.dev/published-by': by,
    'windlass.dev/published-generation': generation,
  });
  const writer = `system:serviceaccount:${namespace}:writer`;
  const publishAs = (by: string) => {
    const { metadata, spec } = draft(webhook()) as KubeObject & { spec: Spec };
    const made = { metadata: { ...metadata, annotations: marks(by) }, spec };
    return outcomeOf(users.writer.create<KubeObject>(workflows, made));
  };
  expect(await publishAs('ada')).toMatch(/^403 .*published-by must name the user who publishes/);
  expect(await publishAs(writer)).toBe('allowed');
  const { metadata, spec } = draft(webhook()) as KubeObject & { spec: Spec };
  await admin.create<KubeObject>(workflows, { metadata: { ...metadata, annotations: marks('ada') }, spec });
  const change = (annotations: object) =>
    tryToPatch('writer', workflows, metadata.name, { metadata: { annotations } });
  expect(await change(marks('ada', '2'))).toMatch(/^403 .*published-by/);
  expect(await change({ other: 'mark' })).toBe('allowed');
  expect(await change(marks(writer, '2'))).toBe('allowed');
});

describe('the skills of workflows', () => {
  testSkills(() => ({ server, admin }));
});

describe('using credentials', () => {
  testUse(() => ({ server, admin }));
});

describe('testing models', () => {
  testUseInTests(() => ({ server, admin }));
});

describe('testing drafts', () => {
  testDraftRuns(() => ({ server, admin }));
});

describe('naming Secrets', () => {
  testSecretRefs({ tryTo, tryToPatch, make });
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
