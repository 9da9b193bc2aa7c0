/**
 * Renewing what a real provider has granted: once each, whoever is killed; and what happens when the provider
 * is away or says no.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { events, leases, secrets } from '../../../kube/resource.ts';
import { credentials } from '../../../operator/shared/resources.ts';
import {
  DUE,
  grantAccounts,
  makeDue,
  type Granted,
  type Times,
} from '../../support/operator/grantedAccounts.ts';
import { startKubeApiFaults, type KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import { startOAuthProvider, type OAuthProvider } from '../../support/providers/oauth/oauthProvider.ts';
import { startOperatorProcess } from '../../support/operator/operatorProgram.ts';
import type { Program } from '../../support/process/program.ts';
import {
  startOperatorHarness,
  SYSTEM,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { writeKubeconfig } from '../../support/cluster/users.ts';
import { createWriteGate } from '../../support/operator/writeGate.ts';

const WITHIN = { timeout: 60_000, interval: 100 };
const FRESH: Times = { obtainedMs: -1_000, expiresMs: 3_600_000 };
const CROWD = Array.from({ length: 100 }, (_, at) => `account-${at}`);

let harness: OperatorHarness;
let provider: OAuthProvider;
let kube: KubeApiFaults;
const gate = createWriteGate();
const operators = new Map<string, Program>();
const EGRESS = { RUNNER_EGRESS_ALLOW: '127.0.0.0/8' };
const LEASE = { namespace: SYSTEM, name: 'windlass-operator' };

beforeAll(async () => {
  harness = await startOperatorHarness({ env: EGRESS });
  provider = await startOAuthProvider({ redirectURI: 'https://hooks.example.com/oauth/callback' });
  kube = await startKubeApiFaults({ ...harness.server.connection, auth: {} });
  const body = { kind: 'Status', code: 500, reason: 'InternalError', message: 'cut off' };
  kube.always((request) => !gate.passesKube(request), { status: 500, body });
}, 600_000);
afterAll(async () => {
  await Promise.all([...operators.values()].map((operator) => operator.stop('SIGKILL')));
  await kube?.stop();
  await provider?.close();
  await harness?.stop();
});

async function startOperator(pod: string): Promise<void> {
  const token = (await harness.connection.auth.token?.()) ?? '';
  const kubeconfigPath = await writeKubeconfig(
    { ...harness.server, url: kube.connection.server },
    pod,
    token,
  );
  const operator = startOperatorProcess({
    kubeconfigPath,
    redisURL: harness.redis.url,
    pod,
    namespace: SYSTEM,
    env: EGRESS,
  });
  operators.set(pod, operator);
}

/** Kills the one that leads, and takes its lease away, which would run out by itself. */
async function killLeader(): Promise<void> {
  const { spec } = await harness.client.get(leases, LEASE);
  const operator = operators.get(spec?.holderIdentity ?? '');
  if (!operator) throw new Error(`nobody here leads, but ${spec?.holderIdentity}`);
  await operator.stop('SIGKILL');
  await harness.client.delete(leases, LEASE);
}

async function entries(namespace: string, name: string): Promise<Record<string, string>> {
  const { data = {} } = (await harness.client.find(secrets, { namespace, name })) ?? {};
  const texts = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(value, 'base64').toString('utf8'),
  ]);
  return Object.fromEntries(texts) as Record<string, string>;
}

/** The access tokens that runners have, without what says of which connection each is. */
async function tokens(namespace: string): Promise<Record<string, string>> {
  const all = Object.entries(await entries(namespace, 'windlass-tokens'));
  return Object.fromEntries(all.filter(([key]) => !key.endsWith('_connection')));
}
const grants = async (namespace: string) =>
  Object.values(await entries(namespace, 'windlass-refresh-tokens')).map(
    (text) => JSON.parse(text) as { accessToken: string; refreshToken?: string },
  );

async function readyOf(namespace: string, name: string) {
  const { status } = await harness.client.get(credentials, { namespace, name });
  const ready = findCondition(status?.conditions, 'Ready');
  return { reason: ready?.reason, message: ready?.message, expires: status?.expires };
}

/** The reasons of the warnings there. */
async function told(namespace: string): Promise<string[]> {
  const { items } = await harness.client.list(events, { namespace });
  return items.flatMap(({ type, reason }) => (type === 'Warning' ? [reason] : [])).toSorted();
}

async function make(names: readonly string[], times: Times = DUE) {
  const project = await harness.createProject();
  const granted = await grantAccounts(harness.client, provider, project.namespace, names, times);
  return { ...project, granted };
}

const shownOf = (granted: readonly Granted[]) =>
  granted.map(({ refreshToken }) => provider.shown.get(refreshToken) ?? 0);

/** How many access tokens runners have that are new and the very ones that the operator has. */
async function renewed(namespace: string): Promise<number> {
  const own = new Set((await grants(namespace)).map(({ accessToken }) => accessToken));
  return Object.values(await tokens(namespace)).filter((token) => token !== 'the first one' && own.has(token))
    .length;
}

