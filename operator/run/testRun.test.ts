import { expect, test } from 'vitest';
import { inherit, inheritanceProblem } from './testRun.ts';

const mocks = [{ node: 'call', output: {} }];
const mini = { model: 'mini' };

test('a repetition has the mocks and the model of its run, each unless it has its own', () => {
  expect(inherit(undefined, undefined)).toBeUndefined();
  expect(inherit(undefined, { mocks, model: mini })).toEqual({ mocks, model: mini });
  expect(inherit({ model: mini }, { mocks })).toEqual({ mocks, model: mini });
  expect(inherit({ mocks: [] }, { mocks, model: mini })).toEqual({ mocks: [], model: mini });
  expect(inherit({ model: mini }, { mocks, unmocked: 'Execute' })).toEqual({
    mocks,
    unmocked: 'Execute',
    model: mini,
  });
  expect(inherit({ mocks: [] }, { mocks, unmocked: 'Execute' })).toEqual({ mocks: [] });
});

test('the credential of a model is taken over by nobody', () => {
  const origin = { mocks, model: { node: 'agent', model: 'large', credential: 'paid' } };
  expect(inheritanceProblem(undefined, { mocks, model: mini }, 'one')).toBeUndefined();
  expect(inheritanceProblem({ model: mini }, origin, 'one')).toBeUndefined();
  for (const own of [undefined, { mocks }])
    expect(inheritanceProblem(own, origin, 'one')).toBe(
      'Run one asked a model with the credential paid of its spec.model, which a repetition must name itself, because that requires the right to use the credential: create a WorkflowRun with spec.model: {"node":"agent","credential":"paid","model":"large"}.',
    );
});
