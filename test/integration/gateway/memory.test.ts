/** What the agents of a workflow remember, as a caller of the gateway lists, reads and deletes it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUP } from '../../../api/group.ts';
import type { MemoryPage, MemoryView } from '../../../api/memory.ts';
import { roleBindings, roles, serviceAccounts } from '../../../kube/resource.ts';
import { advance } from '../../../runs/advance.ts';
import { askMemory } from '../../../runs/memory.ts';
import { tokenOf } from '../../support/cluster/users.ts';
import {
  NAMESPACE,
  PROJECT,
  putRoute,
  startGatewayHarness,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { accepted, claimed, refOf, submissionOf } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const workflow = 'helper';
const strange = 'a b/ü?%#';
let harness: GatewayHarness;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  harness = await startGatewayHarness();
  for (const [name, verbs] of Object.entries({
    lister: ['list'],
    reader: ['get', 'list'],
    eraser: ['delete'],
  }))
    tokens[name] = await makeUser(name, verbs);
  tokens['one'] = await makeUser('one', ['get', 'list', 'delete'], ['helper-1']);
  await putRoute(harness.client, workflow);
  await pollUntil('the route', async () => (await fetch(harness.hook(workflow))).status === 405, {
    timeoutMs: 20_000,
  });
});
afterAll(() => harness?.close());

async function makeUser(name: string, verbs: string[], resourceNames?: string[]): Promise<string> {
  const metadata = { namespace: NAMESPACE, name };
  const rule = {
    apiGroups: [GROUP],
    resources: ['workflowruns'],
    verbs,
    ...(resourceNames && { resourceNames }),
  };
  await harness.client.create(serviceAccounts, { metadata });
  await harness.client.create(roles, { metadata, rules: [rule] });
  await harness.client.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }],
  });
  return tokenOf(harness.client, NAMESPACE, name);
}

const call = (method: string, path: string, user = 'reader', of = workflow) =>
  fetch(`${harness.gateway.internalURL}/workflows/${NAMESPACE}.${of}/memory${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens[user]}` },
  });

const pathOf = (key: string) => `/agent/${encodeURIComponent(key)}`;

/** A run of the workflow stores a turn. */
async function remember(key: string, user: string, extra: object = {}, test = false): Promise<void> {
  const submission = submissionOf(PROJECT, { workflow, workflowUid: workflowUid(workflow), test });
  const run = await accepted(harness.runs, submission);
  const [claim] = await claimed(harness.runs, PROJECT, 1);
  if (!claim) throw new Error('nothing was ready');
  const space = { name: 'agent', key };
  await askMemory(harness.runs, refOf(claim), { node: 'agent', space, most: 1 });
  const turn = JSON.stringify({
    run,
    time: new Date().toISOString(),
    user,
    steps: [],
    answer: 'Hi',
    ...extra,
  });
  await advance(harness.runs, refOf(claim), {
    memories: [{ node: 'agent', remembered: { ...space, turn, ttlMs: 60_000 } }],
    end: { phase: 'Succeeded' },
  });
}

test('memories are listed, read and deleted', async () => {
  await remember('ada', 'One');
  await remember('ada', 'Two');
  await remember(strange, 'Three');
  await remember(strange, 'Tested', {}, true);
  const page = (await (await call('GET', '?limit=2', 'lister')).json()) as MemoryPage;
  expect(page.total).toBe(3);
  expect(page.items.map(({ key, test: isTest }) => [key, isTest])).toEqual([
    [strange, true],
    [strange, false],
  ]);
  const found = (await (await call('GET', '?contains=ad')).json()) as MemoryPage;
  expect(found.items).toMatchObject([{ name: 'agent', key: 'ada', turns: 2, test: false }]);
  expect(found.items[0]?.first).toBe('One');
  expect(page.items.every((item) => !('first' in item))).toBe(true);
  const inTexts = (await (await call('GET', '?contains=Thre')).json()) as MemoryPage;
  expect(inTexts).toMatchObject({ total: 1, items: [{ key: strange, test: false, first: 'Three' }] });
  const withoutTexts = (await (await call('GET', '?contains=Thre', 'lister')).json()) as MemoryPage;
  expect(withoutTexts.total).toBe(0);
  const view = (await (await call('GET', pathOf(strange))).json()) as MemoryView;
  expect(view.turns).toMatchObject([{ user: 'Three', answer: 'Hi' }]);
  const tested = (await (await call('GET', `${pathOf(strange)}?test=true`)).json()) as MemoryView;
  expect(tested.turns).toMatchObject([{ user: 'Tested' }]);
  for (let count = 0; count < 2; count += 1)
    expect((await call('DELETE', pathOf(strange), 'eraser')).status).toBe(204);
  expect((await call('GET', pathOf(strange))).status).toBe(404);
  expect((await call('GET', `${pathOf(strange)}?test=true`)).status).toBe(404);
  expect((await call('GET', pathOf('ada'))).status).toBe(200);
  expect(auditTrail(harness.gateway.log, 'memory.delete').at(-1)).toMatchObject({
    result: 'allowed',
    user: { name: expect.stringContaining('eraser') as string },
    object: { name: workflow },
  });
  // No agent can have such a key.
  expect((await call('DELETE', pathOf('k'.repeat(513)), 'eraser')).status).toBe(404);
});

test('the texts of a turn that is not recorded are withheld', async () => {
  await remember('secret', 'My password is 1234', { redacted: true });
  const answer = await call('GET', pathOf('secret'));
  expect(await answer.text()).not.toContain('1234');
  const listed = (await (await call('GET', '?contains=secret')).json()) as MemoryPage;
  expect(listed.items).toMatchObject([{ key: 'secret', first: '' }]);
  expect(((await (await call('GET', '?contains=1234')).json()) as MemoryPage).total).toBe(0);
});

test.each([
  ['reads with the right to list alone', 'GET', pathOf('ada'), 'lister', 403],
  ['lists with the right to delete alone', 'GET', '', 'eraser', 403],
  ['deletes with the right to read alone', 'DELETE', pathOf('ada'), 'reader', 403],
  ['deletes with rights on one run', 'DELETE', pathOf('ada'), 'one', 403],
  ['reads with rights on one run', 'GET', pathOf('ada'), 'one', 403],
])('a caller who %s is refused', async (_what, method, path, user, status) => {
  expect((await call(method, path, user)).status).toBe(status);
});

test.each([
  ['an unknown workflow', 'other', '', '404 workflow-unknown'],
  ['an unknown key', workflow, pathOf('nobody'), '404 memory-unknown'],
  ['an invalid limit', workflow, '?limit=0', '400 bad-query'],
])('%s is refused', async (_what, of, path, problem) => {
  const answer = await call('GET', path, 'reader', of);
  const { type } = (await answer.json()) as { type: string };
  expect(`${answer.status} ${type.split('/').at(-1)}`).toBe(problem);
});
