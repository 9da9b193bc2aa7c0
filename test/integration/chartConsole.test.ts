/** What the chart tells the gateway of the console. */
import { beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { consoleSettings, readConfig } from '../../gateway/config.ts';
import { ensureBinaries } from '../cluster/build.ts';
import { renderChart } from '../support/cluster/chart.ts';
import type { ClusterAccess } from '../support/cluster/kubectl.ts';
import { createProgress } from '../support/process/progress.ts';

type Env = { name: string; value?: string; valueFrom?: object };
type Policy = {
  kind: string;
  metadata: { name: string };
  spec: { egress: { to?: { ipBlock?: object }[] }[] };
};
type PodSpec = { containers: { env: Env[]; volumeMounts?: object[] }[]; volumes?: object[] };

const issuer = 'https://issuer.example.com/realms/main';
let access: ClusterAccess;

beforeAll(async () => {
  access = { binDir: await ensureBinaries(createProgress(process.stderr)), kubeconfigPath: '/dev/null' };
});

const render = (template: string, console: object) =>
  renderChart(access, 'windlass-system', { templates: [template], values: { console } });

async function podSpec(console: object): Promise<PodSpec> {
  const documents = parseAllDocuments(await render('gateway', console)).map((one) => one.toJS() as unknown);
  return (documents.at(-1) as { spec: { template: { spec: PodSpec } } }).spec.template.spec;
}

const environment = async (console: object) => (await podSpec(console)).containers[0]?.env ?? [];

/** What the gateway makes of what the chart gives it; what Secrets hold is here a word. */
async function settingsOf(console: object) {
  const env = await environment(console);
  const values = env.map(({ name, value }) => [name, value ?? 'from a Secret']);
  return consoleSettings(readConfig(Object.fromEntries(values) as Record<string, string>));
}

test('the console is there unless it is switched off', async () => {
  expect(await settingsOf({})).toEqual({
    dir: '/app/console',
    url: undefined,
    idleMs: 3_600_000,
    oidc: undefined,
    helpMeBuild: false,
  });
  expect(await settingsOf({ enabled: false })).toBeUndefined();
});

test('the gateway is told the address and the idle timeout of the console, and nonsense is refused', async () => {
  const given = { url: 'https://windlass.example.com/', sessions: { idleTimeout: '30m' } };
  expect(await settingsOf(given)).toMatchObject({ url: 'https://windlass.example.com', idleMs: 1_800_000 });
  for (const url of ['https://a/console', 'a.example.com', 'https://a@b'])
    await expect(render('gateway', { url })).rejects.toThrow(/url/);
  await expect(render('gateway', { sessions: { idleTimeout: 'soon' } })).rejects.toThrow(/idleTimeout/);
});

test('asking a language model for drafts is off unless a value admits it', async () => {
  expect(await settingsOf({ helpMeBuild: { enabled: true } })).toMatchObject({ helpMeBuild: true });
  await expect(render('gateway', { helpMeBuild: { enabled: 'yes' } })).rejects.toThrow(/helpMeBuild/);
});

test('the provider comes with a client, its secret by reference, scopes and a label', async () => {
  const oidc = { issuer, clientID: 'console', label: 'Sign in with Acme' };
  const scopes = ['openid', 'email', 'profile', 'offline_access'];
  expect((await settingsOf({ oidc }))?.oidc).toEqual({ ...oidc, scopes });
  const confidential = {
    ...oidc,
    clientSecretRef: { name: 'console-client', key: 'secret' },
    scopes: ['openid', 'groups'],
  };
  const env = await environment({ oidc: confidential });
  expect(env.find(({ name }) => name === 'CONSOLE_OIDC_CLIENT_SECRET')?.valueFrom).toEqual({
    secretKeyRef: { name: 'console-client', key: 'secret' },
  });
  expect((await settingsOf({ oidc: confidential }))?.oidc).toMatchObject({
    clientSecret: 'from a Secret',
    scopes: ['openid', 'groups'],
  });
  expect((await environment({ enabled: false, oidc })).map(({ name }) => name)).not.toContain(
    'CONSOLE_OIDC_ISSUER',
  );
});

test('the authority of the provider is mounted where Node reads it', async () => {
  const oidc = { issuer, clientID: 'console', caRef: { name: 'authority', key: 'root.pem' } };
  const { containers, volumes } = await podSpec({ oidc });
  const { env, volumeMounts } = containers[0] ?? { env: [] };
  const file = env.find(({ name }) => name === 'NODE_EXTRA_CA_CERTS')?.value;
  expect(volumeMounts).toEqual([
    { name: 'provider-ca', mountPath: '/etc/windlass/provider', readOnly: true },
  ]);
  expect(file).toBe('/etc/windlass/provider/ca.crt');
  expect(volumes).toEqual([
    { name: 'provider-ca', configMap: { name: 'authority', items: [{ key: 'root.pem', path: 'ca.crt' }] } },
  ]);
  expect((await podSpec({})).volumes).toBeUndefined();
});

test.each([
  ['an issuer without a client', { oidc: { issuer } }],
  ['an issuer that is no URL', { oidc: { issuer: 'issuer', clientID: 'console' } }],
  ['a client that has the name of the audience', { oidc: { issuer, clientID: 'windlass' } }],
  ['no scope for ID tokens', { oidc: { issuer, clientID: 'console', scopes: ['email'] } }],
  ['two scopes in one', { oidc: { issuer, clientID: 'console', scopes: ['openid', 'email profile'] } }],
  ['a secret that is not a reference', { oidc: { issuer, clientID: 'console', clientSecret: 'x' } }],
  ['something unknown', { on: true }],
])('%s is refused', async (_what, console) => {
  await expect(render('gateway', console)).rejects.toThrow(/console/);
});

test('the gateway reaches outside only where people sign in at a provider', async () => {
  const outside = async (console: object) => {
    const policies = parseAllDocuments(await render('network-policies', console)).map(
      (one) => one.toJS() as Policy,
    );
    const gateway = policies.find(({ metadata }) => metadata.name === 'windlass-gateway');
    return gateway?.spec.egress.some(({ to }) => to?.some(({ ipBlock }) => ipBlock !== undefined) === true);
  };
  expect(await outside({})).toBe(false);
  expect(await outside({ oidc: { issuer, clientID: 'console' } })).toBe(true);
  expect(await outside({ enabled: false, oidc: { issuer, clientID: 'console' } })).toBe(false);
});
