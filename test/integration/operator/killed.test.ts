/** An operator that is cut off in the middle of its work: whoever comes after it ends at the same state. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { WEBHOOKS } from '../../../api/webhookAuth.ts';
import {
  controllerRevisions,
  deployments,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type KubeObject,
  type Resource,
} from '../../../kube/resource.ts';
import { isConditionTrue } from '../../../kube/conditions.ts';
import { webhookRoutes, workflows } from '../../../operator/resources.ts';
import { startKubeApiFaults, type KubeApiFaults, type SeenRequest } from '../../support/kubeApiFaults.ts';
import { startOperatorStage, type OperatorStage } from '../../support/operatorStage.ts';
import { pollUntil } from '../../support/poll.ts';

const KINDS: Resource<KubeObject>[] = [
  workflows,
  webhookRoutes,
  controllerRevisions,
  deployments,
  roles,
  roleBindings,
  serviceAccounts,
  secrets,
];

const USERS = 'made-by-hand';

let stage: OperatorStage;
let faults: KubeApiFaults;

beforeAll(async () => {
  stage = await startOperatorStage();
  faults = await startKubeApiFaults(stage.connection);
}, 600_000);

afterAll(async () => {
  await stage?.stop();
  await faults?.stop();
});

/** What is not sent again: a shutdown waits for what is under way. */
const refusal = { status: 409, body: { kind: 'Status', code: 409, reason: 'Conflict', message: 'cut off' } };

/** Lets so many writes to a namespace through, and no more; resolves when there was one more, or all is done. */
async function runUntilWrite(
  namespace: string,
  most: number,
  isDone: () => Promise<boolean>,
): Promise<{ cutOff: boolean }> {
  const isWrite = ({ method, path }: SeenRequest): boolean =>
    method !== 'GET' && path.includes(`/namespaces/${namespace}/`);
  let writes = 0;
  let cutOff = false;
  const end = faults.always((request) => {
    if (!isWrite(request)) return false;
    writes += 1;
    cutOff = writes > most;
    return cutOff;
  }, refusal);
  stage.startOperator({ ...faults.connection, auth: stage.connection.auth });
  await pollUntil('the operator being cut off', async () => cutOff || isDone(), {
    timeoutMs: 20_000,
    everyMs: 10,
  });
  await stage.stopOperator();
  end();
  return { cutOff };
}

async function objects(namespace: string): Promise<string[]> {
  const lists = await Promise.all(KINDS.map((resource) => stage.client.listAll(resource, { namespace })));
  return lists.flatMap(({ items }, index) =>
    items.map(({ metadata }) => `${KINDS[index]?.plural}/${metadata.name}`),
  );
}

/** A project with a Secret that its user made. */
async function createProject(): Promise<string> {
  const { namespace } = await stage.createProject();
  const data = { first: 'MQ==', second: 'Mg==' };
  await stage.client.create(secrets, { metadata: { namespace, name: USERS }, data });
  return namespace;
}

/** How many entries the gateway can verify callers with. */
async function entries(namespace: string): Promise<number> {
  const secret = await stage.client.find(secrets, { namespace, name: WEBHOOKS });
  return Object.keys(secret?.data ?? {}).length;
}

async function isReady(namespace: string, generation?: number): Promise<boolean> {
  const { status } = await stage.client.get(workflows, { namespace, name: 'one' });
  return isConditionTrue(status?.conditions, 'Ready', generation);
}

/** Its callers are verified with that key of the Secret. */
function manifest(active: boolean, key: string): string {
  const auth = { bearer: { secretRefs: [{ name: USERS, key }] } };
  const nodes = [{ id: 'trigger', webhook: { path: 'one', auth } }];
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'one' } };
  return stringify({ ...object, spec: { active, nodes } });
}

test('cut off after any of its writes, an activation is completed by the next operator', async () => {
  const ends: string[][] = [];
  for (let writes = 0, cutOff = true; cutOff; writes += 1) {
    const namespace = await createProject();
    await stage.apply(namespace, manifest(true, 'first'));
    ({ cutOff } = await runUntilWrite(namespace, writes, () => isReady(namespace)));
    stage.startOperator();
    await stage.waitFor(namespace, 'one', { type: 'Ready', status: 'True', reason: 'Serving' });
    await stage.stopOperator();
    ends.push(await objects(namespace));
    expect(await entries(namespace)).toBe(1);
  }
  // The revision, the route, what verifies its callers, five parts of the pool, and the status.
  expect(ends.length).toBeGreaterThan(9);
  expect(new Set(ends.map((end) => end.join()))).toHaveLength(1);
}, 180_000);

test('cut off after any of its writes, a deletion is completed by the next operator', async () => {
  let rounds = 0;
  for (let cutOff = true; cutOff; rounds += 1) {
    const namespace = await createProject();
    stage.startOperator();
    await stage.apply(namespace, manifest(true, 'first'));
    await stage.waitFor(namespace, 'one', { type: 'Ready', status: 'True', reason: 'Serving' });
    await stage.stopOperator();
    await stage.client.delete(workflows, { namespace, name: 'one' });
    // What the garbage collector would take.
    const isLeft = (name: string): boolean =>
      !name.startsWith('controllerrevisions/') && name !== `secrets/${USERS}`;
    const left = async () => (await objects(namespace)).filter(isLeft);
    ({ cutOff } = await runUntilWrite(namespace, rounds, async () => (await left()).length === 0));
    stage.startOperator();
    await expect.poll(left, { timeout: 15_000, interval: 25 }).toEqual([]);
    await stage.stopOperator();
  }
  expect(rounds).toBeGreaterThan(6);
}, 180_000);

test('cut off after any of its writes, a change of secrets leaves nothing of the old one', async () => {
  let rounds = 0;
  for (let cutOff = true; cutOff; rounds += 1) {
    const namespace = await createProject();
    stage.startOperator();
    await stage.apply(namespace, manifest(true, 'first'));
    await stage.waitFor(namespace, 'one', { type: 'Ready', status: 'True', reason: 'Serving' });
    await stage.stopOperator();
    await stage.apply(namespace, manifest(true, 'second'));
    const { generation } = (await stage.client.get(workflows, { namespace, name: 'one' })).metadata;
    ({ cutOff } = await runUntilWrite(namespace, rounds, () => isReady(namespace, generation)));
    stage.startOperator();
    await stage.waitFor(namespace, 'one', { type: 'Ready', status: 'True', reason: 'Serving' });
    await expect.poll(() => entries(namespace), { timeout: 15_000, interval: 25 }).toBe(1);
    await stage.stopOperator();
  }
  expect(rounds).toBeGreaterThan(2);
}, 180_000);
