/**
 * ProjectSettings of a namespace, from the object to the runner pool and the CronJobs of its project, and
 * back.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ProjectSettingsSpec } from '../../../api/projectSettings.ts';
import { findCondition } from '../../../kube/conditions.ts';
import {
  controllerRevisions,
  cronJobs,
  deployments,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type Deployment,
  type KubeObject,
  type Resource,
} from '../../../kube/resource.ts';
import { podDisruptionBudgets, projectSettings, workflows } from '../../../operator/shared/resources.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil, pollUntilPasses } from '../../support/time/poll.ts';
import { openPollProject } from '../../support/operator/pollProject.ts';
import { keysOf } from '../../../store/keys.ts';
import { openScheduleProject, READY } from '../../support/operator/scheduleProject.ts';

const ROLE = 'eks.amazonaws.com/role-arn';
const BOUNDS = {
  maxReplicas: 3,
  egressAllow: ['10.20.0.0/16'],
  priorityClassNames: ['batch'],
  serviceAccountAnnotations: [ROLE],
  tolerationKeys: ['dedicated'],
  nodeSelectorKeys: ['pool', 'gpu'],
};
const SOON = { timeoutMs: 20_000, everyMs: 50 };
const NAME = 'default';

let harness: OperatorHarness;

beforeAll(async () => {
  harness = await startOperatorHarness({
    env: { PROJECT_SETTINGS_BOUNDS: JSON.stringify(BOUNDS), RUNNER_DISRUPTION_BUDGET: 'true' },
  });
  harness.startOperator();
}, 600_000);
afterAll(() => harness?.stop());

/** A project with a schedule, whose pool and CronJob are in place. */
async function openProject() {
  const project = await openScheduleProject(harness);
  await project.apply({});
  await project.waitFor(READY);
  const { namespace } = project;
  const set = (spec: ProjectSettingsSpec) => {
    const object = {
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'ProjectSettings',
      metadata: { name: NAME },
      spec,
    };
    return harness.apply(namespace, stringify(object));
  };
  return { ...project, set };
}

/** Waits until the settings say so of their current generation; returns the message. */
async function said(namespace: string, status: string, reason: string): Promise<string> {
  let message = '';
  await pollUntil(
    `Ready=${status}/${reason}`,
    async () => {
      const object = await harness.client.get(projectSettings, { namespace, name: NAME });
      const ready = findCondition(object.status?.conditions, 'Ready');
      message = ready?.message ?? '';
      const isCurrent = object.status?.observedGeneration === object.metadata.generation;
      return isCurrent && ready?.status === status && ready.reason === reason;
    },
    SOON,
  );
  return message;
}

const RUNNER = 'windlass-runner';
const poolIn = (namespace: string) => harness.client.get(deployments, { namespace, name: RUNNER });
const podOf = ({ spec }: Deployment) => spec?.template.spec;
const variable = (pool: Deployment, name: string) =>
  podOf(pool)?.containers[0]?.env?.find((each) => each.name === name)?.value;

const ALL: ProjectSettingsSpec = {
  runners: {
    replicas: 3,
    resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi' } },
    nodeSelector: { pool: 'workflows' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] }],
        },
      },
    },
    priorityClassName: 'batch',
    serviceAccountAnnotations: { [ROLE]: 'arn:aws:iam::1:role/shop' },
  },
  egress: { allow: ['10.20.0.0/16'] },
};
const PLACED = {
  nodeSelector: { pool: 'workflows' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  priorityClassName: 'batch',
};
const LOST_NODE = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 30,
}));
const PLACED_RUNNER = { ...PLACED, tolerations: [...PLACED.tolerations, ...LOST_NODE] };

test.concurrent('settings roll the pool out, and without them it is as the installation says again', async () => {
  const { namespace, set, onlyCronJob } = await openProject();
  const before = await poolIn(namespace);
  await set(ALL);
  await said(namespace, 'True', 'SettingsApplied');
  const pool = await poolIn(namespace);
  expect(pool.spec?.replicas).toBe(3);
  expect(podOf(pool)).toMatchObject({ ...PLACED_RUNNER, affinity: ALL.runners?.affinity });
  expect(podOf(pool)?.containers[0]?.resources).toEqual(ALL.runners?.resources);
  expect(variable(pool, 'EGRESS_ALLOW')).toBe('127.0.0.0/8,10.20.0.0/16');
  const ref = { namespace, name: RUNNER };
  const annotations = async () => (await harness.client.get(serviceAccounts, ref)).metadata.annotations;
  expect(await annotations()).toEqual(ALL.runners?.serviceAccountAnnotations);
  expect(await harness.client.find(podDisruptionBudgets, ref)).toBeDefined();
  const tickPod = async () => (await onlyCronJob()).spec?.jobTemplate.spec?.template.spec;
  await pollUntil(
    'the tick on these nodes',
    async () => (await tickPod())?.priorityClassName === 'batch',
    SOON,
  );
  expect(await tickPod()).toMatchObject(PLACED);
  await harness.client.delete(projectSettings, { namespace, name: NAME });
  await pollUntil(
    'the pool as before',
    async () => {
      const { spec } = await poolIn(namespace);
      expect(spec).toEqual(before.spec);
      expect(await annotations()).toBeUndefined();
      expect(await harness.client.find(podDisruptionBudgets, ref)).toBeUndefined();
      expect(await tickPod()).not.toHaveProperty('priorityClassName');
      return true;
    },
    SOON,
  );
});

