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

let harness: OAuthHarness;

beforeAll(async () => {
  harness = await startOAuthHarness();
  harness.startOperator();
}, 600_000);
afterAll(() => harness?.stop());

test('a credential that was deleted and made again while somebody signed in is not connected', async () => {
  await harness.createCredential('remade');
  const before = harness.provider.granted('authorization_code');
  const { browser, url } = await answerFor(harness, 'remade', 'ada');
  await harness.client.delete(credentials, { namespace: harness.namespace, name: 'remade' });
  await harness.createCredential('remade');
  await harness.said('remade', 'NotConnected');
  expect((await browser.open(url.href)).status).toBe(200);
  const waiting = () => harness.redisCommand('EXISTS', 'wl:connect:codes');
  await expect.poll(waiting, { timeout: 10_000 }).toEqual(['0']);
  // Whatever came of it would be there before what comes of one that is brought now.
  await harness.createCredential('behind');
  const behind = await answerFor(harness, 'behind', 'ada');
  await behind.browser.open(withParameter(behind.url, 'code', 'none'));
  const shown = async () => JSON.stringify((await harness.said('behind', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('invalid_grant');
  await expectNothing(harness, 'remade', before);
});

test('a credential that was changed while somebody signed in is not connected', async () => {
  await harness.createCredential('changed');
  const before = harness.provider.granted('authorization_code');
  const { browser, url } = await answerFor(harness, 'changed', 'ada');
  await harness.createCredential('changed', { tokenURL: 'http://127.0.0.1:1/token' });
  expect((await browser.open(url.href)).status).toBe(200);
  const shown = async () => JSON.stringify((await harness.said('changed', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('was changed while it was being connected');
  await expectNothing(harness, 'changed', before);
});

test('what has no room in the Secret is told, kept, and stored as soon as there is room', async () => {
  // With the first one that is connected the Secret is there.
  await harness.createCredential('neighbour');
  await signIn(createBrowser(), await harness.link('neighbour'), { account: 'ada' });
  await harness.said('neighbour', 'Connected');
  const { metadata } = await harness.createCredential('filler');
  const { uid = '' } = metadata;
  await harness.createCredential('full');
  const ref = { namespace: harness.namespace, name: 'windlass-refresh-tokens' };
  const taken = Object.values((await harness.client.get(secrets, ref)).data ?? {}).join('').length * 0.75;
  const data = { [uid]: Buffer.alloc(2 ** 20 - 100 - Math.ceil(taken), 'a').toString('base64') };
  await harness.client.patch(secrets, ref, { data }, { type: 'merge' });
  await signIn(createBrowser(), await harness.link('full'), { account: 'ada' });
  const shown = async () => JSON.stringify((await harness.said('full', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('could not be stored');
  await harness.client.delete(credentials, { namespace: harness.namespace, name: 'filler' });
  const { status } = await harness.said('full', 'Connected');
  expect(findCondition(status?.conditions, 'Ready')?.message).toBe('Connected.');
  expect(await harness.entries('windlass-tokens')).toHaveProperty('full');
});

test('a client whose secret is empty is told, and not shown to the provider', async () => {
  await harness.client.create(secrets, {
    metadata: { namespace: harness.namespace, name: 'empty' },
    data: { secret: '' },
  });
  const before = harness.provider.granted('authorization_code');
  await harness.createCredential('keyless', { clientSecretRef: { name: 'empty', key: 'secret' } });
  const { browser, url } = await answerFor(harness, 'keyless', 'ada');
  expect((await browser.open(url.href)).status).toBe(200);
  const shown = async () => JSON.stringify((await harness.said('keyless', 'NotConnected')).status);
  await expect.poll(shown, { timeout: 10_000 }).toContain('Secret empty has no key secret, or it is empty');
  await expectNothing(harness, 'keyless', before);
});

test('whose tokens were given to one client and its hosts, is not connected for others', async () => {
  await harness.createCredential('moved');
  await signIn(createBrowser(), await harness.link('moved'), { account: 'ada' });
  await harness.said('moved', 'Connected');
  const changes = [
    { apiURL: 'https://evil.example' },
    { imap: { username: 'ada', host: 'evil.example', tls: 'None' } },
    { clientID: 'another' },
  ];
  for (const change of changes) {
    await harness.createCredential('moved');
    await harness.said('moved', 'Connected');
    await harness.createCredential('moved', change);
    const { status } = await harness.said('moved', 'NotConnected');
    expect(findCondition(status?.conditions, 'Ready')?.message).toContain(
      'other hosts than when it was connected',
    );
    const left = Object.keys(await harness.entries('windlass-tokens'));
    expect(left.filter((key) => key.startsWith('moved'))).toEqual([]);
  }
});

test('what was given to a credential goes with it, and is taken back where the provider takes back', async () => {
  const revocationURL = `${harness.provider.issuer}/token/revocation`;
  const { metadata } = await harness.createCredential('leaver', { revocationURL });
  await signIn(createBrowser(), await harness.link('leaver'), { account: 'ada' });
  await harness.said('leaver', 'Connected');
  const { [metadata.uid ?? '']: grant = '{}' } = await harness.entries('windlass-refresh-tokens');
  const { refreshToken } = JSON.parse(grant) as { refreshToken: string };
  expect(await harness.provider.isGood(refreshToken)).toBe(true);
  await harness.client.delete(credentials, { namespace: harness.namespace, name: 'leaver' });
  await expect
    .poll(() => harness.entries('windlass-refresh-tokens'), { timeout: 10_000 })
    .not.toHaveProperty(metadata.uid ?? '');
  expect(await harness.entries('windlass-tokens')).not.toHaveProperty('leaver');
  await expect.poll(() => harness.provider.isGood(refreshToken), { timeout: 10_000 }).toBe(false);
  await harness.createCredential('leaver');
  await harness.said('leaver', 'NotConnected');
});

test('an operator that begins again takes back nothing of what the one before it has said', async () => {
  const versions = async () => {
    const { items } = await harness.client.listAll(credentials, { namespace: harness.namespace });
    return new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  };
  await harness.stopOperator();
  const before = await versions();
  harness.startOperator();
  await harness.createCredential('latest');
  await harness.said('latest', 'NotConnected');
  const after = await versions();
  // Why connecting has failed is remembered by nobody.
  const expected = new Set(['behind', 'changed', 'keyless']);
  const written = [...before].filter(([name, version]) => after.get(name) !== version);
  expect(written.filter(([name]) => !expected.has(name))).toEqual([]);
});

test('while no operator leads, what a browser brings is not used up, and counts as soon as one does', async () => {
  await harness.createCredential('patient');
  const { browser, url } = await answerFor(harness, 'patient', 'ada');
  await harness.stopOperator();
  // As if the time were over in which its key counts.
  await harness.redisCommand('DEL', 'wl:connect:key');
  const refused = await browser.open(url.href);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await harness.askLink('patient')).status).toBe(503);
  harness.startOperator();
  await expect.poll(async () => (await browser.open(url.href)).status, { timeout: 10_000 }).toBe(200);
  await harness.said('patient', 'Connected');
});

test('of all that was brought here only what five persons allowed has become a token', async () => {
  expect(harness.provider.granted('authorization_code')).toBe(5);
  const names = ['full', 'neighbour', 'patient'];
  expect(Object.keys(await harness.entries('windlass-tokens')).toSorted()).toEqual(
    names.flatMap((name) => [name, `${name}_connection`]),
  );
});
