import { expect, test } from 'vitest';
import type { HorizontalPodAutoscaler, ScaledObject } from '../shared/resources.ts';
import { scalingProblem } from './problem.ts';
import { otherScalersOf } from './otherScalers.ts';
import type { Autoscaler, OtherScalers } from './state.ts';

const cpu: Autoscaler = { name: 'cpu' };
const mine: Autoscaler = { name: 'keda-hpa-mine', scaledObject: 'mine' };
const own: Autoscaler = { name: 'keda-hpa-windlass-runner', scaledObject: 'windlass-runner' };
const failing: Autoscaler = { ...own, failure: 'no metrics' };

type Engine = Parameters<typeof scalingProblem>[0];

test.each<[what: string, engine: Engine, Autoscaler[], reason: string | undefined, message: string]>([
  ['fixed runners', 'Fixed', [], undefined, ''],
  [
    'fixed runners and an autoscaler',
    'Fixed',
    [cpu],
    'ScalingConflict',
    'HorizontalPodAutoscaler cpu. Delete',
  ],
  [
    'the operator and an autoscaler',
    'Builtin',
    [cpu],
    'ScalingConflict',
    'HorizontalPodAutoscaler cpu. Delete',
  ],
  [
    'the operator and KEDA',
    'Builtin',
    [mine],
    'ScalingConflict',
    'ScaledObject mine (HorizontalPodAutoscaler',
  ],
  ['the ScaledObject of the operator', 'KEDA', [own], undefined, ''],
  ['another ScaledObject', 'KEDA', [own, mine], 'ScalingConflict', 'too: ScaledObject mine'],
  ['an autoscaler beside KEDA', 'KEDA', [own, cpu], 'ScalingConflict', 'too: HorizontalPodAutoscaler cpu'],
  ['a metric that KEDA does not get', 'KEDA', [failing], 'ScalerFailing', 'sets no number: no metrics.'],
  ['an autoscaler of others', 'External', [cpu], undefined, ''],
  ['nothing of others', 'External', [], undefined, ''],
  ['two autoscalers of others', 'External', [cpu, mine], 'ScalingConflict', 'Keep one of them.'],
  ['an impossible metric', 'External', [failing], 'ScalerFailing', 'sets no number: no metrics.'],
])('what sets the number is judged: %s', (_what, engine, autoscalers, reason, message) => {
  const problem = scalingProblem(engine, { autoscalers }, undefined);
  expect(problem?.reason).toBe(reason);
  expect(problem?.message ?? '').toContain(message);
});

test('a ScaledObject that cannot be written, or that KEDA does not use, is named', () => {
  const refused = scalingProblem('KEDA', { autoscalers: [] }, 'exceeded quota');
  expect(refused?.message).toBe(
    'The number of runners stays as it is. The ScaledObject windlass-runner cannot be written: exceeded quota.',
  );
  const unused = scalingProblem('KEDA', { autoscalers: [], failure: 'no HPA' }, undefined);
  expect(unused?.message).toContain('KEDA does not use the ScaledObject windlass-runner: no HPA.');
});

const autoscaler = (name: string, target: object, conditions: object[] | null = []) =>
  ({
    metadata: { name, namespace: 'shop' },
    spec: { scaleTargetRef: target },
    status: { conditions },
  }) as HorizontalPodAutoscaler;
const pool = { kind: 'Deployment', name: 'windlass-runner' };
const active = (reason: string, message = '') => ({
  type: 'ScalingActive',
  status: 'False',
  reason,
  message,
});

test.each<[what: string, HorizontalPodAutoscaler[], ScaledObject[], OtherScalers | undefined]>([
  ['autoscalers of other Deployments', [autoscaler('a', { ...pool, name: 'web' })], [], undefined],
  ['an autoscaler of another kind', [autoscaler('a', { ...pool, kind: 'StatefulSet' })], [], undefined],
  ['one without conditions', [autoscaler('a', pool, null)], [], { autoscalers: [{ name: 'a' }] }],
  [
    'one that is switched off',
    [autoscaler('a', pool, [active('ScalingDisabled')])],
    [],
    { autoscalers: [{ name: 'a' }] },
  ],
  [
    'one without words of its own',
    [autoscaler('a', pool, [active('FailedGetScale')])],
    [],
    { autoscalers: [{ name: 'a', failure: 'FailedGetScale' }] },
  ],
])('of all autoscalers those of runner pools are found: %s', (_what, autoscalers, objects, found) => {
  expect(otherScalersOf(autoscalers, objects).get('shop')).toEqual(found);
});

test('a ScaledObject of the operator is found where KEDA refuses it, and no other one', () => {
  const object = (name: string, status: string) =>
    ({
      metadata: { name, namespace: 'shop' },
      status: { conditions: [{ type: 'Ready', status, reason: 'Failed', message: 'no HPA' }] },
    }) as ScaledObject;
  expect(otherScalersOf([], [object('mine', 'False'), object('windlass-runner', 'True')]).size).toBe(0);
  expect(otherScalersOf([], [object('windlass-runner', 'False')]).get('shop')).toEqual({
    autoscalers: [],
    failure: 'no HPA',
  });
});
