import { expect, test } from 'vitest';
import type { ProjectSettingsSpec } from '../../api/projectSettings.ts';
import { readConfig, type OperatorConfig } from '../shared/config.ts';
import { pollCronJob } from '../poll/cronJob.ts';
import { poolDeployment, poolDisruptionBudget, poolServiceAccount } from '../project/manifests.ts';
import { admit, refusalsOf, withPodsOf, withSettings, type ProjectConfig } from './settings.ts';

const BOUNDS: OperatorConfig['PROJECT_SETTINGS_BOUNDS'] = {
  maxReplicas: 5,
  autoscalingEngines: ['Builtin', 'External'],
  egressAllow: ['10.20.0.0/16', 'crm.office.svc:443'],
  priorityClassNames: ['batch'],
  serviceAccountAnnotations: ['eks.amazonaws.com/role-arn'],
  tolerationKeys: ['dedicated'],
  nodeSelectorKeys: ['pool', 'gpu'],
};
const ENVIRONMENT = {
  PUBLIC_URL: 'https://example.com/',
  REDIS_URL: 'redis://windlass-redis.windlass.svc:6379',
  RUNNER_IMAGE: 'windlass:test',
  RUNNER_EGRESS_ALLOW: '10.1.0.0/16',
  RUNNER_DISRUPTION_BUDGET: 'true',
  PROJECT_SETTINGS_BOUNDS: JSON.stringify(BOUNDS),
};
const config = readConfig(ENVIRONMENT);
const runners = (members: NonNullable<ProjectSettingsSpec['runners']>): ProjectSettingsSpec => ({
  runners: members,
});

test('without settings a project has what the installation says', () => {
  const { placement, serviceAccountAnnotations, ...rest } = withSettings(config);
  expect(rest).toEqual(config);
  expect({ placement, serviceAccountAnnotations }).toEqual({ placement: {}, serviceAccountAnnotations: {} });
  expect(withSettings(config, {})).toEqual(withSettings(config));
});

test.each<[string, ProjectSettingsSpec, Partial<ProjectConfig>]>([
  ['replicas', runners({ replicas: 5 }), { RUNNER_REPLICAS: 5 }],
  [
    'the number of runners, which follows the backlog',
    runners({ autoscaling: { engine: 'Builtin', max: 5 } }),
    { RUNNER_AUTOSCALING: { engine: 'Builtin', max: 5 } },
  ],
  [
    'the number of runners, which others set',
    runners({ autoscaling: { engine: 'External' } }),
    { RUNNER_AUTOSCALING: { engine: 'External' } },
  ],
  [
    'resources, which replace those of the installation as a whole',
    runners({ resources: { limits: { memory: '2Gi' } } }),
    { RUNNER_RESOURCES: { limits: { memory: '2Gi' } } },
  ],
  [
    'egress, in addition to that of the installation',
    { egress: { allow: ['crm.office.svc:443'] } },
    { RUNNER_EGRESS_ALLOW: ['10.1.0.0/16', 'crm.office.svc:443'] },
  ],
  [
    'a node selector',
    runners({ nodeSelector: { pool: 'a' } }),
    { placement: { nodeSelector: { pool: 'a' } } },
  ],
  [
    'a priority class',
    runners({ priorityClassName: 'batch' }),
    { placement: { priorityClassName: 'batch' } },
  ],
  [
    'an identity in a cloud',
    runners({ serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn' } }),
    { serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn' } },
  ],
])('settings change %s', (_what, settings, changed) => {
  expect(withSettings(config, settings)).toEqual({ ...withSettings(config), ...changed });
  expect(admit(settings, BOUNDS).refusals).toEqual([]);
});

test.each<[string, ProjectSettingsSpec, RegExp]>([
  ['more runners', runners({ replicas: 6 }), /at most 5 runners \(projectSettings.maxReplicas\)/],
  [
    'more runners than a project may have, by the backlog',
    runners({ autoscaling: { engine: 'Builtin', max: 6 } }),
    /runners.autoscaling.max: .* at most 5 runners \(projectSettings.maxReplicas\)/,
  ],
  [
    'an engine that projects may not choose',
    runners({ autoscaling: { engine: 'KEDA', max: 2 } }),
    /choose KEDA \(projectSettings.autoscalingEngines: Builtin, External\)/,
  ],
  ['egress to everywhere', { egress: { allow: ['0.0.0.0/0'] } }, /egress.allow: .* add 0.0.0.0\/0 \(/],
  [
    'a part of an admitted range',
    { egress: { allow: ['10.20.1.0/24'] } },
    /10.20.0.0\/16, crm.office.svc:443/,
  ],
  [
    'nodes of the control plane',
    runners({ tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }] }),
    /runners.tolerations: .* tolerate node-role.kubernetes.io\/control-plane \(projectSettings.tolerationKeys: dedicated\)/,
  ],
  [
    'every taint',
    runners({ tolerations: [{ operator: 'Exists' }] }),
    /runners.tolerations: .* tolerate all taints/,
  ],
  [
    'nodes by a label of others',
    runners({ nodeSelector: { team: 'payments' } }),
    /runners.nodeSelector: .* select nodes by team \(projectSettings.nodeSelectorKeys: pool, gpu\)/,
  ],
  [
    'nodes by a label of others that they must have',
    runners({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'gpu', operator: 'Exists' }] },
              { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
            ],
          },
        },
      },
    }),
    /runners.affinity.nodeAffinity: .* select nodes by team \(/,
  ],
  [
    'nodes by a label of others that they should have',
    runners({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: 'team', operator: 'Exists' }] } },
          ],
        },
      },
    }),
    /runners.affinity.nodeAffinity: .* select nodes by team \(/,
  ],
  ['another priority', runners({ priorityClassName: 'system-node-critical' }), /use system-node-critical/],
  [
    'another annotation',
    runners({ serviceAccountAnnotations: { 'example.com/role': 'admin' } }),
    /set example.com\/role \(projectSettings.serviceAccountAnnotations: eks.amazonaws.com\/role-arn\)/,
  ],
])('settings beyond the bounds of the installation change nothing: %s', (_what, settings, refusal) => {
  expect(withSettings(config, settings)).toEqual(withSettings(config));
  expect(admit(settings, BOUNDS).refusals).toEqual([expect.stringMatching(refusal)]);
});

