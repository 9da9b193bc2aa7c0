/**
 * Windlass as programs of this machine, each twice and started again when it ends, with a real API server and a real run store that
 * they reach over links that can be put into trouble. No node and no kubelet: what a fault does is known to the millisecond.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { secrets } from '../../../kube/resource.ts';
import { GATEWAY_ACCOUNT } from '../../../runs/accounts.ts';
import { connectRunStore, type RunStoreConnection } from '../../../runs/connection.ts';
import { startBalancer } from '../../support/balancer.ts';
import { makeFolder } from '../../support/folder.ts';
import { freePort } from '../../support/freePort.ts';
import { startGatewayProcess } from '../../support/gatewayProcess.ts';
import { startHttpSink } from '../../support/httpSink.ts';
import { startMailServer } from '../../support/mailServer.ts';
import { startModelServer } from '../../support/modelServer.ts';
import { startOperatorProcess } from '../../support/operatorProgram.ts';
import { startOperatorStage, SYSTEM, TESTER, type OperatorStage } from '../../support/operatorStage.ts';
import { pollUntil } from '../../support/poll.ts';
import type { Program } from '../../support/program.ts';
import { startRunnerProcess } from '../../support/runnerProgram.ts';
import { createUser, tokenOf, writeKubeconfig } from '../../support/users.ts';
import type { SinkURLs } from '../effects.ts';
import { listRuns } from '../listing.ts';
import type { LoadStage } from '../stage.ts';
import { readStore, storedProject, type StoredProject } from '../store.ts';
import { projectManifest, WORKFLOWS, type SinkHosts } from '../workflows.ts';
import { keepRunning, type Kept } from './kept.ts';
import { startLink, type Link } from './link.ts';
import { buildShim, createShim, type Shim } from './shim.ts';

export type OwnProgram = 'gateway' | 'operator' | 'runner';
export const OWN_PROGRAMS: readonly OwnProgram[] = ['gateway', 'operator', 'runner'];

export type StormStage = LoadStage & {
  /** Where events go: a balancer before the gateways. */
  publicURL: string;
  base: OperatorStage;
  programs: Record<OwnProgram, Kept[]>;
  /** Each program's own way to the run store and to the API server. */
  links: Record<OwnProgram, { redis: Link; apiserver: Link }>;
  /** Left out where this machine has no C compiler. */
  shims?: Record<OwnProgram | 'redis', Shim>;
  /** To the run store itself, past all links, as an account that may do everything. */
  direct: RunStoreConnection;
  stored: StoredProject;
  remove(): Promise<void>;
};

const REPLICAS = [0, 1];
const START_MS = 90_000;

type Closers = { add(close: () => unknown): void; closeAll(): Promise<void> };

function createClosers(): Closers {
  const closers: (() => unknown)[] = [];
  return {
    add: (close) => void closers.push(close),
    closeAll: async () => {
      for (const close of closers.splice(0).toReversed()) await close();
    },
  };
}

