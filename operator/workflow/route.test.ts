import { expect, test } from 'vitest';
import type { Workflow } from '../../api/kinds.ts';
import { revisionOf } from '../../api/revision.ts';
import type { ScheduleTrigger, WebhookTrigger } from '../../api/trigger.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import type { Violation } from './checks/check.ts';
import { routeOf, routeUnderInvalidSpec } from './route.ts';
import { callersAreVerified } from './checks/policies.ts';

const stepIsWrong: Violation[] = [{ reason: 'UnknownSkill', message: 'no such skill' }];
const triggerIsWrong: Violation[] = [{ reason: 'FieldNotSupported', message: 'not yet', trigger: true }];

function workflow(webhook: Partial<WebhookTrigger> = {}, spec: Partial<WorkflowSpec> = {}): Workflow {
  const nodes: WorkflowSpec['nodes'] = [
    { id: 'trigger', webhook: { path: 'orders', ...webhook } },
    { id: 'reply', response: { body: 'ok' } },
  ];
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'orders', namespace: 'shop', uid: 'uid-1' },
    spec: { active: true, nodes, ...spec },
  };
}

function route(from: Workflow) {
  return routeOf(from, 'project-1', { name: 'orders-abc', revision: revisionOf(from.spec) });
}

test('an active webhook has a public URL, with header names in lower case', () => {
  const from = workflow({ headers: ['X-Shop'], dedupe: { header: 'X-Event' }, replyTimeout: '1500ms' });
  expect(route(from)).toEqual({
    workflow: 'orders',
    workflowUID: 'uid-1',
    projectUID: 'project-1',
    revision: 'orders-abc',
    trigger: 'webhook',
    active: true,
    webhook: {
      path: 'orders',
      reply: true,
      replyTimeoutSeconds: 2,
      access: 'Public',
      headers: ['x-shop'],
      dedupeHeader: 'x-event',
    },
  });
});

test.each([
  [undefined, 30],
  ['0s', 1],
  ['1h', 300],
])('with a reply time-out of %s a caller waits %i s', (replyTimeout, seconds) => {
  const from = workflow(replyTimeout === undefined ? {} : { replyTimeout });
  expect(route(from).webhook?.replyTimeoutSeconds).toBe(seconds);
});

test('the rate limit that a webhook names goes with its route', () => {
  const rateLimit = { requestsPerSecond: 5, burst: 20 };
  expect(route(workflow({ rateLimit })).webhook).toMatchObject({ rateLimit });
});

test('an inactive workflow has a route for test runs, and no URL', () => {
  const inactive = route(workflow({}, { active: false }));
  expect(inactive).toMatchObject({ active: false, trigger: 'webhook' });
  expect(inactive).not.toHaveProperty('webhook');
});

test('a suspended workflow has a route that refuses test runs, and no URL', () => {
  const suspended = route(workflow({}, { suspend: true }));
  expect(suspended).toMatchObject({ active: false, suspended: true });
  expect(suspended).not.toHaveProperty('webhook');
});

test('a suspension begins and ends also under an invalid spec, which opens nothing', () => {
  const suspended = routeUnderInvalidSpec(
    route(workflow()),
    workflow({}, { suspend: true }).spec,
    stepIsWrong,
  );
  expect(suspended).toEqual(route(workflow({}, { suspend: true })));
  const resumed = routeUnderInvalidSpec(suspended, workflow().spec, stepIsWrong);
  expect(resumed).toEqual(route(workflow({}, { active: false })));
});

test('a public webhook as an earlier version wrote it stays open under a broken step', () => {
  const { webhook, ...served } = route(workflow());
  if (webhook === undefined) throw new Error('the route has no webhook');
  const earlier = { ...served, webhook: { ...webhook, access: 'Exposed' as const } };
  expect(routeUnderInvalidSpec(earlier, workflow().spec, stepIsWrong)).toEqual(earlier);
});

test('under a spec with a broken step what was valid stays in effect', () => {
  const served = route(workflow());
  expect(routeUnderInvalidSpec(served, workflow().spec, stepIsWrong)).toEqual(served);
});

const bearer = (key: string) => ({ auth: { bearer: { secretRefs: [{ name: 'hooks', key }] } } });

/** The route as it is once the operator has put its keys in place. */
function guarded() {
  const { webhook, ...served } = route(workflow(bearer('token')));
  if (webhook?.verify === undefined) throw new Error('the route has no verification');
  return { ...served, webhook: { ...webhook, verify: { ...webhook.verify, material: '0123456789abcdef' } } };
}

test('under a broken step callers are verified as before', () => {
  expect(routeUnderInvalidSpec(guarded(), workflow(bearer('token')).spec, stepIsWrong)).toEqual(guarded());
});

test.each([
  ['no verification', {}],
  ['another secret', bearer('other')],
  ['another scheme', { auth: { github: { secretRefs: [{ name: 'hooks', key: 'token' }] } } }],
])('an invalid spec that declares %s closes a guarded URL', (_sentence, webhook) => {
  const closed = routeUnderInvalidSpec(guarded(), workflow(webhook).spec, stepIsWrong);
  expect(closed).not.toHaveProperty('webhook');
});

const authRequired = callersAreVerified(workflow().spec, 'Namespace');

