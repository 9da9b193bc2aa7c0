import { expect, test } from 'vitest';
import type { Deployment } from '../../kube/resource.ts';
import type { PodProblem } from '../pods/rollout.ts';
import { changesPool, poolState } from './readiness.ts';
import type { PoolRefusal } from '../pods/pools.ts';
import { readConfig } from '../shared/config.ts';

type Rights = {
  refused?: PoolRefusal;
  granted?: string[];
  problem?: PodProblem;
  isWaking?: boolean;
  /** The names of HorizontalPodAutoscalers of the pool. */
  autoscalers?: string[];
};

const config = readConfig({
  PUBLIC_URL: 'https://example.com/',
  REDIS_URL: 'redis://redis:6379',
  RUNNER_IMAGE: 'windlass:test',
});

const poolWith = (availableReplicas: number, ...conditions: object[]) =>
  ({
    metadata: { name: 'windlass-runner', generation: 1 },
    status: { availableReplicas, conditions },
  }) as unknown as Deployment;

function stateWith(rights: Rights, ...given: [Deployment?]) {
  const { refused, granted, problem, isWaking = false, autoscalers = [] } = rights;
  const [deployment] = given.length === 0 ? [poolWith(1)] : given;
  const routes = { list: () => [{}] };
  const settings = { get: () => undefined };
  const caches = { deployments: { get: () => deployment }, routes, settings } as unknown as Parameters<
    typeof poolState
  >[0]['caches'];
  const refusals = new Map(refused === undefined ? [] : [['shop', refused]]);
  const grantedSecrets = new Map(granted === undefined ? [] : [['shop', granted]]);
  const podProblems = new Map(problem === undefined ? [] : [['shop', problem]]);
  const otherScalers = new Map([['shop', { autoscalers: autoscalers.map((name) => ({ name })) }]]);
  const scaling = {
    otherScalers,
    refusals: new Map<string, string>(),
    asleep: new Map<string, boolean>(),
    waking: new Map<string, number>(isWaking ? [['shop', 1]] : []),
  };
  const pools = { refusals, grantedSecrets, podProblems };
  return poolState({ caches, config, pools, scaling }, 'shop', ['llm', 'smtp']);
}

test('a pool with a pod is ready for a workflow whose Secrets its runners may read', () => {
  expect(stateWith({ granted: ['llm', 'other', 'smtp'] })).toEqual({ kind: 'Ready' });
});

test('a pool with a pod says what else sets the number of its runners', () => {
  expect(stateWith({ autoscalers: ['cpu'] })).toEqual({
    kind: 'Ready',
    scaling: expect.stringContaining('HorizontalPodAutoscaler cpu') as string,
  });
});

test('a pool with a pod still reports that the operator may not update it', () => {
  const refused: PoolRefusal = { reason: 'Unauthorized', message: 'roles is forbidden' };
  expect(stateWith({ refused, granted: ['llm', 'smtp'] })).toEqual({
    kind: 'Refused',
    ...refused,
    hasRunner: true,
  });
  expect(stateWith({ refused }, poolWith(0))).toMatchObject({ hasRunner: false });
});

test('a pool that the API server refuses is not starting', () => {
  const refused: PoolRefusal = { reason: 'PoolInvalid', message: 'requests: Invalid value' };
  expect(stateWith({ refused }, undefined)).toEqual({ kind: 'Refused', ...refused, hasRunner: false });
});

test('a pool is not ready for a workflow one of whose Secrets its runners may not read yet', () => {
  expect(stateWith({ granted: ['llm'] })).toEqual({
    kind: 'Starting',
    message: 'Runners may not read Secret smtp yet.',
  });
});

test('until this process has applied the rights, the pods decide', () => {
  expect(stateWith({})).toEqual({ kind: 'Ready' });
  expect(stateWith({}, poolWith(0))).toEqual({ kind: 'Starting' });
});

const QUOTA =
  'pods "windlass-runner-6d5f7-" is forbidden: exceeded quota: compute, requested: limits.memory=512Mi, used: limits.memory=0, limited: limits.memory=256Mi';
const SECURITY = 'pods "windlass-runner-6d5f7-" is forbidden: violates PodSecurity "restricted:latest"';
const refusedBy = (message: string) => ({
  type: 'ReplicaFailure',
  status: 'True',
  reason: 'FailedCreate',
  message,
});
const progressing = (status: string, reason: string, message: string) => ({
  type: 'Progressing',
  status,
  reason,
  message,
});

