/** What is shown of Flux and Windlass together. A scene throws where something differs. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findCondition } from '../../kube/conditions.ts';
import {
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type ObjectRef,
  type Resource,
} from '../../kube/resource.ts';
import { credentials, webhookRoutes, workflows } from '../../operator/shared/resources.ts';
import {
  mailCredential,
  mailing,
  manifestOf,
  returning,
  served,
  writeEnvironments,
} from '../support/cluster/environments.ts';
import { makeFolder } from '../support/process/folder.ts';
import { pollUntil } from '../support/time/poll.ts';
import { APPLIED, FLUX_SYSTEM, kustomizations, UNHEALTHY, WAITING, type Flux } from './flux.ts';

export type Scene = {
  title: string;
  /** Plays it; `note` takes what the report quotes. */
  play(flux: Flux, note: (line: string) => void): Promise<void>;
};

const WITHIN = { timeoutMs: 30_000 };
/** For Kustomizations that are to give up. Flux waits for no less. */
const SHORT = { timeout: '30s' };

const inFlux = (name: string): ObjectRef => ({ namespace: FLUX_SYSTEM, name });
const workflowFile = (name: string, spec: object) => ({
  [`${name}.yaml`]: manifestOf('Workflow', name, spec),
});

async function gone({ harness }: Flux, resource: Resource, ref: ObjectRef): Promise<void> {
  const isGone = async () => (await harness.client.find(resource, ref)) === undefined;
  await pollUntil(`the end of ${resource.kind} ${ref.name}`, isGone, WITHIN);
}

/** The condition `Ready` of what the operator has processed. Throws where it has not processed the spec. */
async function readyOf({ harness }: Flux, ref: ObjectRef) {
  const { metadata, spec, status } = await harness.client.get(workflows, ref);
  const ready = findCondition(status?.conditions, 'Ready');
  assert.equal(ready?.observedGeneration, metadata.generation);
  return { status: ready?.status, reason: ready?.reason, generation: metadata.generation, spec };
}

/** That the workflow is what Flux has applied, and serves. */
async function assertServes(flux: Flux, ref: ObjectRef, spec: object): Promise<void> {
  const ready = await readyOf(flux, ref);
  assert.deepEqual({ ...ready, generation: 0 }, { status: 'True', reason: 'Serving', generation: 0, spec });
}

const lifecycle: Scene = {
  title:
    'a workflow is created, changed, broken (while the revision before stays served), rolled back, switched off and pruned',
  play: async (flux, note) => {
    const { namespace } = await flux.harness.createProject();
    const [kustomization, orders] = [inFlux('lifecycle'), { namespace, name: 'orders' }];
    const change = (spec: object) => flux.commit('lifecycle', workflowFile('orders', spec));
    const created = await change(returning('one'));
    await flux.kustomize(kustomization, { source: 'lifecycle', targetNamespace: namespace });
    await flux.until(kustomization, APPLIED, created);
    await assertServes(flux, orders, returning('one'));

    await flux.until(kustomization, APPLIED, await change(returning('two')));
    await assertServes(flux, orders, returning('two'));

    const { generation } = await readyOf(flux, orders);
    const route = await flux.harness.client.get(webhookRoutes, orders);
    await flux.reconcile(kustomization);
    assert.equal((await readyOf(flux, orders)).generation, generation);

    const broken = await change(served({ id: 'reply', skill: { name: 'nope' } }));
    const failure = await flux.until(kustomization, UNHEALTHY, broken);
    // Not at its timeout.
    assert.match(failure, /failed early .*orders status: 'Failed'/);
    note(`broken: \`${failure}\``);
    assert.equal((await readyOf(flux, orders)).reason, 'UnknownSkill');
    assert.deepEqual((await flux.harness.client.get(webhookRoutes, orders)).spec, route.spec);

    await flux.until(kustomization, APPLIED, await change(returning('two')));
    await assertServes(flux, orders, returning('two'));

    await flux.until(kustomization, APPLIED, await change({ ...returning('two'), active: false }));
    assert.equal((await readyOf(flux, orders)).reason, 'Inactive');

    const other = await flux.commit('lifecycle', workflowFile('spare', served()));
    await flux.until(kustomization, APPLIED, other);
    await gone(flux, workflows, orders);
    await flux.harness.client.delete(kustomizations, kustomization);
    await gone(flux, kustomizations, kustomization);
    await gone(flux, workflows, { namespace, name: 'spare' });
  },
};

