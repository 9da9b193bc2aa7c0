/**
 * Who may write revisions and mark runs as recorded, as a real API server decides it with the chart's
 * policies.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../../kube/client.ts';
import {
  controllerRevisions,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
  type ObjectMeta,
  type OwnerReference,
} from '../../../../kube/resource.ts';
import { workflowRuns } from '../../../../operator/shared/resources.ts';
import { pollUntil } from '../../../support/time/poll.ts';
import { connectionOf, tokenOf } from '../../../support/cluster/users.ts';
import { draft, NAMESPACE, outcomeOf, type AdmissionHarness } from './harness.ts';

const OWNER: OwnerReference = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  name: 'orders',
  uid: '6f1c2d3e-0000-4000-8000-000000000001',
  controller: true,
};
const ofStatefulSet = { ...OWNER, apiVersion: 'apps/v1', kind: 'StatefulSet' };
const LABELS = { 'windlass.dev/workflow': 'orders' };

/** Accounts by namespace and name. The last two are bound to roles of the cluster by every API server. */
const ACCOUNTS = {
  operator: ['windlass-system', 'windlass-operator'],
  /** May do everything in the namespace. */
  owner: [NAMESPACE, 'owner'],
  collector: ['kube-system', 'generic-garbage-collector'],
  statefulSets: ['kube-system', 'statefulset-controller'],
} as const;
type Account = keyof typeof ACCOUNTS;

