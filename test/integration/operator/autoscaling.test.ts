/**
 * The number of runners of a project, as each engine sets it: from the settings to the Deployment. What a
 * controller of the cluster would write, the tests write.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { AutoscalingSpec } from '../../../api/autoscaling.ts';
import type { ProjectSettingsSpec } from '../../../api/projectSettings.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { deployments } from '../../../kube/resource.ts';
import {
  horizontalPodAutoscalers,
  podDisruptionBudgets,
  projectSettings,
  scaledObjects,
  workflows,
} from '../../../operator/shared/resources.ts';
import { installScaledObjects } from '../../support/cluster/kedaCrd.ts';
import { addBacklog } from '../../support/operator/backlog.ts';
import { openScheduleProject, READY } from '../../support/operator/scheduleProject.ts';
import {
  startOperatorHarness,
  SYSTEM,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { pollUntil, pollUntilPasses } from '../../support/time/poll.ts';

const SCALING_URL = `http://windlass-operator.${SYSTEM}.svc:9090`;
const BOUNDS = { maxReplicas: 6, autoscalingEngines: ['Builtin', 'KEDA', 'External'] };
const SOON = { timeoutMs: 20_000, everyMs: 50 };
/** The operator lists autoscalers every 30 seconds. */
const LISTED = { timeoutMs: 90_000, everyMs: 500 };

let harness: OperatorHarness;

beforeAll(async () => {
  const env = {
    PROJECT_SETTINGS_BOUNDS: JSON.stringify(BOUNDS),
    RUNNER_DISRUPTION_BUDGET: 'true',
    SCALING_URL,
  };
  harness = await startOperatorHarness({ env });
  harness.startOperator();
}, 600_000);
afterAll(() => harness?.stop());

const POOL = 'windlass-runner';
/** No runner executes any of them. */
const BACKLOG = 500;

/** A project with a workflow whose pool is in place. */
async function openProject() {
  const project = await openScheduleProject(harness);
  await project.apply({});
  await project.waitFor(READY);
  const { namespace, uid } = project;
  const ref = { namespace, name: POOL };
  const pool = () => harness.client.get(deployments, ref);
  return {
    ...project,
    pool,
    ref,
    set: (runners: ProjectSettingsSpec['runners']) =>
      harness.apply(
        namespace,
        stringify({
          apiVersion: 'windlass.dev/v1alpha1',
          kind: 'ProjectSettings',
          metadata: { name: 'default' },
          spec: { runners },
        }),
      ),
    untilReplicas: (replicas: number, options = SOON) =>
      pollUntil(`${replicas} runners`, async () => (await pool()).spec?.replicas === replicas, options),
    /** As an autoscaler does it. */
    scale: (replicas: number) =>
      harness.client.patch(
        deployments,
        ref,
        { spec: { replicas } },
        { type: 'merge', subresource: 'scale', fieldManager: 'kube-controller-manager' },
      ),
    addBacklog: () =>
      addBacklog(harness, { namespace, uid, workflow: 'report', trigger: 'schedule' }, BACKLOG),
  };
}

/** Waits until the settings say so of their current generation; returns the message. */
async function said(namespace: string, status: string, reason: string, options = SOON): Promise<string> {
  let message = '';
  await pollUntil(
    `Ready=${status}/${reason}`,
    async () => {
      const object = await harness.client.get(projectSettings, { namespace, name: 'default' });
      const ready = findCondition(object.status?.conditions, 'Ready');
      message = ready?.message ?? '';
      const isCurrent = ready?.observedGeneration === object.metadata.generation;
      return isCurrent && ready?.status === status && ready.reason === reason;
    },
    options,
  );
  return message;
}

const builtin: AutoscalingSpec = { engine: 'Builtin', min: 1, max: 4 };

test.concurrent('a backlog brings as many runners as may be within 30 seconds, and the settings say how many', async () => {
  const { namespace, set, untilReplicas, addBacklog, ref } = await openProject();
  await set({ autoscaling: builtin });
  await said(namespace, 'True', 'SettingsApplied');
  expect(await harness.client.find(podDisruptionBudgets, ref)).toBeDefined();
  await addBacklog();
  await untilReplicas(4, { timeoutMs: 30_000, everyMs: 50 });
  await pollUntilPasses(
    'four runners in the status',
    async () => {
      const { status } = await harness.client.get(projectSettings, { namespace, name: 'default' });
      expect(status?.replicas).toBe(4);
      expect(findCondition(status?.conditions, 'Ready')?.reason).toBe('SettingsApplied');
    },
    SOON,
  );
});