test('of settings that are admitted in part, that part is in effect', () => {
  const mixed = { ...runners({ replicas: 3 }), egress: { allow: ['0.0.0.0/0', '10.20.0.0/16'] } };
  expect(withSettings(config, mixed)).toMatchObject({
    RUNNER_REPLICAS: 3,
    RUNNER_EGRESS_ALLOW: ['10.1.0.0/16', '10.20.0.0/16'],
  });
  expect(admit(mixed, BOUNDS).refusals).toHaveLength(1);
});

test('of a placement that is admitted in part, that part is in effect', () => {
  const podAntiAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
  };
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'team', operator: 'Exists' as const }] }],
  };
  const dedicated = { key: 'dedicated', operator: 'Exists' as const };
  const mixed = runners({
    nodeSelector: { pool: 'a', team: 'payments' },
    tolerations: [dedicated, { operator: 'Exists' }],
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required },
      podAntiAffinity,
    },
  });
  expect(withSettings(config, mixed).placement).toEqual({
    nodeSelector: { pool: 'a' },
    tolerations: [dedicated],
    affinity: { podAntiAffinity },
  });
  expect(admit(mixed, BOUNDS).refusals).toHaveLength(3);
});

test('an installation that says nothing of projects lets them add nothing to egress', () => {
  const { PROJECT_SETTINGS_BOUNDS: _bounds, ...others } = config;
  const silent = {
    ...others,
    PROJECT_SETTINGS_BOUNDS: readConfig({ PUBLIC_URL: 'http://x', REDIS_URL: 'redis://x', RUNNER_IMAGE: 'x' })
      .PROJECT_SETTINGS_BOUNDS,
  };
  const settings = { egress: { allow: ['crm.office.svc:443'] } };
  expect(withSettings(silent, settings).RUNNER_EGRESS_ALLOW).toEqual(['10.1.0.0/16']);
  expect(admit(settings, silent.PROJECT_SETTINGS_BOUNDS).refusals).toEqual([
    expect.stringContaining('(projectSettings.egress.allow is empty)'),
  ]);
});

const placed = withSettings(
  config,
  runners({
    replicas: 2,
    nodeSelector: { pool: 'a' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    priorityClassName: 'batch',
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] }],
        },
      },
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'topology.kubernetes.io/zone' }],
      },
    },
    serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn' },
  }),
);
const project = { namespace: 'shop', uid: 'project-1' };
const ON_NODES = {
  nodeSelector: { pool: 'a' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  priorityClassName: 'batch',
};
/** Runners are replaced when their node is lost, too. */
const LOST_NODE = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) =>
  expect.objectContaining({ key, tolerationSeconds: 30 }),
);
const RUNNER_ON_NODES = { ...ON_NODES, tolerations: [...ON_NODES.tolerations, ...LOST_NODE] };

test('runners run where the settings say, and still on different nodes where the settings do not say otherwise', () => {
  const { template } = poolDeployment(project, placed, 'hash').spec ?? {};
  expect(template?.spec).toMatchObject({ ...RUNNER_ON_NODES, affinity: placed.placement.affinity });
  expect(template?.spec?.affinity).toHaveProperty('podAntiAffinity');
});

test('runners are spread among those of their own revision, so that a rollout does not draw them together', () => {
  const { template } = poolDeployment(project, withSettings(config), 'hash').spec ?? {};
  const [preferred] =
    template?.spec?.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  expect(preferred?.podAffinityTerm).toMatchObject({
    topologyKey: 'kubernetes.io/hostname',
    matchLabelKeys: ['pod-template-hash'],
  });
});

