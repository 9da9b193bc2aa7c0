import { expect, test } from 'vitest';
import { AUTH_SCHEMES } from '../../api/webhookAuth.ts';
import type { Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { WebhookAuth } from '../../api/trigger.ts';
import type { WorkflowNode, WorkflowSpec } from '../../api/workflow.ts';
import { accessOf, closingViolation, droppedScheme, publicNote } from './access.ts';
import { authPolicyOf, callersAreVerified } from './checks/policies.ts';

const bearer: WebhookAuth = { bearer: { secretRefs: [{ name: 'hooks', key: 'token' }] } };
const spec = (trigger: Omit<WorkflowNode, 'id'>): WorkflowSpec => ({
  active: true,
  nodes: [{ id: 'trigger', ...trigger }],
});
const webhook = (auth?: WebhookAuth) => spec({ webhook: { path: 'orders', ...(auth && { auth }) } });

test.each([
  ['a webhook without auth', webhook(), /^ Public: .* Add auth .*auth\.none/],
  ['a webhook that is public on purpose', webhook({ none: {} }), /^ Public on purpose/],
  ['a webhook with auth', webhook(bearer), /^$/],
  ['another trigger', spec({ manual: {} }), /^$/],
])('of %s Ready says whether it is public', (_what, spec, note) => {
  expect(publicNote(spec)).toMatch(note);
});

test.each([
  [false, {}, 'None'],
  [false, { 'windlass.dev/require-auth': 'true' }, 'Namespace'],
  [false, { 'windlass.dev/require-auth': 'false' }, 'None'],
  [true, {}, 'Installation'],
  [true, { 'windlass.dev/require-auth': 'false' }, 'Installation'],
])('with webhooks.requireAuth %s and the labels %j auth is required by %s', (required, labels, policy) => {
  expect(authPolicyOf({ WEBHOOKS_REQUIRE_AUTH: required }, labels)).toBe(policy);
});

test.each([
  ['without auth', webhook()],
  ['that is public on purpose', webhook({ none: {} })],
])('where auth is required a webhook %s is refused, and told which schemes there are', (_what, spec) => {
  expect(callersAreVerified(spec, 'None')).toEqual([]);
  for (const [policy, says] of [
    ['Namespace', 'label windlass.dev/require-auth'],
    ['Installation', 'chart value webhooks.requireAuth'],
  ] as const)
    expect(callersAreVerified(spec, policy)).toEqual([
      {
        reason: 'AuthRequired',
        message: expect.stringMatching(new RegExp(`^node trigger: .*${says}.*${AUTH_SCHEMES.join(', ')}$`)),
        trigger: true,
      },
    ]);
});

test.each([
  ['a webhook with auth', webhook(bearer)],
  ['a manual trigger', spec({ manual: {} })],
  ['a bot', spec({ bot: { credential: 'helper' } })],
])('where auth is required %s is accepted', (_what, spec) => {
  expect(callersAreVerified(spec, 'Installation')).toEqual([]);
});

const route = (access?: NonNullable<RouteSpec['webhook']>['access']): RouteSpec => ({
  workflow: 'orders',
  workflowUID: 'w1',
  projectUID: 'p1',
  revision: 'orders-1',
  trigger: 'webhook',
  active: access !== undefined,
  ...(access && { webhook: { path: 'orders', reply: false, replyTimeoutSeconds: 30, access } }),
});

test.each([
  ['bearer', 'Public', 'bearer'],
  ['bearer', 'github', undefined],
  ['bearer', undefined, undefined],
  ['Public', 'Public', undefined],
  ['Exposed', 'Public', undefined],
  [undefined, 'Public', undefined],
] as const)('from %s to %s a webhook lost its verification by %s', (before, after, scheme) => {
  expect(droppedScheme(route(before), route(after))).toBe(scheme);
});

test.each([
  ['Public', webhook(), route('Public')],
  ['Public', webhook(), route('Exposed')],
  ['bearer', webhook(bearer), route('bearer')],
  // The spec is invalid, and what was valid stays in effect.
  ['bearer', webhook(), route('bearer')],
  // Inactive, suspended, or closed by a policy.
  ['Closed', webhook(), route()],
  ['Closed', webhook(bearer), undefined],
  [undefined, spec({ manual: {} }), route()],
] as const)(
  'the status says %s where that is who may call through the route in effect',
  (access, spec, route) => {
    expect(accessOf(spec, route)).toBe(access);
  },
);

test('a served webhook that is closed because callers must be verified is told of, and no other', () => {
  const workflow = (spec: WorkflowSpec): Workflow => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'orders' },
    spec,
  });
  const found = callersAreVerified(webhook(), 'Namespace');
  const closes = { before: route('Public'), after: route() };
  expect(closingViolation(workflow(webhook()), closes, found)?.message).toContain(
    'label windlass.dev/require-auth',
  );
  expect(closingViolation(workflow(webhook()), { before: route(), after: route() }, found)).toBeUndefined();
  expect(closingViolation(workflow(webhook()), closes, [])).toBeUndefined();
  const switchedOff = workflow({ ...webhook(), active: false });
  expect(closingViolation(switchedOff, closes, found)).toBeUndefined();
});
