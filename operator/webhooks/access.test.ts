import { expect, test } from 'vitest';
import { AUTH_SCHEMES } from '../../api/webhookAuth.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { WebhookAuth } from '../../api/trigger.ts';
import type { WorkflowNode, WorkflowSpec } from '../../api/workflow.ts';
import { authPolicyOf, callersAreVerified } from '../workflow/checks/auth.ts';
import { declaredAccess, droppedScheme, publicNote } from './access.ts';

const bearer: WebhookAuth = { bearer: { secretRefs: [{ name: 'hooks', key: 'token' }] } };
const spec = (trigger: Omit<WorkflowNode, 'id'>): WorkflowSpec => ({
  active: true,
  nodes: [{ id: 'trigger', ...trigger }],
});
const webhook = (auth?: WebhookAuth) => spec({ webhook: { path: 'orders', ...(auth && { auth }) } });

test.each([
  ['a webhook without auth', webhook(), 'Public', /^ Public: .* Add auth .*auth\.none/],
  ['a webhook that is public on purpose', webhook({ none: {} }), 'Public', /^ Public on purpose/],
  ['a webhook with auth', webhook(bearer), 'bearer', /^$/],
  ['another trigger', spec({ manual: {} }), undefined, /^$/],
])('of %s the status says who may call', (_what, spec, access, note) => {
  expect(declaredAccess(spec)).toBe(access);
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