const toggle: Scene = {
  title: 'a manifest without `active` keeps the switch of the console, also when Flux reconciles again',
  play: async (flux) => {
    const { namespace } = await flux.harness.createProject();
    const { client } = flux.harness;
    const [kustomization, orders] = [inFlux('toggle'), { namespace, name: 'orders' }];
    const { active: _, ...spec } = returning('one');
    const revision = await flux.commit('toggle', workflowFile('orders', spec));
    await flux.kustomize(kustomization, { source: 'toggle', targetNamespace: namespace });
    await flux.until(kustomization, APPLIED, revision);
    await client.patch(workflows, orders, { spec: { active: true } }, { type: 'merge' });
    await flux.reconcile(kustomization);
    await assertServes(flux, orders, returning('one'));
  },
};

const dependency: Scene = {
  title:
    'workflows wait (`dependsOn`) until the Credential Kustomization is ready, here until a Secret exists',
  play: async (flux, note) => {
    const { namespace } = await flux.harness.createProject();
    const { client } = flux.harness;
    const [accounts, flows] = [inFlux('shop-credentials'), inFlux('shop-workflows')];
    const revision = await flux.commit('shop', {
      'credentials/mail.yaml': mailCredential('mail'),
      'workflows/orders.yaml': manifestOf('Workflow', 'orders', mailing('a@b.example')),
    });
    const common = { source: 'shop', targetNamespace: namespace };
    const dependsOn = [{ name: accounts.name }];
    await flux.kustomize(flows, { ...common, path: './workflows', dependsOn });
    await flux.kustomize(accounts, { ...common, path: './credentials', ...SHORT });
    const missing = await flux.until(accounts, UNHEALTHY, revision);
    assert.match(missing, /timeout .*mail status: 'InProgress'/);
    note(`the Secret is missing: \`${missing}\``);
    note(`so the workflows wait: \`${await flux.until(flows, WAITING)}\``);
    assert.equal(await client.find(workflows, { namespace, name: 'orders' }), undefined);
    await client.create(secrets, { metadata: { namespace, name: 'mail' }, data: { password: 'eA==' } });
    await flux.until(accounts, APPLIED, revision);
    await flux.until(flows, APPLIED, revision);
    await assertServes(flux, { namespace, name: 'orders' }, mailing('a@b.example'));
  },
};

const environments: Scene = {
  title:
    'two environments by overlays, each with its credentials before its workflows; what leaves the base is pruned',
  play: async (flux) => {
    const { harness } = flux;
    const names: Record<string, string> = {};
    for (const name of ['staging', 'production']) names[name] = (await harness.createProject()).namespace;
    const folder = await makeFolder('environments');
    try {
      await writeEnvironments(folder.path, names);
      const both = await flux.commitFolder('environments', folder.path);
      for (const name of Object.keys(names)) {
        const parts = { workflows: inFlux(`${name}-workflows`), credentials: inFlux(`${name}-credentials`) };
        const dependsOn = [{ name: parts.credentials.name }];
        const common = { source: 'environments', path: `./${name}/workflows` };
        await flux.kustomize(parts.workflows, { ...common, dependsOn });
        await flux.kustomize(parts.credentials, { ...common, path: `./${name}/credentials` });
      }
      for (const [name, namespace] of Object.entries(names)) {
        await flux.until(inFlux(`${name}-workflows`), APPLIED, both);
        await assertServes(flux, { namespace, name: 'orders' }, mailing(`${name}@example.com`));
        assert.equal((await harness.client.list(credentials, { namespace })).items.length, 1);
      }
      const base = stringify({ resources: ['workflow.yaml'] });
      await writeFile(join(folder.path, 'base/kustomization.yaml'), base);
      const one = await flux.commitFolder('environments', folder.path);
      for (const [name, namespace] of Object.entries(names)) {
        await flux.until(inFlux(`${name}-workflows`), APPLIED, one);
        await gone(flux, workflows, { namespace, name: 'spare' });
        await assertServes(flux, { namespace, name: 'orders' }, mailing(`${name}@example.com`));
      }
    } finally {
      folder.remove();
    }
  },
};

