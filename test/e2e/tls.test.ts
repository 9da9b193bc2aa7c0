/**
 * TLS for an installation that runs: switched on, its certificate and authority replaced while events come,
 * and switched off.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { makeCertificates, type SecretFiles } from '../support/cluster/certificates.ts';
import {
  applyManifest,
  upgradeWindlass,
  waitForReady,
  windlassNamespace,
} from '../support/installation/install.ts';
import { getJson, readPath } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  apply,
  cluster,
  createProject,
  gateway,
  kube,
  removeProject,
  runInPhase,
  send,
  webhookURL,
  workflowOf,
} from './environment.ts';

/** The kubelet replaces mounted files once a minute, unless something of the pod changes. */
const REPLACED = { timeoutMs: 150_000, everyMs: 1_000 };
const SECRET = 'e2e-tls';
const SERVERS = ['windlass-redis', 'windlass-gateway'];

let project: string;
let files: Record<'first' | 'second', SecretFiles>;

const tls = (enabled: boolean) => ({ tls: { enabled, secretName: enabled ? SECRET : '' } });
const upgrade = (enabled: boolean) =>
  upgradeWindlass(cluster, { redis: tls(enabled), gateway: { public: tls(enabled) } });

/** Writes the Secret that both servers and all clients of Redis have, and has the kubelet mount it soon. */
async function putCertificate(name: 'first' | 'second', ca: string): Promise<void> {
  const data = { ...files[name], 'ca.crt': ca };
  const metadata = { name: SECRET, namespace: windlassNamespace };
  await applyManifest(cluster, stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: data }));
  await remount(windlassNamespace, ca);
}

const remount = (namespace: string, value: string) =>
  kube([
    'annotate',
    'pods',
    '--all',
    '-n',
    namespace,
    '--overwrite',
    `e2e/tls=${value.length}-${Date.now()}`,
  ]);

/** A call of the webhook on a connection of its own; the run that it started. */
async function call(ca: string): Promise<string> {
  const url = webhookURL(project, 'orders', 'new').replace('http:', 'https:');
  const headers = { 'content-type': 'application/json' };
  const sent = request(url, { method: 'POST', ca, agent: false, headers });
  sent.end('{}');
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await textOf(response);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text}`);
  return (JSON.parse(text) as { run: string }).run;
}

/** Who is named by the certificate that the public listener shows. */
async function shown(ca: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(gateway.publicURL).port), ca });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

type Pods = { items: { spec: { containers: { env?: { name: string; value?: string }[] }[] } }[] };

/** Where the runners of the project find the run store, each once. */
async function storesOfRunners(): Promise<(string | undefined)[]> {
  const runners = 'pods?labelSelector=app.kubernetes.io%2Fname%3Dwindlass-runner';
  const { items } = await readPath<Pods>(cluster, `/api/v1/namespaces/${project}/${runners}`);
  const urls = items.map(({ spec }) =>
    spec.containers[0]?.env?.find(({ name }) => name === 'REDIS_URL')?.value?.replace(/:.*/, ''),
  );
  return [...new Set(urls)];
}

const runnersSpeak = (scheme: 'redis' | 'rediss') =>
  pollUntil(`runners by ${scheme}`, async () => (await storesOfRunners()).join() === scheme, {
    timeoutMs: 120_000,
  });

beforeAll(async () => {
  const hosts = ['127.0.0.1', ...SERVERS.map((server) => `${server}.${windlassNamespace}.svc`)];
  files = await makeCertificates(['first', 'second'], hosts);
  project = await createProject();
  const set = { id: 'set', skill: { name: 'set', parameters: { values: { done: 'true' } } } };
  const yearly = { id: 'yearly', schedule: { cron: '0 0 1 1 *' } };
  await apply(
    project,
    workflowOf('orders', [{ id: 'trigger', webhook: { path: 'new' } }, set]),
    workflowOf('yearly', [yearly, set]),
  );
  for (const name of ['orders', 'yearly']) await waitForReady(cluster, name, project);
  await putCertificate('first', files.first['ca.crt']);
  await upgrade(true);
  await runnersSpeak('rediss');
});

afterAll(async () => {
  await upgrade(false);
  await runnersSpeak('redis');
  const answered = async () => (await send('POST', webhookURL(project, 'orders', 'new'), {})).status === 200;
  await pollUntil('webhooks without TLS', answered, { timeoutMs: 100_000 });
  await removeProject(project);
});

test('webhooks are taken over TLS, and gateway, runners and ticks reach the run store over TLS', async () => {
  const run = await pollUntil('a call', () => call(files.first['ca.crt']), { timeoutMs: 100_000 });
  await runInPhase(project, run, 'Succeeded');
  const [cronJob = ''] = (await kube(['get', 'cronjobs', '-n', project, '-o', 'name'])).trim().split('\n');
  await kube(['create', 'job', 'tick', '-n', project, `--from=${cronJob}`]);
  await kube(['wait', 'job/tick', '-n', project, '--for=condition=Complete', '--timeout=150s'], {
    timeoutMs: 170_000,
  });
  expect(await kube(['logs', '-n', project, 'job/tick'])).toContain('"msg":"run started"');
  expect(await storesOfRunners()).toEqual(['rediss']);
});

test('another certificate of another authority takes the place of the first, and no call fails meanwhile', async () => {
  const both = files.first['ca.crt'] + files.second['ca.crt'];
  await putCertificate('first', both);
  const known = async () => {
    await remount(project, both);
    const { data } = await getJson<{ data: Record<string, string> }>(
      cluster,
      'secret/windlass-runner',
      '-n',
      project,
    );
    return Buffer.from(data['ca.crt'] ?? '', 'base64').toString() === both;
  };
  await pollUntil('both authorities in the project', known, REPLACED);

  const replaced = new AbortController();
  const runs: string[] = [];
  const calling = (async () => {
    while (!replaced.signal.aborted) runs.push(await call(both));
  })();
  try {
    await putCertificate('second', both);
    await pollUntil('the second certificate', async () => (await shown(both)) === 'second', REPLACED);
    const follower = ['logs', '-n', windlassNamespace, 'statefulset/windlass-redis', '-c', 'certificate'];
    const isLoaded = async () => (await kube(follower)).split('reloaded the TLS certificate').length > 2;
    await pollUntil('Redis with the second certificate', isLoaded, REPLACED);
  } finally {
    replaced.abort();
    await calling;
  }
  expect(runs.length).toBeGreaterThan(0);
  // Runners that start now are shown the second certificate.
  await kube(['delete', 'pods', '-n', project, '-l', 'app.kubernetes.io/name=windlass-runner', '--wait']);
  const last = await call(both);
  expect((await runInPhase(project, last, 'Succeeded')).spec.workflow).toBe('orders');
}, 400_000);