const closing: [sentence: string, spec: WorkflowSpec, violations: Violation[]][] = [
  ['is switched off', workflow({}, { active: false }).spec, stepIsWrong],
  ['has a trigger that cannot be activated as it says', workflow().spec, triggerIsWrong],
  ['has a public webhook where callers must be verified', workflow().spec, authRequired],
  ['has another path', workflow({ path: 'other' }).spec, stepIsWrong],
  ['admits other headers', workflow({ headers: ['X-Other'] }).spec, stepIsWrong],
  ['asks for callers to be verified', workflow(bearer('token')).spec, stepIsWrong],
  ['has another trigger', workflow({}, { nodes: [{ id: 'trigger', manual: {} }] }).spec, stepIsWrong],
];

test.each(closing)('an invalid spec that %s closes the URL', (_sentence, spec, violations) => {
  const closed = routeUnderInvalidSpec(route(workflow()), spec, violations);
  expect(closed).toMatchObject({ active: false, revision: 'orders-abc' });
  expect(closed).not.toHaveProperty('webhook');
});

test('a webhook that is closed because callers must be verified says so, as long as the spec says active', () => {
  const closed = routeUnderInvalidSpec(route(workflow()), workflow().spec, authRequired);
  expect(closed).toMatchObject({ active: false, inactiveReason: 'AuthRequired' });
  for (const switched of [{ active: false }, { suspend: true }]) {
    const { spec } = workflow({}, switched);
    expect(routeUnderInvalidSpec(closed, spec, authRequired)).not.toHaveProperty('inactiveReason');
  }
  expect(routeUnderInvalidSpec(closed, workflow().spec, stepIsWrong)).not.toHaveProperty('inactiveReason');
});

test('an invalid spec never opens a URL', () => {
  const inactive = route(workflow({}, { active: false }));
  expect(routeUnderInvalidSpec(inactive, workflow().spec, stepIsWrong)).toEqual(inactive);
});

const scheduled = (schedule: Partial<ScheduleTrigger> = {}, more: Partial<WorkflowSpec> = {}) =>
  workflow({}, { nodes: [{ id: 'trigger', schedule: { cron: '0 9 * * *', ...schedule } }], ...more });

test('the route of a schedule says its rules, and of an inactive workflow none', () => {
  expect(route(scheduled()).schedule).toEqual({ cron: '0 9 * * *', timeZone: 'UTC', latestSeconds: 300 });
  expect(route(scheduled({}, { active: false }))).not.toHaveProperty('schedule');
});

test('under an invalid spec a schedule that says what it said stays as it was', () => {
  const served = route(scheduled());
  const spec = scheduled({ timeZone: 'UTC', missed: 'Skip' }).spec;
  expect(routeUnderInvalidSpec(served, spec, stepIsWrong)).toEqual(served);
});

test.each([
  ['other times', { cron: '0 8 * * *' }],
  ['another zone', { timeZone: 'Asia/Tokyo' }],
  ['another deadline', { startingDeadlineSeconds: 60 }],
  ['that missed times are made up for', { missed: 'RunLatest' as const }],
])('an invalid spec that says %s ends the schedule', (_what, change) => {
  const kept = routeUnderInvalidSpec(route(scheduled()), scheduled(change).spec, stepIsWrong);
  expect(kept).toMatchObject({ active: false });
  expect(kept).not.toHaveProperty('schedule');
});

const polled = (mail: object = {}, more: Partial<WorkflowSpec> = {}) =>
  workflow({}, { nodes: [{ id: 'trigger', mail: { credential: 'inbox', ...mail } }], ...more });

test('the route of a mail trigger says which one it is, and of an inactive workflow nothing', () => {
  expect(route(polled()).poll).not.toEqual(route(polled({ from: 'shop' })).poll);
  expect(route(polled({}, { active: false }))).not.toHaveProperty('poll');
});

test('under an invalid spec what is polled stays as it was, or ends where it says something else', () => {
  const served = route(polled());
  expect(routeUnderInvalidSpec(served, polled().spec, stepIsWrong)).toEqual(served);
  const kept = routeUnderInvalidSpec(served, polled({ mailbox: 'Archive' }).spec, stepIsWrong);
  expect(kept).toMatchObject({ active: false });
  expect(kept).not.toHaveProperty('poll');
});

const bot = (trigger: object = {}, more: Partial<WorkflowSpec> = {}) =>
  workflow({}, { nodes: [{ id: 'trigger', bot: { credential: 'helper', ...trigger } }], ...more });

test('the route of a bot says which one it is and which messages are wanted, and of an inactive workflow nothing', () => {
  const filters = { chatTypes: ['private' as const], commands: ['/order'] };
  expect(route(bot(filters)).bot).toEqual({ credential: 'helper', ...filters });
  expect(route(bot({}, { active: false }))).not.toHaveProperty('bot');
});

test('under an invalid spec a bot stays as it was, or goes where the spec says something else', () => {
  const declared = route(bot());
  const verify = { secretRefs: [{ name: 'bots', key: 'token' }], toleranceSeconds: 300, material: '1' };
  const served = {
    ...declared,
    bot: { credential: 'helper', platform: 'telegram' as const, account: '12', verify },
  };
  expect(routeUnderInvalidSpec(served, bot().spec, stepIsWrong)).toEqual(served);
  for (const change of [{ credential: 'other' }, { commands: ['/order'] }])
    expect(routeUnderInvalidSpec(served, bot(change).spec, stepIsWrong)).not.toHaveProperty('bot');
});