test('two operators renew a hundred accounts that are due at once, each once, and go on when one is killed', async () => {
  const { namespace, granted } = await make(CROWD);
  await Promise.all(['operator-a', 'operator-b'].map(startOperator));
  await expect.poll(() => renewed(namespace), WITHIN).toBe(CROWD.length);
  await expect.poll(async () => (await readyOf(namespace, 'account-7')).reason, WITHIN).toBe('Connected');
  await killLeader();
  const second = await make(['later']);
  await expect.poll(() => renewed(second.namespace), WITHIN).toBe(1);
  expect(shownOf([...granted, ...second.granted])).toEqual(Array.from({ length: CROWD.length + 1 }, () => 1));
  expect(provider.granted('refresh_token')).toBe(CROWD.length + 1);
}, 180_000);

test('killed after any of its writes, an operator is followed by one that renews nothing twice and loses nothing; before its first one, by one that says what to do', async () => {
  await Promise.all([...operators.values()].map((operator) => operator.stop()));
  const projects = await Promise.all([1, 2, 3].map(async (most) => ({ most, ...(await make(['killed'])) })));
  for (const { most, ...project } of projects) gate.arm(project, most);
  // What the provider gave is nowhere but in the memory of the one that is killed.
  const lost = await make(['lost']);
  gate.arm(lost, 0);
  await startOperator('operator-c');
  const areCutOff = () =>
    projects.every((project) => gate.isCutOff(project) || gate.writes(project).length >= 3);
  await expect.poll(areCutOff, WITHIN).toBe(true);
  await expect.poll(() => shownOf(lost.granted), WITHIN).toEqual([1]);
  await killLeader();
  expect(projects.map(({ granted }) => shownOf(granted))).toEqual([[1], [1], [1]]);
  gate.open();
  await startOperator('operator-d');
  for (const { namespace } of projects) {
    await expect.poll(() => renewed(namespace), WITHIN).toBe(1);
    await expect.poll(async () => (await readyOf(namespace, 'killed')).reason, WITHIN).toBe('Connected');
  }
  expect(projects.map(({ granted }) => shownOf(granted))).toEqual([[1], [1], [1]]);
  const readyOfLost = () => readyOf(lost.namespace, 'lost');
  await expect.poll(async () => (await readyOfLost()).reason, WITHIN).toBe('NotConnected');
  expect((await readyOfLost()).message).toMatch(/invalid_grant.*POST to/);
  expect(await tokens(lost.namespace)).toEqual({});
}, 180_000);

test('what cannot be stored is kept and stored later, and nothing is asked for meanwhile', async () => {
  const project = await make(['kept'], FRESH);
  const { namespace, granted } = project;
  await expect.poll(async () => (await readyOf(namespace, 'kept')).reason, WITHIN).toBe('Connected');
  gate.arm(project, 0);
  await Promise.all(granted.map((each) => makeDue(harness.client, namespace, each)));
  const tries = () => gate.writes(project).filter((write) => write.includes('refresh-tokens')).length;
  await expect.poll(tries, WITHIN).toBeGreaterThan(2);
  gate.open();
  await expect.poll(() => renewed(namespace), WITHIN).toBe(1);
  expect(shownOf(granted)).toEqual([1]);
}, 120_000);

test('a provider that takes the access back is believed: the token goes, and an Event says so', async () => {
  const { namespace, granted } = await make(['revoked', 'stays'], FRESH);
  await expect.poll(async () => Object.keys(await tokens(namespace)), WITHIN).toEqual(['revoked', 'stays']);
  await provider.takeBack('revoked');
  for (const each of granted.slice(0, 1)) await makeDue(harness.client, namespace, each);
  await expect.poll(async () => (await readyOf(namespace, 'revoked')).reason, WITHIN).toBe('NotConnected');
  expect((await readyOf(namespace, 'revoked')).message).toMatch(/revoked the access.*invalid_grant.*POST to/);
  expect(Object.keys(await tokens(namespace))).toEqual(['stays']);
  await expect.poll(() => told(namespace), WITHIN).toEqual(['NotConnected']);
}, 120_000);

test('while the provider is away a token is kept until its end, then the access has ended, and comes back by itself', async () => {
  provider.state.away = true;
  const { namespace } = await make(['waiting'], { obtainedMs: -3_590_000, expiresMs: 5_000 });
  await expect
    .poll(async () => (await readyOf(namespace, 'waiting')).message, WITHIN)
    .toMatch(/^Connected until \S+, but it could not be renewed/);
  expect((await readyOf(namespace, 'waiting')).reason).toBe('Expiring');
  expect(await tokens(namespace)).toEqual({ waiting: 'the first one' });
  await expect.poll(async () => (await readyOf(namespace, 'waiting')).reason, WITHIN).toBe('Expired');
  await expect.poll(() => tokens(namespace), WITHIN).toEqual({});
  await expect.poll(() => told(namespace), WITHIN).toEqual(['Expired', 'Expiring']);
  provider.state.away = false;
  await expect.poll(async () => (await readyOf(namespace, 'waiting')).reason, WITHIN).toBe('Connected');
  expect(await renewed(namespace)).toBe(1);
}, 120_000);
