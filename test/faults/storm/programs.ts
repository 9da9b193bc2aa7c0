/**
 * Operators, gateways and runners of the storm: two of each, each with its own way to the API server and to
 * the run store.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { secrets } from '../../../kube/resource.ts';
import { GATEWAY_ACCOUNT } from '../../../store/accounts.ts';
import { startBalancerThread } from '../../support/network/balancer.ts';
import { freePort } from '../../support/process/freePort.ts';
import { startGatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { startOperatorProcess } from '../../support/operator/operatorProgram.ts';
import { SYSTEM, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import type { Program } from '../../support/process/program.ts';
import { startRunnerProcess } from '../../support/runner/runnerProgram.ts';
import { tokenOf, writeKubeconfig } from '../../support/cluster/users.ts';
import { keepRunning, type Kept } from './kept.ts';
import type { Link } from './link.ts';
import type { Shim } from './shim.ts';

export type OwnProgram = 'gateway' | 'operator' | 'runner';
export const OWN_PROGRAMS: readonly OwnProgram[] = ['gateway', 'operator', 'runner'];

export type Links = Record<OwnProgram, { redis: Link; apiserver: Link }>;
export type Shims = Record<OwnProgram | 'redis', Shim>;

const REPLICAS = [0, 1];
export const START_MS = 90_000;

export type Closers = { add(close: () => unknown): void; closeAll(): Promise<void> };

/** What is to be closed in the end, the last one first. */
export function createClosers(): Closers {
  const closers: (() => unknown)[] = [];
  return {
    add: (close) => void closers.push(close),
    closeAll: async () => {
      for (const close of closers.splice(0).toReversed()) await close();
    },
  };
}

export type Ways = {
  base: OperatorHarness;
  links: Links;
  shims?: Shims;
  /** The run store of each pod; default: the one of `base`, over the link of the program. */
  redisURL?: (pod: string) => string;
  /** Further environment variables of operators. */
  operatorEnv?: Record<string, string>;
  logs: string;
  closers: Closers;
};

/** How a program reaches the API server and the run store, and the library that it is started with. */
async function waysOf(
  { base, links, shims, redisURL }: Ways,
  program: OwnProgram,
  account: { namespace: string; name: string },
): Promise<{ kubeconfigPath: string; urlOf: (pod: string) => string; env: Record<string, string> }> {
  const { redis, apiserver } = links[program];
  const server = { ...base.server, url: `https://127.0.0.1:${apiserver.port}` };
  const token = await tokenOf(base.client, account.namespace, account.name);
  const kubeconfigPath = await writeKubeconfig(server, `storm-${program}-${account.namespace}`, token);
  const urlOf = redisURL ?? (() => `redis://127.0.0.1:${redis.port}`);
  return { kubeconfigPath, urlOf, env: { ...shims?.[program].env } };
}

/** Keeps a program running until the end, and writes its log then. */
export function keep({ closers, logs }: Ways, name: string, start: (log: string[]) => Program): Kept {
  const kept = keepRunning(name, start);
  closers.add(async () => {
    await kept.stop();
    await mkdir(logs, { recursive: true });
    await writeFile(join(logs, `${name}.log`), `${kept.log().join('\n')}\n`);
  });
  return kept;
}

export async function keepOperators(ways: Ways): Promise<Kept[]> {
  const account = { namespace: SYSTEM, name: 'windlass-operator' };
  const { env, urlOf, ...options } = await waysOf(ways, 'operator', account);
  return REPLICAS.map((index) => {
    const pod = `operator-${index}`;
    const all = { ...env, ...ways.operatorEnv };
    const own = { ...options, redisURL: urlOf(pod), namespace: SYSTEM, pod, env: all };
    return keep(ways, pod, (log) => startOperatorProcess({ ...own, log }));
  });
}

export async function keepGateways(
  ways: Ways,
): Promise<{ gateway: Kept[]; publicURL: string; internalURL: string }> {
  const account = { namespace: SYSTEM, name: 'windlass-gateway' };
  const { env, urlOf, ...options } = await waysOf(ways, 'gateway', account);
  const balancer = await startBalancerThread();
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
    const own = {
      ...options,
      redisURL: urlOf(pod),
      namespace: SYSTEM,
      pod,
      env: { ...env, ...login, ...ports },
    };
    gateway.push(keep(ways, pod, (log) => startGatewayProcess({ ...own, log })));
    balancer.add({ publicPort, internalURL: `http://127.0.0.1:${metricsPort}` });
    internalURL = `http://127.0.0.1:${internalPort}`;
  }
  return { gateway, publicURL: `http://127.0.0.1:${balancer.port}`, internalURL };
}

/** Starts a runner of a project. `redisURL`: another way to the run store than that of the storm. */
export type StartRunner = (options: {
  pod: string;
  log: string[];
  redisURL?: string;
  env?: Record<string, string>;
}) => Program;

/** How runners of the project start, as soon as the operator has created their account. */
export async function runnerStarter(ways: Ways, namespace: string, project: string): Promise<StartRunner> {
  const { client } = ways.base;
  const find = () => client.find(secrets, { namespace, name: 'windlass-runner' });
  const { data } = await pollUntil('the account of the runners', find, { timeoutMs: START_MS });
  const given = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString();
  const account = { namespace, name: 'windlass-runner' };
  // The operator creates the account after the Secret.
  const reach = () => waysOf(ways, 'runner', account);
  const { env, urlOf, ...options } = await pollUntil('the ways of the runners', reach, {
    timeoutMs: START_MS,
  });
  const login = { REDIS_USERNAME: given('username'), REDIS_PASSWORD: given('password') };
  return ({ pod, env: further, ...own }) => {
    const all = { ...env, ...login, ...further, POD_NAME: pod, EGRESS_ALLOW: '127.0.0.0/8' };
    return startRunnerProcess({
      ...options,
      redisURL: urlOf(pod),
      ...own,
      namespace,
      project,
      env: all,
    });
  };
}

export async function keepRunners(ways: Ways, namespace: string, project: string): Promise<Kept[]> {
  const start = await runnerStarter(ways, namespace, project);
  return REPLICAS.map((index) => {
    const pod = `runner-${index}`;
    return keep(ways, pod, (log) => start({ pod, log }));
  });
}
