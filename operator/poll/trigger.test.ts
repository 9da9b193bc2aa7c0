import { expect, test } from 'vitest';
import type { Credential, Workflow } from '../../api/kinds.ts';
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
const triggerIn = (workflow: Workflow, credential?: Credential) =>
  triggerOf(workflow, routeOf(workflow), () => credential);

test('the polled trigger has the fields of the trigger alone', () => {
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
  ['the mailbox by its name', { mailbox: 'INBOX' }, false],
  ['another interval', { pollIntervalSeconds: 5 }, false],
  ['another filter', { subject: 'order' }, false],
])('%s is another place: %s', (_what, change, isOther) => {
  expect(triggerIn(workflowOf(change))?.place !== triggerIn(workflowOf())?.place).toBe(isOther);
});

test('a trigger that differs between spec and route is not polled', () => {
  const route = routeOf(workflowOf());
  const nobody = () => undefined;
  expect(triggerOf(workflowOf({ from: 'shop' }), route, nobody)).toBeUndefined();
  const { poll: _poll, ...closed } = route;
  expect(triggerOf(workflowOf(), closed, nobody)).toBeUndefined();
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

type Seen = { generation?: number; status?: 'True' | 'False'; lastChecked?: string; expires?: string };

function credentialOf({ generation = 1, status = 'True', ...seen }: Seen): Credential {
  const lastTransitionTime = '2026-03-02T09:00:00Z';
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Credential',
    metadata: { name: 'inbox', uid: 'uid-2', generation },
    spec: {},
    status: {
      conditions: [{ type: 'Ready', status, reason: 'Any', message: '', lastTransitionTime }],
      ...seen,
    },
  };
}
const later = '2026-03-02T10:00:00Z';

test.each<[string, Seen, Seen | undefined, boolean]>([
  ['was changed', { status: 'False' }, { status: 'False', generation: 2 }, true],
  ['was seen to work', { status: 'False' }, { status: 'True' }, true],
  ['was seen to work again, by another Secret', {}, { lastChecked: later }, true],
  ['has another access token', {}, { expires: later }, true],
  ['is gone', {}, undefined, true],
  ['was seen to fail again', { status: 'False' }, { status: 'False', lastChecked: later }, false],
])('where its credential %s the account may work that did not: %4$s', (_what, before, after, isOther) => {
  const [one, other] = [before, after].map(
    (seen) => triggerIn(workflowOf(), seen && credentialOf(seen))?.access,
  );
  expect(one !== other).toBe(isOther);
});

test('a requested reset is stored until the status confirms it', () => {
  expect(triggerIn(workflowOf({}, 'now'))).toMatchObject({ reset: { value: 'now' } });
  expect(triggerIn(workflowOf({}, 'now', { reset: 'now' }))).not.toHaveProperty('reset');
  const later = '2026-03-02T09:00:00Z';
  expect(triggerIn(workflowOf({}, later, { reset: 'now' }))).toMatchObject({ reset: { value: later } });
});

test.each([
  ['a cursor', { cursor: 'c', lastPollTime: '2026-03-02T09:00:00Z' }, { known: { cursor: 'c' } }],
  [
    'no more than that it was polled',
    { lastPollTime: '2026-03-02T09:00:00Z' },
    { known: { lost: expect.any(String) } },
  ],
  ['nothing', undefined, {}],
])('where the status has %s a store that was wiped is told so', (_what, poll, known) => {
  expect(baselineOf(workflowOf({}, undefined, poll))).toEqual(known);
});
