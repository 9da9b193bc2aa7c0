/** What the admission policies let the operator write, and what they refuse. */
import { beforeAll, expect, test } from 'vitest';
import { BOT_FINALIZER } from '../../../../api/bot.ts';
import type { ProjectSettingsSpec } from '../../../../api/projectSettings.ts';
import type { KubeClient } from '../../../../kube/client.ts';
import {
  controllerRevisions,
  cronJobs,
  leases,
  namespaces,
  secrets,
  serviceAccounts,
} from '../../../../kube/resource.ts';
import { poolServiceAccount } from '../../../../operator/project/manifests.ts';
import { withSettings } from '../../../../operator/pods/settings.ts';
import { credentials, workflowRuns } from '../../../../operator/shared/resources.ts';
import { ensureStoreSecret } from '../../../../operator/store/secret.ts';
import { installScaledObjects } from '../../../support/cluster/kedaCrd.ts';
import { renderedChart } from '../../../support/cluster/renderedChart.ts';
import { HOSTILE_PODS } from '../../../support/rights/hostilePods.ts';
import { hostile, HOSTILE_WRITES } from '../../../support/rights/hostileWrites.ts';
import { operatorWrites, type OperatorWrites, type Write } from '../../../support/rights/operatorWrites.ts';
import { pollUntil } from '../../../support/time/poll.ts';
import { BOUNDED, LAST_APPLIED, PROJECT, ROLE, SYSTEM, VALUES, type AccountsHarness } from './harness.ts';

const SETTINGS = Object.entries(VALUES).flatMap(([key, value]) => [
  '--set-json',
  `${key}=${JSON.stringify(value)}`,
]);

/** All that a project may have of its own. */
const OF_PROJECT: ProjectSettingsSpec = {
  runners: {
    replicas: 12,
    resources: { limits: { memory: '2Gi' } },
    nodeSelector: { pool: 'workflows' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' as const }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] }],
        },
      },
      podAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: {
              topologyKey: 'topology.kubernetes.io/zone',
              labelSelector: { matchLabels: { app: 'crm' } },
            },
          },
        ],
      },
    },
    priorityClassName: 'batch',
    serviceAccountAnnotations: { [ROLE]: 'arn:aws:iam::1:role/office' },
  },
  egress: { allow: ['crm.office.svc:443'] },
};