/** Defines the tests. The set-up of the file that calls it comes first. */
export function testRevisions(harness: () => AdmissionHarness): void {
  let users: Record<Account, KubeClient>;

  beforeAll(async () => {
    await harness().admin.create(namespaces, { metadata: { name: 'windlass-system' } });
    const made = Object.entries(ACCOUNTS).map(async ([key, account]) => [
      key,
      await login(harness(), account),
    ]);
    users = Object.fromEntries(await Promise.all(made)) as typeof users;
    await bindToEverything(harness().admin, [ACCOUNTS.operator, ACCOUNTS.owner]);
    const refused = async () => (await create('owner', [OWNER])).startsWith('403 ');
    await pollUntil('the policy in effect', refused, { timeoutMs: 20_000, everyMs: 50 });
  });
  afterAll(() => Promise.all(Object.values(users).map((client) => client.close())));

  const revision = (ownerReferences: OwnerReference[], metadata: Partial<ObjectMeta> = {}) => ({
    ...draft({}),
    metadata: { ...metaOf(), labels: LABELS, ownerReferences, ...metadata },
    spec: undefined,
    revision: 1,
    data: { steps: [] },
  });
  const create = (account: Account, owners: OwnerReference[]): Promise<string> =>
    outcomeOf(users[account].create(controllerRevisions, revision(owners)));
  const make = async (owners: OwnerReference[], metadata?: Partial<ObjectMeta>): Promise<string> =>
    (await harness().admin.create(controllerRevisions, revision(owners, metadata))).metadata.name;
  const patch = (account: Account, name: string, change: object): Promise<string> =>
    outcomeOf(
      users[account].patch(controllerRevisions, { namespace: NAMESPACE, name }, change, { type: 'merge' }),
    );

  test.each<[Account, string, OwnerReference[], string]>([
    ['operator', 'a workflow', [OWNER], 'allowed'],
    ['owner', 'a workflow', [OWNER], '403'],
    ['owner', 'a workflow that does not control it', [{ ...OWNER, controller: false }], '403'],
    ['owner', 'a workflow beside another object', [ofStatefulSet, { ...OWNER, controller: false }], '403'],
    ['owner', 'a credential', [{ ...OWNER, kind: 'Credential' }], '403'],
    // Nobody takes these for revisions of a workflow.
    ['owner', 'nothing', [], 'allowed'],
    ['owner', 'a StatefulSet', [ofStatefulSet], 'allowed'],
    ['statefulSets', 'a StatefulSet', [ofStatefulSet], 'allowed'],
  ])('%s creates a ControllerRevision that belongs to %s', async (account, _what, owners, expected) => {
    expect(await create(account, owners)).toContain(expected);
  });

  test('a refusal names the user and says who may', async () => {
    expect(await create('owner', [OWNER])).toContain(
      'revisions of workflows are written by the operator, or by whoever may write ControllerRevisions in all namespaces, not by system:serviceaccount:shop:owner',
    );
  });

  const activated = { annotations: { 'windlass.dev/activated': '2026-01-01T00:00:00Z' } };
  test.each<[string, OwnerReference[], object]>([
    ['mark it as activated', [OWNER], { metadata: activated }],
    [
      'move it to another workflow by its label',
      [OWNER],
      { metadata: { labels: { 'windlass.dev/workflow': 'a' } } },
    ],
    ['change its number', [OWNER], { revision: 99 }],
    ['give it another owner', [OWNER], { metadata: { ownerReferences: [{ ...OWNER, uid: 'another' }] } }],
    ['make a workflow its owner', [], { metadata: { ownerReferences: [OWNER] } }],
    [
      'make a workflow its owner instead',
      [{ ...OWNER, apiVersion: 'example.com/v1' }],
      { metadata: { ownerReferences: [OWNER] } },
    ],
    [
      'make a workflow control it',
      [{ ...OWNER, controller: false }],
      { metadata: { ownerReferences: [OWNER] } },
    ],
  ])('whoever may do everything in the namespace may not %s', async (_what, owners, change) => {
    const name = await make(owners);
    expect(await patch('owner', name, change)).toMatch(/^403 .*written by the operator/);
    expect(await patch('operator', name, change)).toBe('allowed');
  });

  test('the garbage collector unblocks and orphans revisions, and they are deleted as anything else', async () => {
    const name = await make([{ ...OWNER, blockOwnerDeletion: true }], { finalizers: ['example.com/test'] });
    const unblocked = { ownerReferences: [{ ...OWNER, blockOwnerDeletion: false }] };
    expect(await patch('collector', name, { metadata: unblocked })).toBe('allowed');
    expect(await patch('collector', name, { metadata: { finalizers: null } })).toBe('allowed');
    expect(await patch('collector', name, { metadata: { ownerReferences: null } })).toBe('allowed');
    const other = await make([OWNER]);
    const ref = { namespace: NAMESPACE, name: other };
    expect(await outcomeOf(users.collector.delete(controllerRevisions, ref))).toBe('allowed');
  });

  const RECORD = ['recorded', 'dedupe', 'partial-input', 'data-removed'].map(
    (mark) => `windlass.dev/${mark}`,
  );
  test.each(RECORD)('only who may write the status of a run marks it with %s', async (mark) => {
    const { admin, server } = harness();
    const name = metaOf().name;
    const metadata = { namespace: NAMESPACE, annotations: { [mark]: 'x' } };
    const runner = createClient(
      connectionOf(server.connection, await tokenOf(admin, NAMESPACE, 'windlass-runner')),
    );
    const executor = createClient(
      connectionOf(server.connection, await tokenOf(admin, NAMESPACE, 'executor')),
    );
    const spec = { workflow: 'orders' };
    const createAs = (client: KubeClient, of: string) =>
      outcomeOf(client.create(workflowRuns, { metadata: { ...metadata, name: of }, spec }));
    try {
      expect(await createAs(executor, name)).toMatch(
        /^403 .*executor lacks the right to patch workflowruns\/status in namespace shop/,
      );
      expect(await createAs(runner, name)).toBe('allowed');
      const change = (annotations: object) =>
        outcomeOf(
          executor.patch(
            workflowRuns,
            { namespace: NAMESPACE, name },
            { metadata: { annotations } },
            { type: 'merge' },
          ),
        );
      expect(await change({ [mark]: null })).toMatch(/^403/);
      expect(await change({ [mark]: 'y' })).toMatch(/^403/);
      expect(await change({ note: 'mine' })).toBe('allowed');
    } finally {
      await Promise.all([runner.close(), executor.close()]);
    }
  });
}

const metaOf = (): { name: string; namespace: string } =>
  draft({}).metadata as { name: string; namespace: string };

async function login(
  { admin, server }: AdmissionHarness,
  [namespace, name]: readonly [string, string],
): Promise<KubeClient> {
  await admin.create(serviceAccounts, { metadata: { namespace, name } });
  return createClient(connectionOf(server.connection, await tokenOf(admin, namespace, name)));
}

/** Lets these accounts do everything in the namespace. */
async function bindToEverything(
  admin: KubeClient,
  accounts: readonly (readonly [string, string])[],
): Promise<void> {
  const metadata = { namespace: NAMESPACE, name: 'everything' };
  await admin.create(roles, { metadata, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] });
  await admin.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'everything' },
    subjects: accounts.map(([namespace, name]) => ({ kind: 'ServiceAccount', name, namespace })),
  });
}