/** Starts everything; resolves when the workflows are ready. Logs of the programs go into `logs` when it is removed. */
export async function openStormStage(logs: string): Promise<StormStage> {
  const closers = createClosers();
  try {
    return await open(closers, logs);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function open(closers: Closers, logs: string): Promise<StormStage> {
  const folder = await makeFolder('storm');
  closers.add(folder.remove);
  const shims = await createShims(folder.path);
  const redis = shims && { env: shims.redis.env };
  const options = { bounded: false, triesCredentials: true, templates: ['gateway', 'gateway-rbac'] };
  const base = await startOperatorStage({ ...options, ...(redis && { redis }) });
  closers.add(() => base.stop());
  const links = await startLinks(base, closers);
  const { hosts, urls } = await startSinks(closers);
  const { namespace: project, uid } = await base.createProject();
  const ways: Ways = { base, links, ...(shims && { shims }), logs, closers };
  const operator = await keepOperators(ways);
  const { gateway, publicURL, internalURL } = await keepGateways(ways);
  await base.apply(project, projectManifest(hosts));
  const runner = await keepRunners(ways, project, uid);
  for (const { workflow } of WORKFLOWS) {
    await base.waitFor(project, workflow, { type: 'Ready', status: 'True' }, START_MS);
  }
  const login = { username: TESTER, password: TESTER, name: 'storm' };
  const direct = connectRunStore({ url: base.redis.url, ...login });
  closers.add(() => direct.close());
  await direct.ready(AbortSignal.timeout(START_MS));
  const stored = await storedProject(base.server, project);
  return {
    name: randomBytes(3).toString('hex'),
    project,
    kubeconfigPath: base.server.kubeconfigPath,
    sinks: urls,
    store: readStore(direct, stored),
    list: async () => listRuns({ url: internalURL, token: await readerToken(base, project), project }),
    publicURL,
    base,
    programs: { gateway, operator, runner },
    links,
    ...(shims && { shims }),
    direct,
    stored,
    remove: () => closers.closeAll(),
  };
}

async function createShims(folder: string): Promise<StormStage['shims']> {
  const library = await buildShim(folder);
  if (library === undefined) return undefined;
  const shim = (name: string) => createShim(library, folder, name);
  const [redis, gateway, operator, runner] = await Promise.all(['redis', ...OWN_PROGRAMS].map(shim));
  return redis && gateway && operator && runner ? { redis, gateway, operator, runner } : undefined;
}

async function startLinks({ redis, server }: OperatorStage, closers: Closers): Promise<StormStage['links']> {
  const linkTo = async (port: number): Promise<Link> => {
    const link = await startLink(port);
    closers.add(() => link.close());
    return link;
  };
  const both = async () => ({
    redis: await linkTo(redis.port),
    apiserver: await linkTo(Number(new URL(server.url).port)),
  });
  return { gateway: await both(), operator: await both(), runner: await both() };
}

async function startSinks(closers: Closers): Promise<{ hosts: SinkHosts; urls: SinkURLs }> {
  const mail = await startMailServer();
  const model = await startModelServer({ delayMs: 20 });
  const http = await startHttpSink();
  for (const sink of [mail, model, http]) closers.add(() => sink.close());
  const at = (port: number) => `127.0.0.1:${port}`;
  return {
    hosts: { mail: at(mail.smtpPort), model: at(model.port), http: at(http.port) },
    urls: { mail: `http://${at(mail.httpPort)}`, model: `http://${at(model.port)}`, http: http.url },
  };
}

type Ways = Pick<StormStage, 'base' | 'links' | 'shims'> & { logs: string; closers: Closers };

/** How a program reaches the API server and the run store, and the library that it is started with. */
async function waysOf(
  { base, links, shims }: Ways,
  program: OwnProgram,
  account: { namespace: string; name: string },
): Promise<{ kubeconfigPath: string; redisURL: string; env: Record<string, string> }> {
  const { redis, apiserver } = links[program];
  const server = { ...base.server, url: `https://127.0.0.1:${apiserver.port}` };
  const token = await tokenOf(base.client, account.namespace, account.name);
  const kubeconfigPath = await writeKubeconfig(server, `storm-${program}`, token);
  return { kubeconfigPath, redisURL: `redis://127.0.0.1:${redis.port}`, env: { ...shims?.[program].env } };
}

function keep({ closers, logs }: Ways, name: string, start: (log: string[]) => Program): Kept {
  const kept = keepRunning(name, start);
  closers.add(async () => {
    await kept.stop();
    await mkdir(logs, { recursive: true });
    await writeFile(join(logs, `${name}.log`), `${kept.log().join('\n')}\n`);
  });
  return kept;
}

async function keepOperators(ways: Ways): Promise<Kept[]> {
  const account = { namespace: SYSTEM, name: 'windlass-operator' };
  const { env, ...options } = await waysOf(ways, 'operator', account);
  return REPLICAS.map((index) => {
    const pod = `operator-${index}`;
    return keep(ways, pod, (log) => startOperatorProcess({ ...options, namespace: SYSTEM, pod, env, log }));
  });
}

async function keepGateways(
  ways: Ways,
): Promise<{ gateway: Kept[]; publicURL: string; internalURL: string }> {
  const account = { namespace: SYSTEM, name: 'windlass-gateway' };
  const { env, ...options } = await waysOf(ways, 'gateway', account);
  const balancer = await startBalancer();
  ways.closers.add(() => balancer.close());
  const login = { REDIS_USERNAME: GATEWAY_ACCOUNT, REDIS_PASSWORD: ways.base.password };
  const gateway: Kept[] = [];
  let internalURL = '';
  for (const index of REPLICAS) {
    const pod = `gateway-${index}`;
    const [publicPort, internalPort, metricsPort] = [await freePort(), await freePort(), await freePort()];
    const ports = {
      PUBLIC_PORT: String(publicPort),
      INTERNAL_PORT: String(internalPort),
      METRICS_PORT: String(metricsPort),
    };
    const own = { ...options, namespace: SYSTEM, pod, env: { ...env, ...login, ...ports } };
    gateway.push(keep(ways, pod, (log) => startGatewayProcess({ ...own, log })));
    balancer.add({ publicPort, internalURL: `http://127.0.0.1:${metricsPort}` });
    internalURL = `http://127.0.0.1:${internalPort}`;
  }
  return { gateway, publicURL: `http://127.0.0.1:${balancer.port}`, internalURL };
}

async function keepRunners(ways: Ways, namespace: string, project: string): Promise<Kept[]> {
  const { client } = ways.base;
  const find = () => client.find(secrets, { namespace, name: 'windlass-runner' });
  const { data } = await pollUntil('the account of the runners', find, { timeoutMs: START_MS });
  const given = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString();
  const account = { namespace, name: 'windlass-runner' };
  const { env, ...options } = await waysOf(ways, 'runner', account);
  const login = { REDIS_USERNAME: given('username'), REDIS_PASSWORD: given('password') };
  return REPLICAS.map((index) => {
    const pod = `runner-${index}`;
    const own = { ...env, ...login, POD_NAME: pod, EGRESS_ALLOW: '127.0.0.0/8' };
    return keep(ways, pod, (log) => startRunnerProcess({ ...options, namespace, project, env: own, log }));
  });
}

/** Of somebody who may list the project's runs. */
async function readerToken({ client, server }: OperatorStage, namespace: string): Promise<string> {
  const rules = [{ apiGroups: ['windlass.dev'], resources: ['workflowruns'], verbs: ['get', 'list'] }];
  const user = await createUser(client, server.connection, { namespace, name: 'reader', rules });
  await user.close();
  return tokenOf(client, namespace, 'reader');
}