test('a project with a number of its own is not scaled, also where the installation scales', () => {
  const scaling = readConfig({ ...ENVIRONMENT, RUNNER_AUTOSCALING: '{"engine":"Builtin","max":4}' });
  expect(withSettings(scaling).RUNNER_AUTOSCALING).toEqual({ engine: 'Builtin', max: 4 });
  const fixed = withSettings(scaling, runners({ replicas: 2 }));
  expect([fixed.RUNNER_REPLICAS, fixed.RUNNER_AUTOSCALING]).toEqual([2, undefined]);
});

test.each([
  ['0s', 0],
  ['45s', 45_000],
  // As of objects from before the bound.
  ['1s', 30_000],
])('runners that may sleep after %s sleep after %d ms without work', (sleepAfter, ms) => {
  expect(withSettings(config, runners({ sleepAfter })).RUNNER_SLEEP_AFTER).toBe(ms);
});

const NO_SLEEP =
  'runners.sleepAfter: runners do not sleep with the engine External of the installation (runner.autoscaling.engine); set runners.replicas, or runners.autoscaling with the engine Builtin, as well';

test.each<[what: string, engine: object, members: Parameters<typeof runners>[0], refusals: string[]]>([
  ['scales by another engine', { engine: 'External' }, { sleepAfter: '45s' }, [NO_SLEEP]],
  ['scales', { engine: 'Builtin', max: 4 }, { sleepAfter: '45s' }, []],
  ['scales, and the project does not', { engine: 'External' }, { sleepAfter: '45s', replicas: 2 }, []],
  ['scales by another engine, and none shall sleep', { engine: 'External' }, { sleepAfter: '0s' }, []],
])('where the installation %s, the settings are told whether runners sleep', (...row) => {
  const [, engine, members, refusals] = row;
  const scaled = readConfig({ ...ENVIRONMENT, RUNNER_AUTOSCALING: JSON.stringify(engine) });
  expect(refusalsOf(scaled, runners(members))).toEqual(refusals);
});

test('poll pods run on the same nodes, whatever pods are there', () => {
  const pod = pollCronJob(project, placed, { period: 1, isSuspended: false }).spec?.jobTemplate.spec?.template
    .spec;
  expect(pod).toMatchObject(ON_NODES);
  expect(Object.keys(pod?.affinity ?? {})).toEqual(['nodeAffinity']);
});

test('two runners of a project that asks for them are drained one by one', () => {
  expect(poolDisruptionBudget('shop', withSettings(config))).toBeUndefined();
  expect(poolDisruptionBudget('shop', placed)?.spec).toMatchObject({ maxUnavailable: 1 });
});

test('the account of the runners has the annotations, and none where there are none', () => {
  const annotationsOf = (given: Record<string, string>) => poolServiceAccount('shop', given).metadata;
  expect(annotationsOf(placed.serviceAccountAnnotations).annotations).toEqual(
    placed.serviceAccountAnnotations,
  );
  expect(annotationsOf({})).not.toHaveProperty('annotations');
});

test('while settings are refused, pods run where they do and have their resources, and all else is in effect', () => {
  const pod = poolDeployment(project, placed, 'hash').spec?.template.spec;
  const refused: ProjectSettingsSpec = {
    ...runners({
      replicas: 3,
      nodeSelector: { pool: 'not a label' },
      resources: { limits: { memory: '2Gi' } },
    }),
    egress: { allow: ['crm.office.svc:443'] },
  };
  const kept = withPodsOf(config, refused, pod);
  expect(kept).toMatchObject({
    RUNNER_REPLICAS: 3,
    RUNNER_EGRESS_ALLOW: ['10.1.0.0/16', 'crm.office.svc:443'],
    RUNNER_RESOURCES: placed.RUNNER_RESOURCES,
    placement: ON_NODES,
  });
  expect(poolDeployment(project, kept, 'hash').spec?.template.spec).toMatchObject({
    ...RUNNER_ON_NODES,
    affinity: pod?.affinity,
  });
});

test('settings that are refused do not keep what the installation does not admit any more', () => {
  const pod = poolDeployment(project, placed, 'hash').spec?.template.spec;
  const narrowed = {
    ...config,
    PROJECT_SETTINGS_BOUNDS: { ...BOUNDS, priorityClassNames: [], egressAllow: [] },
  };
  const refused = {
    ...runners({ nodeSelector: { pool: 'not a label' } }),
    egress: { allow: ['10.20.0.0/16'] },
  };
  const kept = withPodsOf(narrowed, refused, pod);
  expect(kept.placement).not.toHaveProperty('priorityClassName');
  expect(kept.RUNNER_EGRESS_ALLOW).toEqual(['10.1.0.0/16']);
});

test('the first pods of settings that are refused are as the installation says', () => {
  const refused = runners({
    nodeSelector: { pool: 'not a label' },
    resources: { limits: { memory: '2Gi' } },
  });
  expect(withPodsOf(config, refused, undefined)).toEqual(withSettings(config));
});