test.concurrent('settings beyond the bounds of the installation are named, and the others are in effect', async () => {
  const { namespace, set } = await openProject();
  await set({ runners: { replicas: 2 }, egress: { allow: ['0.0.0.0/0', '10.20.0.0/16'] } });
  expect(await said(namespace, 'False', 'SettingsNotAdmitted')).toBe(
    'egress.allow: the installation does not let projects add 0.0.0.0/0 (projectSettings.egress.allow: 10.20.0.0/16). For these the values of the installation stay in effect; the other settings are applied.',
  );
  const object = await harness.client.get(projectSettings, { namespace, name: NAME });
  expect(findCondition(object.status?.conditions, 'Stalled')?.status).toBe('True');
  await pollUntil('two runners', async () => (await poolIn(namespace)).spec?.replicas === 2, SOON);
  expect(variable(await poolIn(namespace), 'EGRESS_ALLOW')).toBe('127.0.0.0/8,10.20.0.0/16');
  await set({ runners: { replicas: 50 } });
  await said(namespace, 'False', 'SettingsNotAdmitted');
  const { status } = await harness.client.get(projectSettings, { namespace, name: NAME });
  expect(status?.replicas).toBe(1);
  await set({ runners: { replicas: 2 } });
  await said(namespace, 'True', 'SettingsApplied');
});

/** The schema takes it and a pod does not: `In` needs values. */
const REFUSED: ProjectSettingsSpec['runners'] = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'In' }] }],
      },
    },
  },
};

test.concurrent('settings that the API server refuses in a pool leave it as it was, and say its words', async () => {
  const { namespace, set, waitFor } = await openProject();
  const { metadata } = await poolIn(namespace);
  await set({ runners: REFUSED });
  expect(await said(namespace, 'False', 'SettingsInvalid')).toMatch(
    /stay as they were until .*nodeAffinity.*values: Required value/,
  );
  expect((await poolIn(namespace)).metadata.generation).toBe(metadata.generation);
  await set({ runners: { nodeSelector: { pool: 'a-label' } } });
  await said(namespace, 'True', 'SettingsApplied');
  expect(podOf(await poolIn(namespace))?.nodeSelector).toEqual({ pool: 'a-label' });
  await waitFor(READY);
});

test.concurrent('settings that the API server refuses in a pool do not keep it from what it no longer may', async () => {
  const { namespace, set, onlyCronJob } = await openProject();
  await set(ALL);
  await said(namespace, 'True', 'SettingsApplied');
  await set({ runners: { ...REFUSED, replicas: 2, resources: { limits: { memory: '2Gi' } } } });
  await said(namespace, 'False', 'SettingsInvalid');
  const pool = await poolIn(namespace);
  expect(pool.spec?.replicas).toBe(2);
  expect(variable(pool, 'EGRESS_ALLOW')).toBe('127.0.0.0/8');
  expect(podOf(pool)).toMatchObject({ ...PLACED_RUNNER, affinity: ALL.runners?.affinity });
  expect(podOf(pool)?.containers[0]?.resources).toEqual(ALL.runners?.resources);
  expect((await onlyCronJob()).spec?.jobTemplate.spec?.template.spec).toMatchObject(PLACED);
});

test.concurrent('a first pool comes with settings that the API server refuses, where the installation says', async () => {
  const { namespace, apply, waitFor } = await openScheduleProject(harness);
  await harness.client.create(projectSettings, {
    metadata: { namespace, name: NAME },
    spec: { runners: { ...REFUSED, replicas: 2 } },
  });
  await said(namespace, 'True', 'Accepted');
  await apply({});
  await waitFor(READY);
  await said(namespace, 'False', 'SettingsInvalid');
  const pool = await poolIn(namespace);
  expect(pool.spec?.replicas).toBe(2);
  expect(podOf(pool)?.affinity).not.toHaveProperty('nodeAffinity');
});

const ADMISSION = 'admissionregistration.k8s.io/v1';

/**
 * A policy of the cluster refuses objects of a kind in the namespace, unless the expression holds; `probe` is
 * one. Resolves when it is in effect.
 */
async function refuse<T extends KubeObject>(
  namespace: string,
  resource: Resource<T>,
  probe: Partial<T>,
  unless = 'false',
): Promise<void> {
  const { group, plural } = resource;
  const metadata = { name: `no-${plural}-in-${namespace}` };
  const rule = {
    apiGroups: [group],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: [plural],
  };
  const policy = {
    apiVersion: ADMISSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [
        {
          expression: `request.namespace != '${namespace}' || ${unless}`,
          message: 'the cluster forbids it',
          reason: 'Forbidden',
        },
      ],
    },
  };
  const binding = {
    apiVersion: ADMISSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Deny'] },
  };
  await harness.apply(namespace, [policy, binding].map((object) => stringify(object)).join('---\n'));
  const create = () =>
    harness.client.create(
      resource,
      { ...probe, metadata: { namespace, name: 'probe' } },
      {
        dryRun: true,
      },
    );
  await pollUntilPasses(
    'the policy in effect',
    () => expect(create()).rejects.toThrow('the cluster forbids it'),
    SOON,
  );
}