test.each<[sentence: string, conditions: object[], state: object]>([
  [
    'a quota refuses its pods',
    [refusedBy(QUOTA)],
    { kind: 'Blocked', reason: 'PodsRefused', message: QUOTA },
  ],
  [
    'the pod security of the namespace refuses its pods',
    [progressing('True', 'NewReplicaSetCreated', ''), refusedBy(SECURITY)],
    { kind: 'Blocked', reason: 'PodsRefused', message: SECURITY },
  ],
  [
    'a quota refuses its ReplicaSet',
    [progressing('False', 'ReplicaSetCreateError', 'exceeded quota: objects')],
    { kind: 'Blocked', reason: 'PodsRefused', message: 'exceeded quota: objects' },
  ],
  [
    'its pods do not become ready in time',
    [progressing('False', 'ProgressDeadlineExceeded', 'has timed out progressing.')],
    { kind: 'Blocked', reason: 'PodsNotReady', message: 'has timed out progressing.' },
  ],
  ['its pods are being started', [progressing('True', 'ReplicaSetUpdated', '')], { kind: 'Starting' }],
  ['its pods were refused before', [{ ...refusedBy(QUOTA), status: 'False' }], { kind: 'Starting' }],
])('a pool without a runner: %s', (_sentence, conditions, state) => {
  expect(stateWith({}, poolWith(0, ...conditions))).toEqual(state);
});

test('a pool that wakes says what its pods wait for', () => {
  const problem = { generation: 1, message: '0/1 nodes are available.', since: 0 };
  const awaited = {
    ...poolWith(0),
    spec: { replicas: 1 },
  } as unknown as Deployment;
  const waking = { kind: 'Asleep', isWaking: true };
  expect(stateWith({ isWaking: true }, awaited)).toEqual(waking);
  expect(stateWith({ isWaking: true, problem }, awaited)).toEqual({ ...waking, message: problem.message });
});

test('an obstacle takes precedence over missing rights, and an available runner over an obstacle', () => {
  expect(stateWith({ granted: [] }, poolWith(0, refusedBy(QUOTA)))).toMatchObject({ kind: 'Blocked' });
  expect(stateWith({}, poolWith(1, refusedBy(QUOTA)))).toEqual({ kind: 'Ready', newer: QUOTA });
});

const rolledOut = {
  ...poolWith(1),
  status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, conditions: [] },
} as Deployment;

test.each([
  ['a runner becomes available', poolWith(0), poolWith(1), true],
  ['an obstacle appears', poolWith(0), poolWith(0, refusedBy(QUOTA)), true],
  ['another obstacle takes its place', poolWith(0, refusedBy(QUOTA)), poolWith(0, refusedBy(SECURITY)), true],
  ['an obstacle appears beside a runner', poolWith(1), poolWith(1, refusedBy(QUOTA)), true],
  ['one of two runners goes', poolWith(2), poolWith(1), false],
  ['the last runner has its template', poolWith(1), rolledOut, true],
])('when %s the state of the pool changes or stays', (_sentence, before, after, isChanged) => {
  expect(changesPool(before, after)).toBe(isChanged);
});

const UNSCHEDULED = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";

test('a runner beside newer unschedulable ones is ready, with the message of the scheduler', () => {
  const problem = { generation: 3, message: UNSCHEDULED, since: 0 };
  const pool = (generation: number, ...conditions: object[]) =>
    ({ ...poolWith(1, ...conditions), metadata: { name: 'windlass-runner', generation } }) as Deployment;
  const late = progressing('False', 'ProgressDeadlineExceeded', 'has timed out progressing.');
  for (const conditions of [[], [late]])
    expect(stateWith({ problem }, pool(3, ...conditions))).toEqual({ kind: 'Ready', newer: UNSCHEDULED });
  expect(stateWith({ problem }, pool(4))).toEqual({ kind: 'Ready' });
});

test('a namespace without a pool in which nothing has taken effect has no pool that starts', () => {
  const none = { list: () => [], get: () => undefined };
  const caches = { deployments: none, routes: none, workflows: none, runs: none, credentials: none };
  const pools = { refusals: new Map(), grantedSecrets: new Map(), podProblems: new Map() };
  const context = { caches, pools } as unknown as Parameters<typeof poolState>[0];
  expect(poolState(context, 'shop', [])).toEqual({ kind: 'Absent' });
});
