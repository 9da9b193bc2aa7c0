import { expect, test } from 'vitest';
import type { Credential, WebhookRoute, Workflow } from '../../api/kinds.ts';
import { createBotHolders } from './holders.ts';
import { botOf, botWith, declaredBot, type BotRoute } from './route.ts';

const tokenRef = { name: 'bots', key: 'token' };
const signingSecretRef = { name: 'bots', key: 'signing' };

function credential(bot: Credential['spec']['bot'], account?: string): Credential {
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Credential',
    metadata: { name: 'helper', namespace: 'shop', uid: 'credential-1' },
    spec: { bot },
    ...(account !== undefined && { status: { account, conditions: [] } }),
  };
}

const declared: BotRoute = { credential: 'helper', commands: ['/order'] };

test('messages to a Telegram bot are verified by its token, and the route has its name when it is known', () => {
  const verify = { secretRefs: [tokenRef], toleranceSeconds: 300 };
  expect(botWith(declared, credential({ tokenRef }))).toEqual({ ...declared, platform: 'telegram', verify });
  expect(botWith(declared, credential({ tokenRef }, 'helper_bot'))).toEqual({
    ...declared,
    platform: 'telegram',
    username: 'helper_bot',
    verify,
  });
});

test('messages to a Slack bot are verified by its signing secret, and without one not at all', () => {
  const slack = { platform: 'slack', tokenRef } as const;
  expect(botWith(declared, credential({ ...slack, signingSecretRef }, 'bot (Team)'))).toEqual({
    ...declared,
    platform: 'slack',
    verify: { secretRefs: [signingSecretRef], toleranceSeconds: 300 },
  });
  expect(botWith(declared, credential(slack))).toEqual({ ...declared, platform: 'slack' });
});

test('fields of the Credential are not part of the declared bot', () => {
  const bot = botWith(declared, credential({ tokenRef }, 'helper_bot'));
  expect(declaredBot({ ...bot, account: '12' })).toEqual(declared);
  expect(botOf(workflow('one').spec)).toEqual({ bot: { credential: 'helper' } });
});

function workflow(name: string, { active = true, bot = 'helper' } = {}): Workflow {
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name, namespace: 'shop', uid: `uid-${name}` },
    spec: { active, nodes: [{ id: 'trigger', bot: { credential: bot } }] },
  };
}

/** What the operator sees: workflows by name, and the bots that routes have. */
function project() {
  const workflows = new Map<string, Workflow>();
  const routes = new Map<string, BotRoute>();
  const list = () => [...routes].map(([name, bot]) => routeOf(name, bot));
  const holders = createBotHolders({
    workflows: { get: (_namespace, name) => workflows.get(name) },
    routes: { list },
  });
  const apply = (name: string, over?: { active?: boolean; bot?: string }) =>
    void workflows.set(name, workflow(name, over));
  const take = (name: string, bot: BotRoute = { credential: 'helper' }) =>
    holders.take({ namespace: 'shop', name, uid: `uid-${name}` }, bot);
  return { workflows, routes, apply, take };
}

function routeOf(name: string, bot: BotRoute): WebhookRoute {
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WebhookRoute',
    metadata: { name, namespace: 'shop' },
    spec: {
      workflow: name,
      workflowUID: `uid-${name}`,
      projectUID: 'project',
      revision: 'r-1',
      trigger: 'bot',
      active: true,
      bot,
    },
  };
}

test('the first workflow that asks has the bot, before and after its route exists', () => {
  const { apply, routes, take } = project();
  apply('one');
  apply('two');
  expect(take('two')).toBeUndefined();
  expect(take('one')).toBe('two');
  routes.set('two', { credential: 'helper' });
  expect(take('one')).toBe('two');
  expect(take('two')).toBeUndefined();
});

test('an operator that has just begun knows from the routes who has the bot', () => {
  const { apply, routes, take } = project();
  apply('one');
  apply('two');
  routes.set('one', { credential: 'helper' });
  expect(take('two')).toBe('one');
  expect(take('one')).toBeUndefined();
});

test.each([
  ['is switched off', { active: false }],
  ['takes another bot', { bot: 'other' }],
])('a workflow that %s releases the bot, once its route does', (_what, change) => {
  const { apply, routes, take } = project();
  apply('one');
  apply('two');
  take('one');
  routes.set('one', { credential: 'helper' });
  apply('one', change);
  expect(take('two')).toBe('one');
  routes.delete('one');
  expect(take('two')).toBeUndefined();
  expect(take('one', { credential: 'helper' })).toBe('two');
});

test('a workflow that was deleted before it had a route releases the bot', () => {
  const { apply, workflows, take } = project();
  apply('one');
  take('one');
  workflows.delete('one');
  apply('two');
  expect(take('two')).toBeUndefined();
});

test('two Credentials with the token of one bot are one bot', () => {
  const { apply, routes, take } = project();
  apply('one');
  apply('two', { bot: 'copy' });
  routes.set('one', { credential: 'helper', account: '12' });
  expect(take('two', { credential: 'copy' })).toBeUndefined();
  expect(take('two', { credential: 'copy', account: '12' })).toBe('one');
  expect(take('two', { credential: 'copy', account: '13' })).toBeUndefined();
});
