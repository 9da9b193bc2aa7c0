/** Variables of a project: from the ConfigMap to the runs that are accepted, and what a missing one does. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { configMaps } from '../../../kube/resource.ts';
import { webhookRoutes } from '../../../operator/shared/resources.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { getVariables } from '../../../runs/variables.ts';
import { forEachPage } from '../../../store/scan.ts';
import { keysOf } from '../../../store/keys.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 40_000, everyMs: 25 };
const READY = { type: 'Ready', status: 'True', reason: 'Serving' };
const NAME = 'windlass-variables';

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

const setVariables = (data: Record<string, string>) =>
  harness.apply(
    namespace,
    stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME }, data }),
  );

const applyGreeting = (body = '{{ $vars.greeting }}') => {
  const nodes = [
    { id: 'trigger', webhook: { path: 'greet' } },
    { id: 'reply', response: { body } },
  ];
  const workflow = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'greet' } };
  return harness.apply(namespace, stringify({ ...workflow, spec: { active: true, nodes } }));
};

async function acceptRun(): Promise<string> {
  const { spec } = await harness.client.get(webhookRoutes, { namespace, name: 'greet' });
  const submitted = await submit(harness.conn, {
    project: uid,
    workflow: 'greet',
    workflowUid: spec.workflowUID,
    revision: spec.revision,
    trigger: 'webhook',
    input: '{"text_content":"","data_content":{}}',
    bodyHash: 'body',
    test: false,
  });
  if (submitted.outcome !== 'accepted') throw new Error(`not accepted: ${submitted.outcome}`);
  return submitted.run;
}

async function variablesOf(run: string): Promise<unknown> {
  const state = await readRun(harness.conn, uid, run);
  if (!state || 'outcome' in state || state.variables === undefined) return undefined;
  const found = await getVariables(harness.conn, uid, state.variables);
  return 'outcome' in found ? undefined : found.values;
}

const invalid = (reason: string) =>
  harness.waitFor(namespace, 'greet', { type: 'Valid', status: 'False', reason });

test('a run uses the variables at its acceptance, and later ones are for later runs', async () => {
  await setVariables({ greeting: 'Hello', 'limits.json': '{"max": 5}' });
  await applyGreeting();
  await harness.waitFor(namespace, 'greet', READY);
  const first = await acceptRun();
  expect(await variablesOf(first)).toEqual({ greeting: 'Hello', 'limits.json': { max: 5 } });

  await setVariables({ greeting: 'Moin' });
  const later = await pollUntil(
    'a run with the new variables',
    async () => {
      const run = await acceptRun();
      return JSON.stringify(await variablesOf(run)) === '{"greeting":"Moin"}' && run;
    },
    SOON,
  );
  expect(await variablesOf(first)).toEqual({ greeting: 'Hello', 'limits.json': { max: 5 } });
  expect(later).not.toBe(first);
});

test('variables that no run uses any more are removed', async () => {
  await setVariables({ greeting: 'one' });
  await applyGreeting();
  await harness.waitFor(namespace, 'greet', READY);
  await setVariables({ greeting: 'two' });
  const left = await pollUntil(
    'one set of variables',
    async () => {
      const sets = new Set<string>();
      await forEachPage(harness.conn, keysOf(uid).variables('*'), async (names) => {
        for (const name of names) sets.add(name);
        await Promise.resolve();
      });
      const texts = await Promise.all([...sets].map((key) => harness.conn.command('get', key)));
      return texts.length === 1 && texts[0] === '{"greeting":"two"}' && texts;
    },
    SOON,
  );
  expect(left).toHaveLength(1);
});

test('a missing variable keeps the workflow from being served, until it appears', async () => {
  await applyGreeting();
  await invalid('VariableMissing');
  expect(await harness.client.find(webhookRoutes, { namespace, name: 'greet' })).toBeUndefined();
  await setVariables({ greeting: 'Hello' });
  await harness.waitFor(namespace, 'greet', READY);
});

test('a variable that vanishes sets a condition and closes no route', async () => {
  await setVariables({ greeting: 'Hello' });
  await applyGreeting();
  await harness.waitFor(namespace, 'greet', READY);
  await harness.client.delete(configMaps, { namespace, name: NAME });
  await invalid('VariableMissing');
  const { spec } = await harness.client.get(webhookRoutes, { namespace, name: 'greet' });
  expect(spec.active).toBe(true);
  expect(await variablesOf(await acceptRun())).toEqual({});
});

test('variables that are too large or not JSON are named, and runs keep the values from before', async () => {
  await setVariables({ greeting: 'Hello' });
  await applyGreeting("{{ $vars.greeting }} {{ $vars['a.json'] ?? 1 }}");
  await harness.waitFor(namespace, 'greet', READY);
  await setVariables({ greeting: 'x'.repeat(70_000) });
  await invalid('VariablesTooLarge');
  expect(await variablesOf(await acceptRun())).toEqual({ greeting: 'Hello' });
  await setVariables({ greeting: 'Hello', 'a.json': '{' });
  await applyGreeting("{{ $vars['a.json'] }}");
  await invalid('VariableInvalid');
});
