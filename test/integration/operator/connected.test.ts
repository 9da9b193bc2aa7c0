/**
 * What becomes of a connection when its credential changes or goes, and when something is away or full while
 * somebody connects it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { secrets } from '../../../kube/resource.ts';
import { credentials } from '../../../operator/shared/resources.ts';
import { createBrowser, signIn } from '../../support/providers/oauth/browser.ts';
import { answerFor, expectNothing, withParameter } from '../../support/operator/connecting.ts';
import { startOAuthHarness, type OAuthHarness } from '../../support/operator/oauthHarness.ts';

let stage: OAuthHarness;

beforeAll(async () => {
  stage = await startOAuthHarness();
  stage.startOperator();
}, 600_000);
afterAll(() => stage?.stop());

test('a credential that was deleted and made again while somebody signed in is not connected', async () => {
  await stage.createCredential('remade');
  const before = stage.provider.granted('authorization_code');
  const { browser, url } = await answerFor(stage, 'remade', 'ada');
  await stage.client.delete(credentials, { namespace: stage.namespace, name: 'remade' });
  await stage.createCredential('remade');
  await stage.said('remade', 'NotConnected');
  expect((await browser.open(url.href)).status).toBe(200);
  const waiting = () => stage.redisCommand('EXISTS', 'wl:connect:codes');
  await expect.poll(waiting, { timeout: 10_000 }).toEqual(['0']);
  // Whatever came of it would be there before what comes of one that is brought now.
  await stage.createCredential('behind');
  const behind = await answerFor(stage, 'behind', 'ada');
  await behind.browser.open(withParameter(behind.url, 'code', 'none'));
  const shown = async () => JSON.stringify((await stage.said('behind', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('invalid_grant');
  await expectNothing(stage, 'remade', before);
});

test('a credential that was changed while somebody signed in is not connected', async () => {
  await stage.createCredential('changed');
  const before = stage.provider.granted('authorization_code');
  const { browser, url } = await answerFor(stage, 'changed', 'ada');
  await stage.createCredential('changed', { tokenURL: 'http://127.0.0.1:1/token' });
  expect((await browser.open(url.href)).status).toBe(200);
  const shown = async () => JSON.stringify((await stage.said('changed', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('was changed while it was being connected');
  await expectNothing(stage, 'changed', before);
});

test('what has no room in the Secret is told, kept, and stored as soon as there is room', async () => {
  // With the first one that is connected the Secret is there.
  await stage.createCredential('neighbour');
  await signIn(createBrowser(), await stage.link('neighbour'), { account: 'ada' });
  await stage.said('neighbour', 'Connected');
  const { metadata } = await stage.createCredential('filler');
  const { uid = '' } = metadata;
  await stage.createCredential('full');
  const ref = { namespace: stage.namespace, name: 'windlass-refresh-tokens' };
  const taken = Object.values((await stage.client.get(secrets, ref)).data ?? {}).join('').length * 0.75;
  const data = { [uid]: Buffer.alloc(2 ** 20 - 100 - Math.ceil(taken), 'a').toString('base64') };
  await stage.client.patch(secrets, ref, { data }, { type: 'merge' });
  await signIn(createBrowser(), await stage.link('full'), { account: 'ada' });
  const shown = async () => JSON.stringify((await stage.said('full', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('could not be stored');
  await stage.client.delete(credentials, { namespace: stage.namespace, name: 'filler' });
  const { status } = await stage.said('full', 'Connected');
  expect(findCondition(status?.conditions, 'Ready')?.message).toBe('Connected.');
  expect(await stage.entries('windlass-tokens')).toHaveProperty('full');
});

test('a client whose secret is empty is told, and not shown to the provider', async () => {
  await stage.client.create(secrets, {
    metadata: { namespace: stage.namespace, name: 'empty' },
    data: { secret: '' },
  });
  const before = stage.provider.granted('authorization_code');
  await stage.createCredential('keyless', { clientSecretRef: { name: 'empty', key: 'secret' } });
  const { browser, url } = await answerFor(stage, 'keyless', 'ada');
  expect((await browser.open(url.href)).status).toBe(200);
  const shown = async () => JSON.stringify((await stage.said('keyless', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('Secret empty has no key secret, or it is empty');
  await expectNothing(stage, 'keyless', before);
});

test('whose tokens were given to one client and its hosts, is not connected for others', async () => {
  await stage.createCredential('moved');
  await signIn(createBrowser(), await stage.link('moved'), { account: 'ada' });
  await stage.said('moved', 'Connected');
  const changes = [
    { apiURL: 'https://evil.example' },
    { imap: { username: 'ada', host: 'evil.example', tls: 'None' } },
    { clientID: 'another' },
  ];
  for (const change of changes) {
    await stage.createCredential('moved');
    await stage.said('moved', 'Connected');
    await stage.createCredential('moved', change);
    const { status } = await stage.said('moved', 'NotConnected');
    expect(findCondition(status?.conditions, 'Ready')?.message).toContain(
      'other hosts than when it was connected',
    );
    const left = Object.keys(await stage.entries('windlass-tokens'));
    expect(left.filter((key) => key.startsWith('moved'))).toEqual([]);
  }
});

test('what was given to a credential goes with it, and is taken back where the provider takes back', async () => {
  const revocationURL = `${stage.provider.issuer}/token/revocation`;
  const { metadata } = await stage.createCredential('leaver', { revocationURL });
  await signIn(createBrowser(), await stage.link('leaver'), { account: 'ada' });
  await stage.said('leaver', 'Connected');
  const { [metadata.uid ?? '']: grant = '{}' } = await stage.entries('windlass-refresh-tokens');
  const { refreshToken } = JSON.parse(grant) as { refreshToken: string };
  expect(await stage.provider.isGood(refreshToken)).toBe(true);
  await stage.client.delete(credentials, { namespace: stage.namespace, name: 'leaver' });
  await expect
    .poll(() => stage.entries('windlass-refresh-tokens'), { timeout: 10_000 })
    .not.toHaveProperty(metadata.uid ?? '');
  expect(await stage.entries('windlass-tokens')).not.toHaveProperty('leaver');
  await expect.poll(() => stage.provider.isGood(refreshToken), { timeout: 10_000 }).toBe(false);
  await stage.createCredential('leaver');
  await stage.said('leaver', 'NotConnected');
});

test('an operator that begins anew takes back nothing of what the one before it has said', async () => {
  const versions = async () => {
    const { items } = await stage.client.listAll(credentials, { namespace: stage.namespace });
    return new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  };
  await stage.stopOperator();
  const before = await versions();
  stage.startOperator();
  await stage.createCredential('latest');
  await stage.said('latest', 'NotConnected');
  const after = await versions();
  // Why connecting has failed is remembered by nobody.
  const expected = new Set(['behind', 'changed', 'keyless']);
  const written = [...before].filter(([name, version]) => after.get(name) !== version);
  expect(written.filter(([name]) => !expected.has(name))).toEqual([]);
});

test('while no operator leads, what a browser brings is not used up, and counts as soon as one does', async () => {
  await stage.createCredential('patient');
  const { browser, url } = await answerFor(stage, 'patient', 'ada');
  await stage.stopOperator();
  // As if the time were over in which its key counts.
  await stage.redisCommand('DEL', 'wl:connect:key');
  const refused = await browser.open(url.href);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await stage.askLink('patient')).status).toBe(503);
  stage.startOperator();
  await expect.poll(async () => (await browser.open(url.href)).status, { timeout: 10_000 }).toBe(200);
  await stage.said('patient', 'Connected');
});

test('of all that was brought here only what five persons allowed has become a token', async () => {
  expect(stage.provider.granted('authorization_code')).toBe(5);
  const names = ['full', 'neighbour', 'patient'];
  expect(Object.keys(await stage.entries('windlass-tokens')).toSorted()).toEqual(
    names.flatMap((name) => [name, `${name}_connection`]),
  );
});