test.concurrent('fixed runners become scaled ones without a change, and come into the bounds', async () => {
  const { set, untilReplicas, pool } = await openProject();
  await set({ replicas: 3 });
  await untilReplicas(3);
  await set({ autoscaling: { engine: 'Builtin', max: 6 } });
  await set({ autoscaling: { engine: 'Builtin', max: 5 } });
  expect((await pool()).spec?.replicas).toBe(3);
  await set({ autoscaling: { engine: 'Builtin', min: 4, max: 5 } });
  await untilReplicas(4);
  await set({ autoscaling: { engine: 'Builtin', max: 2 } });
  await untilReplicas(2);
});

test.concurrent('what the engine Builtin decided is restored if somebody changes it', async () => {
  const { set, untilReplicas, scale } = await openProject();
  await set({ autoscaling: { engine: 'Builtin', min: 2, max: 4 } });
  await untilReplicas(2);
  const scaled = await scale(5);
  expect(scaled.spec?.replicas).toBe(5);
  await untilReplicas(2);
});

test.concurrent('with the engine External the operator leaves the number to others, also beyond its bounds', async () => {
  const { namespace, set, untilReplicas, pool, scale } = await openProject();
  await set({ replicas: 3 });
  await untilReplicas(3);
  await set({ autoscaling: { engine: 'External' } });
  await said(namespace, 'True', 'SettingsApplied');
  expect((await pool()).spec?.replicas).toBe(3);
  await scale(9);
  await set({ autoscaling: { engine: 'External' }, resources: { limits: { memory: '1Gi' } } });
  await pollUntilPasses(
    'the new resources, and nine runners',
    async () => {
      const { spec } = await pool();
      expect(spec?.template.spec?.containers[0]?.resources).toEqual({ limits: { memory: '1Gi' } });
      expect(spec?.replicas).toBe(9);
    },
    SOON,
  );
  await said(namespace, 'True', 'SettingsApplied');
  await set({ replicas: 2 });
  await untilReplicas(2);
});

const impossible = {
  type: 'ScalingActive',
  status: 'False',
  reason: 'FailedGetResourceMetric',
  message: 'failed to get cpu utilization: missing request for cpu',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

/** An autoscaler of the pool, with the conditions that its controller would write. */
async function addAutoscaler(namespace: string, name: string, owner?: string): Promise<void> {
  const uid = 'f2d3b5f4-7d1a-4c07-93a5-6f2f1a0f5a11';
  const reference = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: owner ?? '', uid };
  await harness.client.create(horizontalPodAutoscalers, {
    metadata: { namespace, name, ...(owner !== undefined && { ownerReferences: [reference] }) },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: POOL },
      maxReplicas: 9,
    } as object as { scaleTargetRef: { kind: string; name: string } },
  });
  await harness.client.patch(
    horizontalPodAutoscalers,
    { namespace, name },
    { status: { conditions: [impossible], desiredReplicas: 0 } },
    { type: 'merge', subresource: 'status' },
  );
}

test.concurrent('an autoscaler of others that cannot measure is named, with its words, and so is a second one', async () => {
  const { namespace, set } = await openProject();
  await set({ autoscaling: { engine: 'External' } });
  await said(namespace, 'True', 'SettingsApplied');
  await addAutoscaler(namespace, 'cpu');
  expect(await said(namespace, 'False', 'ScalerFailing', LISTED)).toBe(
    'The number of runners stays as it is. HorizontalPodAutoscaler cpu sets no number: failed to get cpu utilization: missing request for cpu.',
  );
  await addAutoscaler(namespace, 'memory');
  expect(await said(namespace, 'False', 'ScalingConflict', LISTED)).toContain(
    'HorizontalPodAutoscaler cpu, HorizontalPodAutoscaler memory. Keep one of them.',
  );
}, 180_000);

