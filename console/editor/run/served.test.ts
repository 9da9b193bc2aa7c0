import { expect, test } from 'vitest';
import type { WorkflowObject } from '../../kube/resources.ts';
import { servedState } from './served.ts';

type Condition = {
  type: string;
  status: string;
  reason: string;
  message: string;
  observedGeneration: number;
};

const routed = (status: string, reason = 'Routed', observedGeneration = 3): Condition => ({
  type: 'Routed',
  status,
  reason,
  message: `${reason}.`,
  observedGeneration,
});
const workflow = (observedGeneration: number, ...conditions: Condition[]) =>
  ({ status: { observedGeneration, conditions } }) as Pick<WorkflowObject, 'status'>;

test.each([
  ['every replica serves it', workflow(3, routed('True')), 'served'],
  ['a newer one is served', workflow(4, routed('True', 'Routed', 4)), 'served'],
  ['another workflow has the bot', workflow(3, routed('False', 'BotTaken')), 'served'],
  ['there is no status', {}, 'waits'],
  ['the operator has not seen it', workflow(2, routed('True', 'Routed', 2)), 'waits'],
  ['what is said is about the one before', workflow(3, routed('True', 'Routed', 2)), 'waits'],
  ['a replica lags', workflow(3, routed('False', 'WaitingForReplicas')), 'waits'],
  ['the run store is away', workflow(3, routed('False', 'StoreUnavailable')), 'waits'],
  ['it is invalid', workflow(3, routed('False', 'InvalidSpec')), 'refused'],
])('if %s, generation 3 is reported so', (_what, object, kind) => {
  expect(servedState(object, 3).kind).toBe(kind);
});

test('the reason of an invalid workflow is the message of the condition', () => {
  const valid = { ...routed('False', 'UnknownReference'), type: 'Valid' };
  expect(servedState(workflow(3, routed('False', 'InvalidSpec'), valid), 3)).toEqual({
    kind: 'refused',
    why: 'UnknownReference.',
  });
});
