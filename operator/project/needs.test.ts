import { expect, test } from 'vitest';
import type { Credential } from '../../api/kinds.ts';
import { BOT_FINALIZER } from '../../api/bot.ts';
import { needsPool, secretsInUse } from './needs.ts';

const bot = (finalizers: string[], annotations?: Record<string, string>): Credential => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Credential',
  metadata: { namespace: 'shop', name: 'bot', finalizers, ...(annotations && { annotations }) },
  spec: { bot: { tokenRef: { name: 'telegram', key: 'token' } } },
});
const holding = <T>(...objects: T[]) => ({ list: () => objects, get: () => objects[0] });

/** A project in which nothing is left but a credential. */
function cachesOf(credential: Credential) {
  const none = holding<never>();
  const credentials = holding(credential);
  return { routes: none, workflows: none, runs: none, credentials } as unknown as Parameters<
    typeof needsPool
  >[0];
}

test('a project keeps its runners, and their right to the token, until the webhook of a bot is deleted', () => {
  const marked = cachesOf(bot([BOT_FINALIZER]));
  expect([needsPool(marked, 'shop'), secretsInUse(marked, 'shop', [])]).toEqual([true, ['telegram']]);
});

test('a requested check needs runners until it was made', () => {
  const asked = bot([], { 'windlass.dev/check': 'now' });
  const caches = cachesOf(asked);
  expect([needsPool(caches, 'shop'), secretsInUse(caches, 'shop', [])]).toEqual([true, ['telegram']]);
  const tried = cachesOf({ ...asked, status: { check: 'now', conditions: [] } });
  expect([needsPool(tried, 'shop'), secretsInUse(tried, 'shop', [])]).toEqual([false, []]);
});

test('an unused credential without a registered bot needs no runners', () => {
  const caches = cachesOf(bot(['example.com/of-somebody-else']));
  expect([needsPool(caches, 'shop'), secretsInUse(caches, 'shop', [])]).toEqual([false, []]);
});
