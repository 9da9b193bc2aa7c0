import { expect, test } from 'vitest';
import type { Workflow } from '../../api/kinds.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { withDefaults } from './projectSettings.ts';
import { limitsOf, historyPolicy } from '../store/limits.ts';
import { namedRevision } from '../workflow/revision.ts';

const HOUR = 3_600_000;
const workflow = (spec: Partial<WorkflowSpec>): Workflow => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { name: 'orders', namespace: 'shop', uid: 'uid-1' },
  spec: { active: true, nodes: [{ id: 't', manual: {} }], ...spec },
});

const DEFAULTS = { history: { succeeded: 3, ttl: '2h' }, timeout: '5m' };

test('fields that a workflow leaves out get the defaults of the project', () => {
  const filled = withDefaults(workflow({}), DEFAULTS);
  expect(historyPolicy(filled.spec)).toMatchObject({ succeeded: 3, failed: 10, ttlMs: 2 * HOUR });
  expect(limitsOf(filled)).toMatchObject({ deadlineMs: 5 * 60_000, history: { succeeded: 3, failed: 10 } });
  expect(namedRevision(filled).revision.timeoutMs).toBe(5 * 60_000);
});

test('fields of the workflow take precedence one by one', () => {
  const filled = withDefaults(workflow({ history: { failed: 1, ttl: '1h' }, timeout: '2h' }), DEFAULTS);
  expect(historyPolicy(filled.spec)).toMatchObject({ succeeded: 3, failed: 1, ttlMs: HOUR });
  expect(limitsOf(filled).deadlineMs).toBe(2 * HOUR);
});

test('without defaults a workflow stays as it is, and with it the name of its revision', () => {
  const own = workflow({ history: { failed: 1 } });
  expect(withDefaults(own, {})).toEqual(own);
  expect(withDefaults(workflow({}), {})).toEqual(workflow({}));
  expect(namedRevision(withDefaults(own, { history: { succeeded: 1 } })).name).toBe(namedRevision(own).name);
});