/** Defines the tests. The set-up of the file that calls it comes first. */
export function testOperatorWrites(harness: () => AccountsHarness): void {
  const chart = renderedChart(() => harness().server);
  let admin: KubeClient;
  let operator: KubeClient;

  beforeAll(async () => {
    ({ admin, operator } = harness());
    await installScaledObjects(admin);
    const { runners, scaledObject, poolSecret } = await writesIn(BOUNDED);
    await untilRefused(hostile(runners, ['spec', 'replicas'], 13), 'at most 12 runners');
    if (scaledObject === undefined) throw new Error('the operator writes no ScaledObject');
    await untilRefused(hostile(scaledObject, ['spec', 'minReplicaCount'], 0), 'between 1 and 12');
    await untilRefused(hostile(poolSecret, ['metadata', 'name'], 'smtp'), 'has that name');
  });

  /**
   * What the operator writes into the namespace, with the settings that the chart gives it and those of the
   * project.
   */
  async function writesIn(namespace: string, settings?: ProjectSettingsSpec): Promise<OperatorWrites> {
    const { metadata } = await admin.get(namespaces, { name: namespace });
    const config = withSettings(await chart.operatorConfigOf(...SETTINGS), settings);
    return operatorWrites(config, { namespace, uid: metadata.uid ?? '' });
  }

  /** The answer of the API server to a write of the operator that it does not store. */
  function answerTo({ resource, manifest }: Write): Promise<string> {
    return operator.create(resource, manifest, { dryRun: true }).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
  }

  /**
   * Waits until the API server enforces the policy whose refusal has this text: a moment after it has stored
   * it.
   */
  async function untilRefused(write: Write, text: string): Promise<void> {
    const isRefused = async () => (await answerTo(write)).includes(text);
    await pollUntil(`a refusal: ${text}`, isRefused, { timeoutMs: 20_000 });
  }

  test('the bounds of the operator accept everything that the operator writes', async () => {
    const writes = [await writesIn(BOUNDED), await writesIn(BOUNDED, OF_PROJECT), await writesIn(BOUNDED)];
    for (const { resource, manifest } of writes.flatMap((each) => Object.values(each))) {
      await operator.apply(resource, manifest);
      await operator.apply(resource, manifest);
    }
    await ensureStoreSecret(operator, { namespace: SYSTEM, name: 'windlass-run-store' });
    const runStore = await admin.get(secrets, { namespace: SYSTEM, name: 'windlass-run-store' });
    expect(runStore.type).toBe('Opaque');
    const metadata = { name: 'windlass-operator', namespace: SYSTEM };
    expect(await answerTo({ resource: leases, manifest: { metadata } })).toMatch(/accepted|already exists/);
  });

  test.each([...HOSTILE_WRITES, ...HOSTILE_PODS])(
    'the operator cannot write %s',
    async (_what, base, path, value, refused) => {
      const write = (await writesIn(BOUNDED))[base];
      if (write === undefined) throw new Error(`the operator does not write ${base} with these settings`);
      expect(await answerTo(hostile(write, path, value))).toContain(refused);
    },
  );

  test.each(['kube-system', 'kube-public', 'kube-node-lease', SYSTEM])(
    'the operator cannot write anything of a project in namespace %s',
    async (namespace) => {
      const { poolSecret, account, runners } = await writesIn(BOUNDED);
      for (const write of [poolSecret, account, runners])
        expect(await answerTo(hostile(write, ['metadata', 'namespace'], namespace))).toMatch(
          /Windlass runs no workflows in (namespace kube-|its own namespace)/,
        );
    },
  );

  test('the operator adds nothing to an account that others gave Secrets and a role in a cloud', async () => {
    const ref = { name: 'windlass-runner', namespace: PROJECT };
    const given = {
      metadata: { annotations: { 'example.com/role': 'reader' } },
      imagePullSecrets: [{ name: 'a' }],
    };
    await admin.patch(serviceAccounts, ref, given, { type: 'merge' });
    const { manifest } = (await writesIn(PROJECT)).account;
    await operator.apply(serviceAccounts, manifest, { dryRun: true });
    const change = (patch: object) =>
      operator.patch(serviceAccounts, ref, patch, { type: 'merge', dryRun: true });
    for (const [key, value] of [
      ['example.com/role', 'admin'],
      ['example.com/other', 'reader'],
    ] as const)
      await expect(change({ metadata: { annotations: { [key]: value } } })).rejects.toThrow(
        'the operator may annotate a service account only with keys of',
      );
    await expect(change({ imagePullSecrets: [{ name: 'a' }, { name: 'b' }] })).rejects.toThrow(
      'the operator may not give Secrets to a service account',
    );
  });

  test('the operator takes an annotation away that projectSettings.serviceAccountAnnotations does not list any more', async () => {
    const { namespace = '', name } = poolServiceAccount(BOUNDED).metadata;
    const withRole = poolServiceAccount(BOUNDED, { 'example.com/role': 'reader', [ROLE]: 'arn' });
    // Applied as the operator did while the list was longer, by the same field manager.
    await admin.apply(serviceAccounts, withRole, { fieldManager: 'windlass' });
    const byHand = { metadata: { annotations: { 'example.com/note': 'kept' } } };
    await admin.patch(serviceAccounts, { namespace, name }, byHand, { type: 'merge' });
    const { metadata } = await operator.apply(
      serviceAccounts,
      poolServiceAccount(BOUNDED, { [ROLE]: 'arn' }),
    );
    expect(metadata.annotations).toEqual({ [ROLE]: 'arn', 'example.com/note': 'kept' });
  });

  test('the operator goes on writing a Secret that others have labelled', async () => {
    const { resource, manifest } = (await writesIn(BOUNDED)).poolSecret;
    await operator.apply(resource, manifest);
    const { name, namespace } = { ...manifest.metadata, namespace: BOUNDED };
    const byHand = { metadata: { labels: { team: 'office' }, annotations: { 'example.com/note': 'kept' } } };
    await admin.patch(resource, { name, namespace }, byHand, { type: 'merge', fieldManager: 'kubectl' });
    const { metadata } = await operator.apply(resource, manifest);
    expect(metadata).toMatchObject(byHand.metadata);
  });

  test('a container that somebody adds to a pool keeps the operator from writing it, until it is gone', async () => {
    const { resource, manifest } = (await writesIn(BOUNDED)).runners;
    await operator.apply(resource, manifest);
    const ref = { name: manifest.metadata.name, namespace: BOUNDED };
    const pod = (containers: object[]) => ({ spec: { template: { spec: { containers } } } });
    const byHand = (containers: object[]) =>
      admin.patch(resource, ref, pod(containers), { type: 'strategic', fieldManager: 'kubectl' });
    await byHand([{ name: 'sidecar', image: 'example.com/sidecar' }]);
    await expect(operator.apply(resource, manifest)).rejects.toThrow('one container in each pod');
    await byHand([{ name: 'sidecar', $patch: 'delete' }]);
    await operator.apply(resource, manifest);
  });

  test('the operator changes and removes its own CronJobs and no others', async () => {
    const { tick } = await writesIn(PROJECT);
    const foreign = hostile(tick, ['metadata', 'name'], 'backup-0123456789');
    const { name, namespace = '' } = foreign.manifest.metadata;
    await admin.create(foreign.resource, { ...foreign.manifest, metadata: { name, namespace } });
    const refused = 'the operator may change only its own CronJobs, not backup-0123456789';
    // Labels and owners that it gives itself do not help.
    const change = ({ resource, manifest }: Write) =>
      operator.apply(resource, manifest).then(
        () => 'changed',
        (error: Error) => error.message,
      );
    await pollUntil('the policy in effect', async () => (await change(foreign)).includes(refused), {
      timeoutMs: 20_000,
    });
    await expect(operator.delete(cronJobs, { name, namespace })).rejects.toThrow(refused);
    for (const _again of [1, 2]) expect(await change(tick)).toBe('changed');
    expect(await operator.delete(cronJobs, { name: tick.manifest.metadata.name, namespace })).toBe(true);
  });

  test('of a credential the operator changes the mark of its bot and nothing else', async () => {
    const bot = (apiURL: string) => ({ bot: { tokenRef: { name: 'smtp', key: 'token' }, apiURL } });
    const ref = { name: 'helper', namespace: PROJECT };
    const finalizers = ['example.com/kept'];
    await admin.create(credentials, {
      metadata: { ...ref, finalizers },
      spec: bot('https://one.example.com'),
    });
    const change = (patch: object) =>
      operator.patch(credentials, ref, patch, { type: 'merge' }).then(
        () => 'changed',
        (error: Error) => error.message,
      );
    const refused = 'the operator may change only the finalizer windlass.dev/bot-webhook of a credential';
    const elsewhere = { spec: bot('https://two.example.com') };
    await pollUntil('the policy in effect', async () => (await change(elsewhere)).includes(refused), {
      timeoutMs: 20_000,
    });
    for (const metadata of [{ labels: { a: 'b' } }, { annotations: { a: 'b' } }, { finalizers: null }])
      expect(await change({ metadata })).toContain(refused);
    expect(await change({ metadata: { finalizers: [...finalizers, BOT_FINALIZER] } })).toBe('changed');
    expect(await change({ metadata: { finalizers } })).toBe('changed');
  });

  test('the operator starts only test runs with mocks of an Evaluation, deletes none that goes on, and no revision of others', async () => {
    const metadata = { name: 'one', namespace: PROJECT };
    const run = await admin.create(workflowRuns, { metadata, spec: { workflow: 'report' } });
    const second = { metadata: { ...metadata, name: 'two' }, spec: { workflow: 'report' } };
    const owner = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Evaluation', name: 'e', uid: 'e' };
    const evaluated = {
      metadata: { ...second.metadata, ownerReferences: [owner] },
      spec: { ...second.spec, test: true, mocks: [] },
    };
    const { mocks: _mocks, ...real } = evaluated.spec;
    for (const hostile of [
      second,
      { ...evaluated, metadata: second.metadata },
      { ...evaluated, spec: real },
      { ...evaluated, spec: { ...evaluated.spec, requestedBy: 'ada' } },
    ])
      await expect(operator.create(workflowRuns, hostile)).rejects.toThrow(
        /only WorkflowRuns of an Evaluation|requestedBy/,
      );
    await operator.create(workflowRuns, evaluated);
    await expect(operator.delete(workflowRuns, metadata)).rejects.toThrow('only runs that have ended');
    const status = { ...run.status, phase: 'Failed' as const };
    await admin.patch(workflowRuns, metadata, { status }, { type: 'merge', subresource: 'status' });
    expect(await operator.delete(workflowRuns, metadata)).toBe(true);
    await admin.create(controllerRevisions, { metadata, revision: 1, data: {} });
    await expect(operator.delete(controllerRevisions, metadata)).rejects.toThrow('that a Workflow owns');
  });

  test('of a run the operator removes the input, and gives it labels and its workflow as owner, and changes nothing else', async () => {
    const ref = { name: 'ended', namespace: PROJECT };
    await admin.create(workflowRuns, {
      metadata: { ...ref, labels: { kept: 'yes' }, annotations: { note: 'kept', [LAST_APPLIED]: '{}' } },
      spec: { workflow: 'orders', input: { data_content: { card: '4111' } } },
    });
    await admin.apply(
      workflowRuns,
      { metadata: ref, status: { phase: 'Failed' } },
      { subresource: 'status' },
    );
    const change = (patch: object) =>
      operator.patch(workflowRuns, ref, patch, { type: 'merge' }).then(
        () => 'changed',
        (error: Error) => error.message,
      );
    const refused = 'the operator may remove the input of a run, label it, and make its workflow its owner';
    await pollUntil(
      'the policy in effect',
      async () => (await change({ spec: { cancel: true } })).includes(refused),
      {
        timeoutMs: 20_000,
      },
    );
    const annotations = [{ a: 'b' }, { note: null }, { [LAST_APPLIED]: '{"a":1}' }].map((each) => ({
      annotations: each,
    }));
    for (const metadata of [{ labels: { a: 'b' } }, ...annotations, { finalizers: ['a.b/c'] }])
      expect(await change({ metadata })).toContain(refused);
    const owner = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', name: 'orders', uid: 'uid-1' };
    for (const other of [
      { ...owner, name: 'mails' },
      { ...owner, apiVersion: 'v1', kind: 'Secret' },
    ])
      expect(await change({ metadata: { ownerReferences: [other] } })).toContain(refused);
    expect(await change({ metadata: { labels: { kept: null } } })).toContain(refused);
    const adopted = { labels: { 'windlass.dev/workflow': 'orders' }, ownerReferences: [owner] };
    expect(await change({ metadata: adopted })).toBe('changed');
    expect(await change({ metadata: { ownerReferences: null } })).toContain(refused);
    const marks = {
      'windlass.dev/data-removed': 'now',
      'windlass.dev/partial-input': 'true',
      [LAST_APPLIED]: null,
    };
    const spec = { input: null, inputRedacted: true, inputTruncated: true };
    expect(await change({ metadata: { annotations: marks }, spec })).toBe('changed');
  });
}
