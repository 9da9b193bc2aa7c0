/**
 * An account that is connected on a real cluster: in the browser through the gateway, at a real provider, and
 * used by a step.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBrowser, signIn } from '../support/providers/oauth/browser.ts';
import { askLink } from '../support/installation/connectAccount.ts';
import { startDemoServer, stopDemoServer } from '../support/installation/demoServer.ts';
import { forward } from '../support/installation/installedGateway.ts';
import { demoNamespace } from '../support/installation/install.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { CLIENT } from '../support/providers/oauth/oauthProvider.ts';
import { member, signedIn } from './console.ts';
import {
  apply,
  cluster,
  condition,
  createProject,
  gateway,
  removeProject,
  runInPhase,
  workflowOf,
} from './environment.ts';

const ISSUER = `http://oauth.${demoNamespace}.svc:3000`;
const ACCOUNT = 'credentials.windlass.dev/account';

let project: string;
let provider: { url: string; close: () => void };
beforeAll(async () => {
  project = await createProject();
  await startDemoServer(cluster, {
    name: 'oauth',
    program: 'oauth-server',
    port: 3000,
    env: { ISSUER, REDIRECT_URI: `${gateway.publicURL}/oauth/callback` },
    readyPath: '/.well-known/openid-configuration',
  });
  provider = await forward(cluster, demoNamespace, 'oauth');
  const secret = { name: 'client', key: 'secret' };
  const oauth2 = {
    // The browser is outside the cluster.
    authorizationURL: `${provider.url}/auth`,
    tokenURL: `${ISSUER}/token`,
    userinfoURL: `${ISSUER}/me`,
    issuer: ISSUER,
    clientID: CLIENT.id,
    clientSecretRef: secret,
    scopes: ['openid', 'email', 'offline_access'],
    allowedHosts: [ISSUER],
  };
  const who = { name: 'http_request', credential: 'account', parameters: { url: `${ISSUER}/me` } };
  await apply(
    project,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secret.name },
      stringData: { secret: CLIENT.secret },
    },
    {
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Credential',
      metadata: { name: 'account' },
      spec: { oauth2 },
    },
    {
      apiVersion: 'windlass.dev/v1alpha1',
      kind: 'Credential',
      metadata: { name: 'other' },
      spec: { oauth2 },
    },
    workflowOf('who', [
      { id: 'trigger', manual: {} },
      { id: 'ask', skill: who },
    ]),
  );
});
afterAll(async () => {
  provider?.close();
  await stopDemoServer(cluster, 'oauth');
  await removeProject(project);
});

const asked = () => ({ cluster, gateway, namespace: project, credential: 'account' });

test('whoever may edit connects an account in the browser; steps then have its access, and nobody sees a token', async () => {
  const before = await condition(project, ACCOUNT, 'Ready', { status: 'False', reason: 'NotConnected' });
  expect(before.message).toContain('connect');
  expect((await askLink(asked(), 'viewer', ['view'])).status).toBe(403);
  const given = await askLink(asked(), 'editor', ['edit']);
  expect(given.status).toBe(201);
  const { url } = JSON.parse(given.text) as { url: string };
  expect(url.startsWith(`${gateway.publicURL}/`)).toBe(true);
  const page = await signIn(createBrowser(), url, { account: 'ada' });
  expect([page.status, page.text]).toEqual([200, expect.stringContaining(`${project}/account`)]);
  await condition(project, ACCOUNT, 'Ready', { status: 'True' });
  const credential = await getJson<{ status: { account: string } }>(cluster, ACCOUNT, '-n', project);
  expect(credential.status.account).toBe('ada@example.com');
  const run = { apiVersion: 'windlass.dev/v1alpha1', kind: 'WorkflowRun', metadata: { name: 'asked' } };
  await apply(project, { ...run, spec: { workflow: 'who' } });
  const { status } = await runInPhase(project, 'asked', 'Succeeded');
  expect(status?.nodes?.[1]?.output?.data_content).toMatchObject({
    body: { sub: 'ada', email: 'ada@example.com' },
  });
  type Tokens = { data: Record<string, string> };
  const { data } = await getJson<Tokens>(cluster, 'secret', 'windlass-tokens', '-n', project);
  const token = Buffer.from(data['account'] ?? '', 'base64').toString();
  expect(token.length).toBeGreaterThan(20);
  expect(JSON.stringify([credential, status, page.text])).not.toContain(token);
});

test('the console connects an account in a window, and later replaces it', async () => {
  const { page, context } = await signedIn(await member(project, 'conny', 'edit'), project, 'credentials');
  await page.getByRole('button', { name: 'Open other' }).click();
  await connectAs(page, 'Connect', 'bea');
  await context.clearCookies({ name: /^_(session|interaction)/ });
  await connectAs(page, 'Reconnect', 'cleo');
  const other = await getJson<{ status: { account: string } }>(
    cluster,
    'credentials.windlass.dev/other',
    '-n',
    project,
  );
  expect(other.status.account).toBe('cleo@example.com');
});

/**
 * Signs in at the provider in the window that opens, and closes when that is done; the page tells when the
 * account is connected.
 */
async function connectAs(page: Page, word: string, account: string): Promise<void> {
  const opening = page.waitForEvent('popup');
  await page.getByRole('button', { name: word, exact: true }).click();
  const popup = await opening;
  await popup.getByRole('link').first().click();
  await popup.locator('input[name="login"]').fill(account);
  await popup.locator('input[name="password"]').fill('any');
  await popup.locator('button[type="submit"]').click();
  const closed = popup.waitForEvent('close');
  await popup.getByRole('button', { name: 'Continue' }).click();
  await closed;
  await page.getByRole('status').getByText('Connected.', { exact: true }).waitFor();
  await page.getByText(`${account}@example.com`).first().waitFor();
}