const POD = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const DEPLOYMENT = { spec: { selector: { matchLabels: { a: 'b' } }, template: POD } };

test.concurrent('settings that a policy of the cluster refuses in a pool hold nothing else up', async () => {
  const { namespace, set } = await openProject();
  const template = { ...POD, spec: { ...POD.spec, nodeSelector: { a: 'b' } } };
  const hasNone = '!has(object.spec.template.spec.nodeSelector)';
  await refuse(namespace, deployments, { spec: { ...DEPLOYMENT.spec, template } }, hasNone);
  await set(ALL);
  expect(await said(namespace, 'False', 'SettingsInvalid')).toContain('the cluster forbids it');
  const pool = await poolIn(namespace);
  expect(pool.spec?.replicas).toBe(3);
  expect(podOf(pool)).not.toHaveProperty('nodeSelector');
});

test.concurrent('an account that may not be written keeps no older settings in the Deployment', async () => {
  const { namespace, set, waitFor } = await openProject();
  await refuse(namespace, serviceAccounts, {});
  await set(ALL);
  expect(await said(namespace, 'False', 'Unauthorized')).toContain('the cluster forbids it');
  const object = await harness.client.get(projectSettings, { namespace, name: NAME });
  expect(findCondition(object.status?.conditions, 'Stalled')).toBeUndefined();
  expect((await poolIn(namespace)).spec?.replicas).toBe(3);
  await waitFor({ type: 'PoolReady', status: 'False', reason: 'Unauthorized' });
});

test.concurrent('without a Deployment accounts are polled, and what else a pool has goes with the last workflow', async () => {
  const { namespace, apply, waitFor, jobs } = await openPollProject(harness);
  await refuse(namespace, deployments, DEPLOYMENT);
  await apply();
  await waitFor({ type: 'Active', status: 'False', reason: 'Unauthorized' });
  const ref = { namespace, name: RUNNER };
  expect(await jobs()).toEqual(['windlass-poll']);
  expect(await harness.client.find(secrets, ref)).toBeDefined();
  await harness.client.delete(workflows, { namespace, name: 'orders' });
  await pollUntilPasses(
    'the namespace without a pool',
    async () => {
      for (const kind of [secrets, serviceAccounts, roles, roleBindings] as Resource[])
        expect(await harness.client.find(kind, ref)).toBeUndefined();
      expect(await jobs()).toEqual([]);
    },
    SOON,
  );
});

test.concurrent('settings of a project without workflows are accepted, and hold for its first pool', async () => {
  const { namespace, apply, waitFor } = await openScheduleProject(harness);
  await harness.client.create(projectSettings, {
    metadata: { namespace, name: NAME },
    spec: { runners: { replicas: 2 } },
  });
  await said(namespace, 'True', 'Accepted');
  expect((await harness.client.list(cronJobs, { namespace })).items).toEqual([]);
  await apply({});
  await waitFor(READY);
  await said(namespace, 'True', 'SettingsApplied');
  expect((await poolIn(namespace)).spec?.replicas).toBe(2);
});

test.concurrent('an address that the settings add is valid in a step, and was not before', async () => {
  const { apply, waitFor, set } = await openProject();
  const parameters = { url: 'http://10.20.0.7:8080/orders' };
  await apply({}, { nodes: [{ id: 'call', skill: { name: 'http_request', parameters } }] });
  const { status } = await waitFor({ type: 'Valid', status: 'False', reason: 'AddressForbidden' });
  expect(findCondition(status?.conditions, 'Valid')?.message).toContain('10.20.0.7 is a private address');
  await set({ egress: { allow: ['10.20.0.0/16'] } });
  await waitFor({ type: 'Valid', status: 'True' });
});

test.concurrent('a workflow without a timeout takes that of the settings, in a revision of its own', async () => {
  const { namespace, uid, set, waitFor } = await openProject();
  const before = await waitFor(READY);
  await set({ workflowDefaults: { timeout: '5m', history: { succeeded: 2 } } });
  const key = keysOf(uid).wf(before.metadata.uid ?? '');
  await pollUntil(
    'the timeout in the run store',
    async () => (await harness.conn.command('hget', key, 'timeout')) === '300000',
    SOON,
  );
  const revisionNow = async () => (await waitFor(READY)).status?.revision ?? '';
  const isOther = async () => (await revisionNow()) !== before.status?.revision;
  await pollUntil('another revision in the status', isOther, SOON);
  const revision = await revisionNow();
  const stored = await harness.client.get(controllerRevisions, { namespace, name: revision });
  expect(stored.data).toMatchObject({ timeoutMs: 300_000 });
  await harness.client.delete(projectSettings, { namespace, name: NAME });
  await pollUntil('the revision as before', async () => !(await isOther()), SOON);
});
