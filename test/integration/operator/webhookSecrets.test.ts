/**
 * The secrets that verify callers change and go: nobody is refused meanwhile, and nobody is let in with what
 * is no longer good.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebhookAuth } from '../../../api/trigger.ts';
import { WEBHOOKS } from '../../../api/webhookAuth.ts';
import { secrets } from '../../../kube/resource.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import type { GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import {
  base64,
  bearer,
  manifest,
  refs,
  send,
  startWebhookHarness,
  token,
  type Sent,
  type WebhookHarness,
} from '../../support/operator/webhookHarness.ts';

let webhooks: WebhookHarness;
let harness: OperatorHarness;
let gateways: GatewayProcess[];

beforeAll(async () => {
  webhooks = await startWebhookHarness();
  ({ harness, gateways } = webhooks);
}, 600_000);
afterAll(() => webhooks?.stop());

const until = (what: string, isSo: () => Promise<boolean>) =>
  pollUntil(what, isSo, { timeoutMs: 10_000, everyMs: 25 });

/** Sends without a pause until the work is done; the answers that were not 200. */
async function refusedDuring(id: string, sent: Sent, work: () => Promise<unknown>): Promise<number[]> {
  const done = new AbortController();
  const refused: number[] = [];
  const sending = gateways.map(async (gateway) => {
    while (!done.signal.aborted) {
      const { status } = await send(gateway, id, sent);
      if (status !== 200) refused.push(status);
    }
  });
  await work().finally(() => done.abort());
  await Promise.all(sending);
  return refused;
}

test('secrets are rotated without one refusal, and the old one is refused everywhere once that is ready', async () => {
  const namespace = await webhooks.project({ old: 'old-token', new: 'new-token' });
  const id = `${namespace}.rotated`;
  const change = async (...keys: string[]) => {
    await harness.apply(namespace, manifest('rotated', bearer(...keys)));
    await webhooks.serving(namespace, 'rotated');
  };
  await change('old');
  expect(await webhooks.statuses(id, token('new-token'))).toEqual([401, 401]);
  expect(await refusedDuring(id, token('old-token'), () => change('old', 'new'))).toEqual([]);
  expect(await webhooks.statuses(id, token('new-token'))).toEqual([200, 200]);
  expect(await refusedDuring(id, token('new-token'), () => change('new'))).toEqual([]);
  expect(await webhooks.statuses(id, token('old-token'))).toEqual([401, 401]);
  await until('one entry being left', async () => (await webhooks.entriesIn(namespace))?.length === 1);
});

test('a value that was changed in place is taken up when the workflow is touched', async () => {
  const namespace = await webhooks.project({ token: 'before' });
  const id = `${namespace}.touched`;
  await harness.apply(namespace, manifest('touched', bearer('token')));
  await webhooks.serving(namespace, 'touched');
  await webhooks.putSecret(namespace, { token: 'after' });
  await kubectl(harness.server, [
    '-n',
    namespace,
    'annotate',
    'workflows.windlass.dev',
    'touched',
    'example.com/looked=1',
  ]);
  await until('the new value being taken up', async () => {
    const answers = await webhooks.statuses(id, token('after'));
    return answers.every((status) => status === 200);
  });
  expect(await webhooks.statuses(id, token('before'))).toEqual([401, 401]);
});

test('once auth is asked for and ready, and once another scheme is, nobody is let in as before', async () => {
  const namespace = await webhooks.project({ token: 's3cret' });
  const id = `${namespace}.edited`;
  const become = async (auth?: WebhookAuth) => {
    await harness.apply(namespace, manifest('edited', auth));
    await webhooks.serving(namespace, 'edited');
  };
  await become();
  for (let round = 0; round < 5; round += 1) {
    await become(bearer('token'));
    expect(await webhooks.statuses(id)).toEqual([401, 401]);
    await become({ github: refs('token') });
    expect(await webhooks.statuses(id, token('s3cret'))).toEqual([401, 401]);
    await become();
    expect(await webhooks.statuses(id)).toEqual([200, 200]);
    expect(await webhooks.entriesIn(namespace)).toBeUndefined();
  }
});

test('what is gone is taken out: a secret of the user, a workflow, the last one of a project', async () => {
  const namespace = await webhooks.project({ token: 's3cret' });
  const uids: string[] = [];
  for (const name of ['one', 'two']) {
    await harness.apply(namespace, manifest(name, bearer('token')));
    uids.push((await webhooks.serving(namespace, name)).metadata.uid ?? '');
  }
  expect(await webhooks.entriesIn(namespace)).toEqual(uids.toSorted());
  await harness.client.delete(workflows, { namespace, name: 'one' });
  await until('its entry being gone', async () => (await webhooks.entriesIn(namespace))?.join() === uids[1]);
  expect(await webhooks.statuses(`${namespace}.two`, token('s3cret'))).toEqual([200, 200]);

  await harness.client.delete(secrets, { namespace, name: 'hooks' });
  // It reads all Secrets when it starts, and otherwise every five minutes.
  await harness.stopOperator();
  harness.startOperator();
  await harness.waitFor(namespace, 'two', {
    type: 'CredentialsReady',
    status: 'False',
    reason: 'SecretMissing',
  });
  await harness.waitFor(namespace, 'two', { type: 'Routed', status: 'True' });
  expect(await webhooks.statuses(`${namespace}.two`, token('s3cret'))).toEqual([503, 503]);
  expect(await webhooks.entriesIn(namespace)).toBeUndefined();
});

test('a project that spoils its own Secret closes nobody else', async () => {
  const namespace = await webhooks.project({ token: 's3cret' });
  await harness.apply(namespace, manifest('spoiled', bearer('token')));
  await webhooks.serving(namespace, 'spoiled');
  await harness.client.delete(secrets, { namespace, name: WEBHOOKS });
  // What gateways hold they go on with, and the operator puts back what is missing as soon as it checks.
  expect(await webhooks.statuses(`${namespace}.spoiled`, token('s3cret'))).toEqual([200, 200]);
  await harness.stopOperator();
  harness.startOperator();
  await until('the Secret being put back', async () => (await webhooks.entriesIn(namespace))?.length === 1);
  await webhooks.serving(namespace, 'spoiled');
});

test('nothing of a secret is in a log or in a route', async () => {
  const shown = await webhooks.shown();
  for (const secret of ['s3cret', 'old-token', 'new-token'])
    for (const form of [secret, base64(secret)]) expect(shown).not.toContain(form);
});
