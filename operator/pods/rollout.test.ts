import { expect, test } from 'vitest';
import type { Deployment, Pod } from '../../kube/resource.ts';
import { podProblem, rolloutOf, type PodProblem } from './rollout.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const pool = (status: object): Deployment =>
  ({
    metadata: { name: 'windlass-runner', generation: 2 },
    spec: { replicas: 2 },
    status,
  }) as unknown as Deployment;
const complete = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
const WORDS = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
const problem = (ageMs: number, generation = 2): PodProblem => ({
  generation,
  message: WORDS,
  since: now - ageMs,
});
const late = {
  type: 'Progressing',
  status: 'False',
  reason: 'ProgressDeadlineExceeded',
  message: 'timed out',
};
const quota = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' };

test.each<[sentence: string, status: object, problem: PodProblem | undefined, rollout: object]>([
  [
    'has enough runners and starts another',
    { ...complete, availableReplicas: 1 },
    undefined,
    { kind: 'Complete' },
  ],
  [
    'has enough runners and one more that no node takes for a minute',
    { ...complete, availableReplicas: 1 },
    problem(60_000),
    { kind: 'Complete' },
  ],
  [
    'has enough runners and one more that no node takes for ten minutes',
    { ...complete, availableReplicas: 1 },
    problem(600_000),
    { kind: 'Blocked', reason: 'PodsNotReady', message: WORDS },
  ],
  [
    'has enough runners, and a quota refuses another',
    { ...complete, availableReplicas: 1, conditions: [quota] },
    undefined,
    { kind: 'Blocked', reason: 'PodsRefused', message: 'exceeded quota' },
  ],
  ['has too few runners', { ...complete, availableReplicas: 0 }, undefined, { kind: 'RollingOut' }],
  [
    'has enough runners of before',
    { ...complete, updatedReplicas: 1, availableReplicas: 2 },
    undefined,
    { kind: 'RollingOut' },
  ],
])('a pool that follows the backlog and %s', (_sentence, status, found, rollout) => {
  expect(rolloutOf(pool(status), found, new Date(now), 1)).toEqual(rollout);
});

test.each<[sentence: string, status: object, problem: PodProblem | undefined, rollout: object]>([
  ['has all its pods', complete, undefined, { kind: 'Complete' }],
  ['has all its pods after a problem', complete, problem(0), { kind: 'Complete' }],
  [
    'is not seen by its controller yet',
    { ...complete, observedGeneration: 1 },
    undefined,
    { kind: 'RollingOut' },
  ],
  ['has a pod from before', { ...complete, replicas: 3 }, undefined, { kind: 'RollingOut' }],
  ['has old pods alone', { ...complete, updatedReplicas: 0 }, undefined, { kind: 'RollingOut' }],
  [
    'has a pod that is not available',
    { ...complete, availableReplicas: 1 },
    undefined,
    { kind: 'RollingOut' },
  ],
  [
    'has a pod that no node takes for a minute',
    { ...complete, availableReplicas: 1 },
    problem(60_000),
    { kind: 'RollingOut', message: WORDS },
  ],
  [
    'has a pod that no node takes for ten minutes',
    { ...complete, availableReplicas: 1 },
    problem(600_000),
    { kind: 'Blocked', reason: 'PodsNotReady', message: WORDS },
  ],
  [
    'had a pod that no node took before its last change',
    { ...complete, availableReplicas: 1 },
    problem(600_000, 1),
    { kind: 'RollingOut' },
  ],
  [
    'does not progress',
    { ...complete, availableReplicas: 1, conditions: [late] },
    problem(1_000),
    { kind: 'Blocked', reason: 'PodsNotReady', message: WORDS },
  ],
  [
    'does not progress, and its pods are unknown',
    { ...complete, availableReplicas: 1, conditions: [late] },
    undefined,
    { kind: 'Blocked', reason: 'PodsNotReady', message: 'timed out' },
  ],
  [
    'gets no further pods',
    { ...complete, availableReplicas: 1, conditions: [quota] },
    undefined,
    { kind: 'Blocked', reason: 'PodsRefused', message: 'exceeded quota' },
  ],
])('the rollout of a pool that %s', (_sentence, status, found, rollout) => {
  expect(rolloutOf(pool(status), found, new Date(now))).toEqual(rollout);
});

const MADE = '2026-01-02T03:00:00Z';
const pod = (status: object, metadata: object = {}): Pod =>
  ({ metadata: { name: 'a', creationTimestamp: MADE, ...metadata }, status }) as unknown as Pod;
const unscheduled = (message: string) => ({
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: '2026-01-02T03:01:00Z',
    },
  ],
});
const waiting = (reason: string, message?: string) => ({
  containerStatuses: [{ state: { waiting: { reason, ...(message !== undefined && { message }) } } }],
});

test.each<[sentence: string, pods: Pod[], message: string | undefined]>([
  ['there are none', [], undefined],
  ['they are being started', [pod({}), pod(waiting('ContainerCreating'))], undefined],
  ['no node takes one', [pod({}), pod(unscheduled(WORDS))], WORDS],
  ['the image of one is missing', [pod(waiting('ErrImagePull', 'not found'))], 'ErrImagePull: not found'],
  ['one crashes', [pod(waiting('CrashLoopBackOff'))], 'CrashLoopBackOff'],
  ['one that no node takes is going', [pod(unscheduled(WORDS), { deletionTimestamp: MADE })], undefined],
  [
    'the newest has another problem',
    [pod(unscheduled('old')), pod(unscheduled('new'), { creationTimestamp: '2026-01-02T03:02:00Z' })],
    'new',
  ],
])('of pods of which %s the problem is told in the words of Kubernetes', (_sentence, pods, message) => {
  expect(podProblem(pods)?.message).toBe(message);
});

test('a pod that no node takes waits since the scheduler said so', () => {
  expect(podProblem([pod(unscheduled(WORDS))])?.since).toBe(Date.parse('2026-01-02T03:01:00Z'));
});
