import { expect, test } from 'vitest';
import type { Workflow } from '../../api/kinds.ts';
import { limitsOf } from './limits.ts';

const workflow = (budget?: object): Workflow =>
  ({
    metadata: { name: 'ask', uid: 'uid' },
    spec: { active: true, nodes: [], ...(budget && { budget }) },
  }) as never;

test('limits have the budgets of the workflow and of the project, as integers', () => {
  expect(limitsOf(workflow())).not.toHaveProperty('budget');
  expect(limitsOf(workflow({ run: { cost: '0.50' } })).budget).toEqual({ run: { cost: 500_000_000 } });
  const project = { tokens: 7 };
  expect(limitsOf(workflow({ day: { tokens: 5 } }), undefined, project).budget).toEqual({
    day: { tokens: 5 },
    project,
  });
  expect(limitsOf(workflow(), undefined, project).budget).toEqual({ project });
});
