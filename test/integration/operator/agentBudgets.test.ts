/** Notes about agents, and their budgets: from manifest and namespace to limits and conditions. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { findCondition } from '../../../kube/conditions.ts';
import { namespaces } from '../../../kube/resource.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import { keysOf } from '../../../store/keys.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';

const WITHIN = { timeout: 40_000, interval: 25 };

let harness: OperatorHarness;
let namespace: string;
let uid: string;

beforeAll(async () => {
  harness = await startOperatorHarness();
  harness.startOperator();
}, 600_000);

afterAll(() => harness?.stop());

beforeEach(async () => {
  ({ namespace, uid } = await harness.createProject());
});

const applyWorkflow = (budget: object | undefined, agent: object = {}) => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'a', agent: { credential: 'llm', model: 'm', prompt: 'Hi', ...agent } },
  ];
  const workflow = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'ask' } };
  return harness.apply(namespace, stringify({ ...workflow, spec: { active: true, nodes, budget } }));
};

const annotate = (tokens: string | null) =>
  harness.client.patch(
    namespaces,
    { name: namespace },
    { metadata: { annotations: { 'windlass.dev/budget-tokens-per-day': tokens } } },
    { type: 'merge' },
  );

const SCOPES = ['run:tokens', 'day:tokens', 'day:cost', 'project:tokens'];

/** What the run store has of the live runs, and of the test runs. */
async function stored(): Promise<unknown[]> {
  const { metadata } = await harness.client.get(workflows, { namespace, name: 'ask' });
  const fields = SCOPES.map((scope) => `budget:${scope}`);
  const groups = [metadata.uid ?? '', `${metadata.uid}.test`];
  return Promise.all(groups.map((group) => harness.conn.command('hmget', keysOf(uid).wf(group), ...fields)));
}

async function validMessage(): Promise<string | undefined> {
  const { status } = await harness.client.get(workflows, { namespace, name: 'ask' });
  return findCondition(status?.conditions ?? [], 'Valid')?.message;
}

const twice = (...values: string[]) => [values, values];

test('budgets of the workflow and of its namespace are limits in the run store, and changes apply', async () => {
  await applyWorkflow({ run: { tokens: 1_000 }, day: { tokens: 9_000, cost: '0.50' } });
  await expect.poll(stored, WITHIN).toEqual(twice('1000', '9000', '500000000', ''));
  await annotate('70000');
  await expect.poll(stored, WITHIN).toEqual(twice('1000', '9000', '500000000', '70000'));
  await applyWorkflow({ day: { tokens: 8_000 } });
  await expect.poll(stored, WITHIN).toEqual(twice('', '8000', '', '70000'));
  await annotate('many');
  await expect.poll(stored, WITHIN).toEqual(twice('', '8000', '', '0'));
  await expect.poll(validMessage, WITHIN).toContain('budget-tokens-per-day must be a whole number');
  await annotate(null);
  await applyWorkflow(undefined);
  await expect.poll(stored, WITHIN).toEqual(twice('', '', '', ''));
});

test('a budget of cost without a price is named before a run', async () => {
  await applyWorkflow({ day: { cost: '1' } });
  await expect.poll(validMessage, WITHIN).toContain('the installation has no price of m');
});

test.each([
  [{ day: {} }, /a budget must have tokens, cost or both/],
  [{ run: { tokens: -1 } }, /spec.budget.run.tokens/],
  [{ run: { cost: '1e3' } }, /spec.budget.run.cost/],
  [{ run: { cost: 5 } }, /spec.budget.run.cost/],
  [{ week: { tokens: 5 } }, /week/],
])('the API server refuses the budget %o', async (budget, refusal) => {
  await expect(applyWorkflow(budget)).rejects.toThrow(refusal);
});

test('Valid names an agent that a text of strangers can make send private data elsewhere', async () => {
  const http = (name: string, credential?: string) => ({
    name,
    skill: 'http_request',
    ...(credential !== undefined && { credential }),
    parameters: { url: `https://shop.example/${name}` },
  });
  const mail = (to: string) => ({
    skill: 'send_email',
    credential: 'smtp',
    parameters: { to, subject: 's' },
  });
  const tools = (to: string) => ({ tools: [http('orders', 'shop'), http('page'), mail(to)] });
  await applyWorkflow(undefined, tools("{{ $('trigger').data_content.to }}"));
  await expect
    .poll(validMessage, WITHIN)
    .toContain('private data (orders), text of strangers (page), and sends where');
  await applyWorkflow(undefined, tools('boss@shop.example'));
  await expect.poll(validMessage, WITHIN).not.toContain('strangers');
});
