/**
 * Chats from the manifest and the user's Secret to what two gateways answer, each with its chart's rights.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { chatPath } from '../../../api/chat.ts';
import { sendMessage } from '../../support/gateway/chatHarness.ts';
import { refs, startWebhookHarness, type WebhookHarness } from '../../support/operator/webhookHarness.ts';

let webhooks: WebhookHarness;
beforeAll(async () => {
  webhooks = await startWebhookHarness();
}, 600_000);
afterAll(() => webhooks?.stop());

function manifest(chat: object, steps: object[], active = true): string {
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'support' } };
  return stringify({ ...object, spec: { active, budget, nodes: [{ id: 'trigger', chat }, ...steps] } });
}
const budget = { day: { tokens: 100_000 } };
const reply = { id: 'reply', response: { body: 'ok' } };

/** The statuses of a message at each replica. The answer is not awaited: nothing executes runs. */
async function statusesOf(path: string, token?: string): Promise<number[]> {
  return Promise.all(
    webhooks.gateways.map(async ({ publicURL }) => {
      const stop = new AbortController();
      const sent = { signal: stop.signal, ...(token !== undefined && { token }) };
      const { status } = await sendMessage(publicURL + path, sent);
      stop.abort();
      return status;
    }),
  );
}
const pagesOf = (path: string) =>
  Promise.all(webhooks.gateways.map(async ({ publicURL }) => (await fetch(publicURL + path)).status));

test('a chat is served everywhere as soon as its workflow is ready, to whoever has its token', async () => {
  const { harness } = webhooks;
  const namespace = await webhooks.project({ token: 's3cret' });
  const { secretRefs: tokenRefs } = refs('token');
  await harness.apply(namespace, manifest({ tokenRefs }, [reply]));
  const { metadata, status } = await webhooks.serving(namespace, 'support');
  const path = chatPath(metadata.uid ?? '');
  expect([status?.url?.endsWith(path), status?.access, status?.trigger]).toEqual([true, 'bearer', 'chat']);
  expect(await pagesOf(path)).toEqual([200, 200]);
  expect(await statusesOf(path)).toEqual([401, 401]);
  expect(await statusesOf(path, 's3cret')).toEqual([200, 200]);
  expect(await webhooks.shown()).not.toContain('s3cret');
  await harness.apply(namespace, manifest({ access: 'Public' }, [reply]));
  const opened = await harness.waitFor(namespace, 'support', { type: 'Ready', status: 'True' });
  expect(opened.status?.access).toBe('Public');
  expect(opened.status?.url).toBe(status?.url);
  expect(await statusesOf(path)).toEqual([200, 200]);
  await harness.apply(namespace, manifest({ access: 'Public' }, [reply], false));
  await harness.waitFor(namespace, 'support', { type: 'Ready', status: 'True', reason: 'Inactive' });
  expect([await pagesOf(path), await statusesOf(path)]).toEqual([
    [404, 404],
    [404, 404],
  ]);
});

test('a public chat is not served while a workflow that it starts has an agent without a daily budget', async () => {
  const { harness } = webhooks;
  const namespace = await webhooks.project({});
  const part = (name: string, nodes: object[], more: object = {}): string =>
    stringify({
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Workflow',
      metadata: { name },
      spec: { nodes: [{ id: 'trigger', manual: {} }, ...nodes], ...more },
    });
  const run = (name: string) => ({ id: 'run', workflow: { name } });
  const agent = { id: 'agent', agent: { credential: 'llm', model: 'm', prompt: 'p' } };
  await harness.apply(namespace, [part('inner', [agent]), part('outer', [run('inner')])].join('---\n'));
  await harness.apply(namespace, manifest({ access: 'Public' }, [run('outer'), reply]));
  const refused = { type: 'Valid', status: 'False', reason: 'BudgetMissing' };
  const { metadata } = await harness.waitFor(namespace, 'support', refused);
  const path = chatPath(metadata.uid ?? '');
  expect(await pagesOf(path)).toEqual([404, 404]);
  // A change of a workflow that the chat starts through another one.
  await harness.apply(namespace, part('inner', [agent], { budget }));
  await webhooks.serving(namespace, 'support');
  expect(await pagesOf(path)).toEqual([200, 200]);
  await harness.apply(namespace, part('inner', [agent]));
  await harness.waitFor(namespace, 'support', refused);
  expect(await pagesOf(path)).toEqual([404, 404]);
});

test('a chat that nothing answers is not served, and says what is missing', async () => {
  const { harness } = webhooks;
  const namespace = await webhooks.project({});
  const set = { id: 'set', skill: { name: 'set', parameters: { values: '1' } } };
  await harness.apply(namespace, manifest({ access: 'Public' }, [set]));
  const { metadata, status } = await harness.waitFor(namespace, 'support', {
    type: 'Ready',
    status: 'False',
  });
  expect(JSON.stringify(status?.conditions)).toContain('nothing answers the messages: add an agent');
  expect(await pagesOf(chatPath(metadata.uid ?? ''))).toEqual([404, 404]);
});