test.concurrent('a ScaledObject of others that fights with the operator is named by settings and workflow', async () => {
  const { namespace, set } = await openProject();
  await set({ autoscaling: builtin });
  await said(namespace, 'True', 'SettingsApplied');
  await addAutoscaler(namespace, 'keda-hpa-mine', 'mine');
  expect(await said(namespace, 'False', 'ScalingConflict', LISTED)).toContain(
    'too: ScaledObject mine (HorizontalPodAutoscaler keda-hpa-mine). Delete it, or set',
  );
  const object = await harness.client.get(projectSettings, { namespace, name: 'default' });
  expect(findCondition(object.status?.conditions, 'Stalled')?.status).toBe('True');
  const workflow = await harness.waitFor(namespace, 'report', { type: 'PoolReady', status: 'True' });
  await pollUntilPasses(
    'the words in PoolReady',
    async () => {
      const { status } = await harness.client.get(workflows, { namespace, name: workflow.metadata.name });
      expect(findCondition(status?.conditions, 'PoolReady')?.message).toContain('ScaledObject mine');
    },
    SOON,
  );
  await harness.client.delete(horizontalPodAutoscalers, { namespace, name: 'keda-hpa-mine' });
  await said(namespace, 'True', 'SettingsApplied', LISTED);
}, 180_000);

/** What the operator says to KEDA. */
async function asked(namespace: string): Promise<Response> {
  const listening = harness.log.entries.findLast(({ message }) => message === 'listening');
  if (listening === undefined) throw new Error('the operator does not run');
  const { port } = listening.fields as { port: number };
  return fetch(`http://127.0.0.1:${port}/scaling/${namespace}`);
}

function setFinalizers(ref: { namespace: string; name: string }, finalizers: string[]): Promise<unknown> {
  return harness.client.patch(scaledObjects, ref, { metadata: { finalizers } }, { type: 'merge' });
}

test('with the engine KEDA the operator writes a ScaledObject and tells KEDA what it needs', async () => {
  const { namespace, set, untilReplicas, pool, ref, addBacklog } = await openProject();
  await set({ replicas: 2 });
  await untilReplicas(2);
  await set({ autoscaling: { engine: 'KEDA', max: 4 } });
  expect(await said(namespace, 'False', 'ScalerFailing')).toContain('KEDA is not installed');
  await installScaledObjects(harness.client);
  await set({ autoscaling: { engine: 'KEDA', min: 2, max: 5 } });
  const written = await pollUntil('the ScaledObject', () => harness.client.find(scaledObjects, ref), SOON);
  expect(written.spec).toEqual({
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: POOL },
    pollingInterval: 5,
    minReplicaCount: 2,
    maxReplicaCount: 5,
    triggers: [
      {
        type: 'metrics-api',
        metadata: {
          url: `${SCALING_URL}/scaling/${namespace}`,
          valueLocation: 'runners',
          targetValue: '1',
        },
      },
    ],
  });
  await said(namespace, 'True', 'SettingsApplied');
  expect((await pool()).spec?.replicas).toBe(2);
  await addBacklog();
  await pollUntilPasses(
    'the need of five runners',
    async () => expect(await (await asked(namespace)).json()).toEqual({ runners: 5 }),
    { timeoutMs: 30_000, everyMs: 100 },
  );
  expect((await asked('elsewhere')).status).toBe(503);
  await harness.client.patch(
    scaledObjects,
    ref,
    {
      status: {
        conditions: [
          { type: 'Ready', status: 'False', reason: 'ScaledObjectCheckFailed', message: 'no HPA' },
        ],
      },
    },
    { type: 'merge', subresource: 'status' },
  );
  expect(await said(namespace, 'False', 'ScalerFailing', LISTED)).toContain(
    'ScaledObject windlass-runner: no HPA',
  );
  // KEDA ends each deletion itself.
  await setFinalizers(ref, ['finalizer.keda.sh']);
  await set({ replicas: 1 });
  await untilReplicas(1);
  await set({ autoscaling: { engine: 'KEDA', max: 3 } });
  await pollUntilPasses(
    'the words in Ready',
    async () =>
      expect(await said(namespace, 'False', 'ScalerFailing')).toContain('an earlier one is being deleted'),
    SOON,
  );
  await setFinalizers(ref, []);
  await pollUntil('another ScaledObject', () => harness.client.find(scaledObjects, ref), SOON);
  await said(namespace, 'True', 'SettingsApplied', LISTED);
  await set({ replicas: 1 });
  await pollUntil(
    'no ScaledObject',
    async () => (await harness.client.find(scaledObjects, ref)) === undefined,
    SOON,
  );
}, 180_000);
