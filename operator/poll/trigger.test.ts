import { expect, test } from 'vitest';
import type { Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { WorkflowStatus } from '../../api/workflow.ts';
import { baselineOf, pollOf, resetOf, triggerOf } from './trigger.ts';

type Mail = NonNullable<Workflow['spec']['nodes'][number]['mail']>;

function workflowOf(mail: Partial<Mail> = {}, annotation?: string, poll?: WorkflowStatus['poll']): Workflow {
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: {
      name: 'orders',
      ...(annotation !== undefined && { annotations: { 'windlass.dev/reset-cursor': annotation } }),
    },
    spec: { active: true, nodes: [{ id: 'trigger', mail: { credential: 'inbox', ...mail } }] },
    status: { conditions: [], ...(poll && { poll }) },
  };
}
const routeOf = ({ spec }: Workflow): RouteSpec => ({
  workflow: 'orders',
  workflowUID: 'uid-1',
  projectUID: 'project-1',
  revision: 'orders-1',
  trigger: 'mail',
  active: true,
  ...pollOf(spec),
});
const triggerIn = (workflow: Workflow) => triggerOf(workflow, routeOf(workflow));

test('what is looked at has the fields of the trigger, without those that are not its', () => {
  const testData = { data_content: {} } as Mail['testData'];
  const workflow = workflowOf({ from: 'shop', pollIntervalSeconds: 5, testData });
  expect(triggerIn(workflow)).toMatchObject({
    workflow: 'orders',
    workflowUid: 'uid-1',
    revision: 'orders-1',
    kind: 'mail',
    fields: { credential: 'inbox', from: 'shop' },
    intervalSeconds: 5,
  });
  expect(triggerIn(workflowOf())).toMatchObject({ intervalSeconds: 60 });
  expect(Object.keys(triggerIn(workflow)?.fields as object)).toEqual(['credential', 'from']);
});

test.each([
  ['another mailbox', { mailbox: 'Archive' }, true],
  ['another account', { credential: 'other' }, true],
  ['another interval', { pollIntervalSeconds: 5 }, false],
  ['another filter', { subject: 'order' }, false],
])('%s is another place: %s', (_what, change, isOther) => {
  expect(triggerIn(workflowOf(change))?.place !== triggerIn(workflowOf())?.place).toBe(isOther);
});

test('where the spec says something else than the route nobody is to look', () => {
  const route = routeOf(workflowOf());
  expect(triggerOf(workflowOf({ from: 'shop' }), route)).toBeUndefined();
  const { poll: _poll, ...closed } = route;
  expect(triggerOf(workflowOf(), closed)).toBeUndefined();
});

test.each([
  ['now', { value: 'now' }],
  ['2026-03-02T09:00:00Z', { value: '2026-03-02T09:00:00Z', since: '2026-03-02T09:00:00.000Z' }],
  [
    '2026-03-02T09:00:00.5+01:00',
    { value: '2026-03-02T09:00:00.5+01:00', since: '2026-03-02T08:00:00.500Z' },
  ],
  ['2026-03-02', undefined],
  ['2026-13-02T09:00:00Z', undefined],
  ['yesterday', undefined],
  ['', undefined],
  [undefined, undefined],
])('the annotation %s asks for %o', (value, reset) => {
  expect(resetOf(value)).toEqual(reset);
});

test('a wish is passed on until the status says that it was granted', () => {
  expect(triggerIn(workflowOf({}, 'now'))).toMatchObject({ reset: { value: 'now' } });
  expect(triggerIn(workflowOf({}, 'now', { reset: 'now' }))).not.toHaveProperty('reset');
  const later = '2026-03-02T09:00:00Z';
  expect(triggerIn(workflowOf({}, later, { reset: 'now' }))).toMatchObject({ reset: { value: later } });
});

test.each([
  ['a cursor', { cursor: 'c', lastPollTime: '2026-03-02T09:00:00Z' }, { known: { cursor: 'c' } }],
  [
    'no more than that it was looked at',
    { lastPollTime: '2026-03-02T09:00:00Z' },
    { known: { lost: expect.any(String) } },
  ],
  ['nothing', undefined, {}],
])('where the status has %s a store that was wiped is told so', (_what, poll, known) => {
  expect(baselineOf(workflowOf({}, undefined, poll))).toEqual(known);
});
