/** An account that is connected on a real cluster: in the browser through the gateway, at a real provider, and used by a step. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { createBrowser, signIn } from '../support/browser.ts';
import { forward } from '../support/gateway.ts';
import { applyManifest, demoNamespace } from '../support/install.ts';
import { getJson } from '../support/kubectl.ts';
import { CLIENT } from '../support/oauthProvider.ts';
import {
  apply,
  cluster,
  condition,
  createProject,
  gateway,
  kube,
  removeProject,
  runInPhase,
  send,
  workflowOf,
} from './environment.ts';

const ISSUER = `http://oauth.${demoNamespace}.svc:3000`;
const ACCOUNT = 'credentials.windlass.dev/account';

let project: string;
let provider: { url: string; close: () => void };
beforeAll(async () => {
  project = await createProject();
  await applyManifest(cluster, await providerManifest());
  const rollout = ['rollout', 'status', '-n', demoNamespace, 'deployment/oauth', '--timeout=60s'];
  await kube(rollout, { timeoutMs: 70_000 });
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
    workflowOf('who', [
      { id: 'trigger', manual: {} },
      { id: 'ask', skill: who },
    ]),
  );
});
afterAll(async () => {
  provider?.close();
  await kube(['delete', '-n', demoNamespace, 'deployment/oauth', 'service/oauth', '--wait=false']);
  await removeProject(project);
});

/** It runs from the image of the demo's servers. */
async function providerManifest(): Promise<string> {
  const path = 'jsonpath={.spec.template.spec.containers[0].image}';
  const image = await kube(['get', '-n', demoNamespace, 'deployment/model', '-o', path]);
  const metadata = { name: 'oauth', namespace: demoNamespace };
  const labels = { app: 'oauth' };
  const env = { ISSUER, PORT: '3000', REDIRECT_URI: `${gateway.publicURL}/oauth/callback` };
  const container = {
    name: 'oauth',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '/app/oauth-server.mjs'],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    readinessProbe: {
      httpGet: { path: '/.well-known/openid-configuration', port: 3000 },
      periodSeconds: 1,
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  };
  const pod = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
  };
  const template = { metadata: { labels }, spec: pod };
  const spec = { selector: { matchLabels: labels }, template };
  const ports = [{ name: 'http', port: 3000 }];
  return [
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports } },
  ]
    .map((object) => stringify(object))
    .join('---\n');
}

/** Asks for a link as somebody with the role `edit`, or without it. */
async function askLink(person: string, roles: string[]): Promise<{ status: number; text: string }> {
  await kube(['create', 'serviceaccount', person, '-n', project]);
  for (const role of roles) {
    const subject = `--serviceaccount=${project}:${person}`;
    await kube(['create', 'rolebinding', person, '-n', project, `--clusterrole=${role}`, subject]);
  }
  const token = (await kube(['create', 'token', person, '-n', project, '--audience', 'windlass'])).trim();
  const url = `${gateway.internalURL}/credentials/${project}.account/connect`;
  return send('POST', url, undefined, { authorization: `Bearer ${token}` });
}

test('whoever may edit connects an account in the browser; steps then have its access, and nobody sees a token', async () => {
  const before = await condition(project, ACCOUNT, 'Ready', { status: 'False', reason: 'NotConnected' });
  expect(before.message).toContain('connect');
  expect((await askLink('viewer', ['view'])).status).toBe(403);
  const asked = await askLink('editor', ['edit']);
  expect(asked.status).toBe(201);
  const { url } = JSON.parse(asked.text) as { url: string };
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
