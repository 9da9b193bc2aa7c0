/** `Ready` means that a request that is sent now is answered: with gateways as they are, two of them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Manifest } from '../../../kube/writes.ts';
import type { Workflow } from '../../../api/kinds.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import type { GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { secrets } from '../../../kube/resource.ts';
import { ensureGitopsJudge, judge } from '../../support/cluster/gitopsJudge.ts';
import { createProgress } from '../../support/process/progress.ts';
import { startReplicas } from '../../support/operator/gatewayReplicas.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

const WORKFLOWS = 100;

let harness: OperatorHarness;
let gateways: GatewayProcess[] = [];

beforeAll(async () => {
  harness = await startOperatorHarness();
  gateways = await startReplicas(harness, harness.server.kubeconfigPath);
  harness.startOperator();
}, 600_000);

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await harness?.stop();
});

const manifest = (namespace: string, name: string): Manifest<Workflow> => ({
  metadata: { namespace, name },
  spec: { active: true, nodes: [{ id: 'trigger', webhook: { path: 'hook' } }] },
});

const post = async (gateway: GatewayProcess, id: string): Promise<number> => {
  const answer = await fetch(`${gateway.publicURL}/webhook/${id}/hook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return answer.status;
};

test('a POST in the moment after Ready is answered by every replica, for one fresh workflow after the other', async () => {
  const { namespace } = await harness.createProject();
  const answers: number[] = [];
  for (let index = 0; index < WORKFLOWS; index += 1) {
    const name = `fresh-${index}`;
    await harness.client.create(workflows, manifest(namespace, name));
    await harness.waitFor(namespace, name, { type: 'Ready', status: 'True', reason: 'Serving' });
    answers.push(...(await Promise.all(gateways.map((gateway) => post(gateway, `${namespace}.${name}`)))));
  }
  expect(answers.filter((status) => status === 200)).toHaveLength(WORKFLOWS * gateways.length);
}, 120_000);

test('many workflows that are applied at once become ready, and all of them answer', async () => {
  const { namespace } = await harness.createProject();
  const names = Array.from({ length: WORKFLOWS }, (_, index) => `crowd-${index}`);
  await Promise.all(names.map((name) => harness.client.create(workflows, manifest(namespace, name))));
  const answers = await Promise.all(
    names.map(async (name) => {
      await harness.waitFor(namespace, name, { type: 'Ready', status: 'True' }, 60_000);
      return Promise.all(gateways.map((gateway) => post(gateway, `${namespace}.${name}`)));
    }),
  );
  expect(answers.flat().filter((status) => status === 200)).toHaveLength(WORKFLOWS * gateways.length);
}, 120_000);

test('switched off, a URL is gone at every replica within two seconds', async () => {
  const { namespace } = await harness.createProject();
  const id = `${namespace}.off`;
  await harness.client.create(workflows, manifest(namespace, 'off'));
  await harness.waitFor(namespace, 'off', { type: 'Ready', status: 'True', reason: 'Serving' });
  const took = stopwatch();
  const ref = { namespace, name: 'off' };
  await harness.client.patch(workflows, ref, { spec: { active: false } }, { type: 'merge' });
  const closed = async () => {
    const statuses = await Promise.all(gateways.map((gateway) => post(gateway, id)));
    return statuses.every((status) => status === 404);
  };
  await expect.poll(closed, { timeout: 30_000, interval: 10 }).toBe(true);
  expect(took()).toBeLessThan(2_000);
  await harness.waitFor(namespace, 'off', { type: 'Ready', status: 'True', reason: 'Inactive' });
});

const WITHIN = { timeout: 20_000, interval: 50 };

/** A workflow as Flux' kustomize-controller applies it, and what kstatus and Argo CD make of it. */
async function gitopsWorkflow() {
  const program = await ensureGitopsJudge(createProgress(process.stderr));
  const { namespace } = await harness.createProject();
  const ref = { namespace, name: 'flow' };
  const options = { fieldManager: 'kustomize-controller', force: true };
  const states = new Set<string>();
  const state = async () => {
    const [judged] = await judge(program, [await harness.client.get(workflows, ref)]);
    states.add(judged?.kstatus ?? '');
    return `${judged?.kstatus}, ${judged?.health}`;
  };
  return {
    namespace,
    ref,
    /** Applies the spec. Resolves when tools say this; to all that kstatus said until then. */
    apply: async (spec: WorkflowSpec, ends: string) => {
      states.clear();
      await harness.client.apply(workflows, { metadata: ref, spec }, options);
      await expect.poll(state, WITHIN).toBe(ends);
      return [...states];
    },
    state,
  };
}

const served = (...steps: WorkflowSpec['nodes']): WorkflowSpec => ({
  active: true,
  nodes: [{ id: 'trigger', webhook: { path: 'hook' } }, ...steps],
});

test('GitOps tools follow a workflow that is created, changed, broken, rolled back and pruned', async () => {
  const { namespace, ref, apply } = await gitopsWorkflow();
  const reply = (body: string): WorkflowSpec => served({ id: 'reply', code: { source: `return '${body}'` } });
  expect(await apply(reply('one'), 'Current, Healthy')).not.toContain('Failed');
  // Nothing is written into the spec, so that Argo CD needs no ignoreDifferences.
  expect((await harness.client.get(workflows, ref)).spec).toEqual(reply('one'));
  expect(await apply(reply('two'), 'Current, Healthy')).not.toContain('Failed');
  await apply(served({ id: 'reply', skill: { name: 'nope' } }), 'Failed, Degraded');
  expect(await post(gateways[0]!, `${namespace}.flow`)).toBe(200);
  await apply(reply('two'), 'Current, Healthy');
  await harness.client.delete(workflows, ref);
  await expect.poll(() => harness.client.find(workflows, ref), WITHIN).toBeUndefined();
  await expect.poll(() => post(gateways[0]!, `${namespace}.flow`), WITHIN).toBe(404);
}, 600_000);

test('a workflow that is applied before its Credential is in progress, and becomes current by itself', async () => {
  const { namespace, apply, state } = await gitopsWorkflow();
  const parameters = { to: 'a@b.example', subject: 's', body: 'b' };
  const mail = served({ id: 'mail', skill: { name: 'send_email', credential: 'mail', parameters } });
  await apply(mail, 'InProgress, Progressing');
  await harness.waitFor(namespace, 'flow', { type: 'Ready', status: 'False', reason: 'CredentialMissing' });
  expect(await state()).toBe('InProgress, Progressing');
  const metadata = { namespace, name: 'mail' };
  const passwordRef = { name: 'mail', key: 'password' };
  const smtp = { host: 'mail.example.com', from: 'a@b.example', username: 'a', passwordRef };
  await harness.client.create(secrets, { metadata, data: { password: 'eA==' } });
  await harness.client.create(credentials, { metadata, spec: { smtp } });
  await expect.poll(state, WITHIN).toBe('Current, Healthy');
}, 600_000);