const healthChecks: Scene = {
  title:
    '`healthChecks` of workflows alone do not wait for an account that a person must connect; `wait: true` does',
  play: async (flux, note) => {
    const { namespace } = await flux.harness.createProject();
    const kustomization = inFlux('checks');
    const clientSecretRef = { name: 'client', key: 'secret' };
    const google = { oauth2: { preset: 'google', clientID: 'a', clientSecretRef } };
    const revision = await flux.commit('checks', {
      'account.yaml': manifestOf('Credential', 'sheets', google),
      'secret.yaml': {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'client' },
        stringData: { secret: 'a' },
      },
      ...workflowFile('orders', served()),
    });
    const common = { source: 'checks', targetNamespace: namespace, ...SHORT };
    const { apiVersion, kind } = manifestOf('Workflow', 'orders', {});
    await flux.kustomize(kustomization, {
      ...common,
      wait: false,
      healthChecks: [{ apiVersion, kind, namespace, name: 'orders' }],
    });
    await flux.until(kustomization, APPLIED, revision);
    await assertServes(flux, { namespace, name: 'orders' }, served());
    await flux.kustomize(kustomization, common);
    const unconnected = await flux.until(kustomization, UNHEALTHY, revision);
    assert.match(unconnected, /timeout .*sheets status: 'InProgress'/);
    note(`with \`wait: true\`: \`${unconnected}\``);
  },
};

const rights: Scene = {
  title:
    'a service account without `use` on a credential cannot apply a workflow that names it, and can once it has the right',
  play: async (flux, note) => {
    const { namespace } = await flux.harness.createProject();
    const { client } = flux.harness;
    const metadata = { namespace, name: 'flux' };
    const rule = (verbs: string[], resources: string[]) => ({
      apiGroups: ['windlass.dev'],
      resources,
      verbs,
    });
    const write = rule(['get', 'list', 'watch', 'create', 'patch', 'delete'], ['workflows']);
    await client.create(serviceAccounts, { metadata });
    await client.create(roles, { metadata, rules: [write] });
    await client.create(roleBindings, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'flux' },
      subjects: [{ kind: 'ServiceAccount', name: 'flux', namespace }],
    });
    await client.create(secrets, { metadata: { namespace, name: 'mail' }, data: { password: 'eA==' } });
    await client.create(credentials, {
      metadata: { namespace, name: 'mail' },
      spec: mailCredential('mail').spec,
    });
    const kustomization = { namespace, name: 'orders' };
    const revision = await flux.commit('rights', workflowFile('orders', mailing('a@b.example')));
    const spec = { source: 'rights', targetNamespace: namespace, serviceAccountName: 'flux' };
    await flux.kustomize(kustomization, spec);
    const message = await flux.until(kustomization, ['False', 'ReconciliationFailed'], revision);
    assert.match(message, /lacks the right to use credentials\/mail/);
    note(`without \`use\`: \`${message.replaceAll(/\s+/g, ' ')}\``);
    await client.patch(
      roles,
      metadata,
      { rules: [write, rule(['use'], ['credentials'])] },
      { type: 'merge' },
    );
    await flux.until(kustomization, APPLIED, revision);
    await assertServes(flux, { namespace, name: 'orders' }, mailing('a@b.example'));
  },
};

export const SCENES: readonly Scene[] = [lifecycle, toggle, dependency, environments, healthChecks, rights];
