/** `Ready` means that a request that is sent now is answered: with gateways as they are, two of them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Manifest } from '../../../kube/writes.ts';
import type { Workflow } from '../../../api/kinds.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import type { GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { secrets } from '../../../kube/resource.ts';
import {
  mailCredential,
  mailing,
  returning,
  served,
  writeEnvironments,
} from '../../support/cluster/environments.ts';
import { ensureGitopsJudge, judge } from '../../support/cluster/gitopsJudge.ts';
import { runCommand } from '../../support/process/command.ts';
import { makeFolder } from '../../support/process/folder.ts';
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

test('GitOps tools follow a workflow that is created, changed, broken, rolled back and pruned', async () => {
  const { namespace, ref, apply } = await gitopsWorkflow();
  expect(await apply(returning('one'), 'Current, Healthy')).not.toContain('Failed');
  // Nothing is written into the spec, so that Argo CD needs no ignoreDifferences.
  expect((await harness.client.get(workflows, ref)).spec).toEqual(returning('one'));
  expect(await apply(returning('two'), 'Current, Healthy')).not.toContain('Failed');
  await apply(served({ id: 'reply', skill: { name: 'nope' } }), 'Failed, Degraded');
  expect(await post(gateways[0]!, `${namespace}.flow`)).toBe(200);
  await apply(returning('two'), 'Current, Healthy');
  await harness.client.delete(workflows, ref);
  await expect.poll(() => harness.client.find(workflows, ref), WITHIN).toBeUndefined();
  await expect.poll(() => post(gateways[0]!, `${namespace}.flow`), WITHIN).toBe(404);
}, 600_000);

test('a workflow that is applied before its Credential is in progress, and becomes current by itself', async () => {
  const { namespace, apply, state } = await gitopsWorkflow();
  await apply(mailing('a@b.example'), 'InProgress, Progressing');
  await harness.waitFor(namespace, 'flow', { type: 'Ready', status: 'False', reason: 'CredentialMissing' });
  expect(await state()).toBe('InProgress, Progressing');
  const metadata = { namespace, name: 'mail' };
  await harness.client.create(secrets, { metadata, data: { password: 'eA==' } });
  await harness.client.create(credentials, { metadata, spec: mailCredential('mail').spec });
  await expect.poll(state, WITHIN).toBe('Current, Healthy');
}, 600_000);

test('two environments of one base get their credentials first, then workflows with their patches, and lose what leaves the base', async () => {
  const folder = await makeFolder('environments');
  try {
    const environments: Record<string, string> = {};
    for (const name of ['staging', 'production'])
      environments[name] = (await harness.createProject()).namespace;
    await writeEnvironments(folder.path, environments);
    const program = await ensureGitopsJudge(createProgress(process.stderr));
    const statesIn = async (namespace: string) => {
      const inside = { namespace };
      const { items: accounts } = await harness.client.list(credentials, inside);
      const { items: flows } = await harness.client.list(workflows, inside);
      return (await judge(program, [...accounts, ...flows])).map(({ kstatus }) => kstatus);
    };
    // An ApplySet prunes what a later apply no longer has, as the inventory of Flux does.
    const apply = (path: string, namespace: string) =>
      runCommand(
        join(harness.server.binDir, 'kubectl'),
        [
          'apply',
          '--server-side',
          '--prune',
          `--kubeconfig=${harness.server.kubeconfigPath}`,
          `--namespace=${namespace}`,
          `--applyset=${path.replace('/', '-')}`,
          `--kustomize=${join(folder.path, path)}`,
        ],
        { env: { ...process.env, KUBECTL_APPLYSET: 'true' } },
      );
    for (const [name, namespace] of Object.entries(environments)) {
      await apply(`${name}/credentials`, namespace);
      await expect.poll(() => statesIn(namespace), WITHIN).toEqual(['Current']);
      await apply(`${name}/workflows`, namespace);
      await expect.poll(() => statesIn(namespace), WITHIN).toEqual(['Current', 'Current', 'Current']);
      const { spec } = await harness.client.get(workflows, { namespace, name: 'orders' });
      expect(spec).toEqual(mailing(`${name}@example.com`));
    }
    await writeFile(
      join(folder.path, 'base/kustomization.yaml'),
      stringify({ resources: ['workflow.yaml'] }),
    );
    const [staging = '', production = ''] = Object.values(environments);
    expect(await apply('staging/workflows', staging)).toMatch(/workflow\.windlass\.dev\/spare pruned/);
    await expect.poll(() => statesIn(staging), WITHIN).toEqual(['Current', 'Current']);
    expect(await statesIn(production)).toEqual(['Current', 'Current', 'Current']);
  } finally {
    folder.remove();
  }
}, 600_000);
