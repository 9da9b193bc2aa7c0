/**
 * Everything that takes an event from its caller to its effect, each as the program that it is: operator,
 * gateway, runner, with a real API server and a real run store, which they reach through a proxy. Effects are
 * HTTP calls, each with the key of its attempt.
 */
import { stringify } from 'yaml';
import { isTerminal } from '../../../api/phase.ts';
import { secrets } from '../../../kube/resource.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { GATEWAY_ACCOUNT } from '../../../store/accounts.ts';
import { startTcpProxy, type TcpProxy } from '../network/tcpProxy.ts';
import { startGateway, type GatewayProcess } from '../gateway/gatewayProcess.ts';
import { listen, readBody, sendJson } from '../network/listen.ts';
import { startOperatorProgram, type OperatorProgram } from '../operator/operatorProgram.ts';
import { startOperatorHarness, SYSTEM, TESTER, type OperatorHarness } from '../operator/operatorHarness.ts';
import { pollUntil } from '../time/poll.ts';
import { stopwatch } from '../time/stopwatch.ts';
import type { RedisOptions } from '../runStore/redis.ts';
import { replicateRedis, replicationConfig, type ReplicatedRedis } from '../runStore/sentinel.ts';
import { startRunnerProgram, type RunnerProgram } from '../runner/runnerProgram.ts';
import { tokenOf, writeKubeconfig } from '../cluster/users.ts';

export type WholeSystem = {
  harness: OperatorHarness;
  /** Between the programs and the run store, unless that has replicas. */
  proxy: TcpProxy;
  /** The replicas of the run store, and its sentinels. */
  replicated: ReplicatedRedis | undefined;
  operator: OperatorProgram;
  gateway: GatewayProcess;
  /** Of the project. */
  runner: RunnerProgram;
  namespace: string;
  uid: string;
  effects: Effects;
  /** Applies a workflow that does one effect per event, and waits until its events are accepted. */
  deploy(workflow: string): Promise<void>;
  /** Starts another runner of the project. */
  startRunner(options?: RunnerStart): Promise<RunnerProgram>;
  /** Sends an event to the workflow's webhook; with a body of its own only where that is the point. */
  send(workflow: string, key: string, body?: object): Promise<Answer>;
  /** The phases of the recorded runs, by name. */
  recorded(): Promise<Map<string, string | undefined>>;
  /** Waits until every recorded run has ended. */
  allEnded(timeoutMs: number): Promise<Map<string, string | undefined>>;
  stop(): Promise<void>;
};

type Effects = {
  /** The keys of the calls that came, in order. */
  keys: string[];
  /** No call is answered any more, until the function that it returns is called. */
  hold(): () => void;
};

export type Answer = {
  status: number;
  /** Without what the sender waited for a processor. */
  ms: number;
  retryAfter: number | undefined;
  run: string | undefined;
  problem: string | undefined;
};

type RunnerStart = { name?: string; nodeArgs?: string[]; env?: Record<string, string> };

/**
 * Starts all of it, with one project and the workflow `orders`. With `triesCredentials` its runner tries
 * accounts and registers bots; else all of that works. `replicas`: of the run store, all of which have to
 * confirm writes.
 */
export async function startWholeSystem(
  options: { redis?: Omit<RedisOptions, 'acl'>; triesCredentials?: boolean; replicas?: number } = {},
): Promise<WholeSystem> {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    const { replicas = 0, ...rest } = options;
    const account = { username: TESTER, password: TESTER };
    const redis = { ...rest.redis, ...(replicas > 0 && { config: replicationConfig([], account) }) };
    const harness = await startOperatorHarness({ ...rest, redis, bounded: false });
    closers.push(() => harness.stop());
    const proxy = await startTcpProxy(harness.redis.port);
    closers.push(() => proxy.close());
    const replicated =
      replicas > 0 ? await replicateRedis(harness.redis, replicas, { acl: harness.acl }, account) : undefined;
    closers.push(() => replicated?.stop() ?? Promise.resolve());
    const redisURL = replicated?.url(replicas) ?? `redis://127.0.0.1:${proxy.port}`;
    return await startPrograms({ harness, proxy, replicated, redisURL }, { closers, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

type Closing = { closers: (() => Promise<unknown>)[]; stop: () => Promise<void> };

async function startPrograms(
  {
    harness,
    proxy,
    replicated,
    redisURL,
  }: Pick<WholeSystem, 'harness' | 'proxy' | 'replicated'> & { redisURL: string },
  { closers, stop }: Closing,
): Promise<WholeSystem> {
  const { client, server } = harness;
  const token = await tokenOf(client, SYSTEM, 'windlass-operator');
  const kubeconfigPath = await writeKubeconfig(server, 'operator', token);
  const operator = await startOperatorProgram({ kubeconfigPath, redisURL, namespace: SYSTEM });
  closers.push(() => operator.stop());
  const gateway = await startGateway({
    kubeconfigPath: server.kubeconfigPath,
    redisURL,
    pod: 'gateway-0',
    namespace: SYSTEM,
    env: { REDIS_USERNAME: GATEWAY_ACCOUNT, REDIS_PASSWORD: harness.password },
  });
  closers.push(() => gateway.stop());
  let released = Promise.resolve();
  const effects: Effects = {
    keys: [],
    hold: () => {
      const pending = Promise.withResolvers<void>();
      released = pending.promise;
      return pending.resolve;
    },
  };
  const sink = await listen(async (request, response) => {
    await readBody(request);
    effects.keys.push(String(request.headers['idempotency-key']));
    await released;
    sendJson(response, 200, {});
  });
  closers.push(() => sink.close());
  const { namespace, uid } = await harness.createProject();

  const startRunner = async ({ name = 'runner-0', nodeArgs = [], env = {} }: RunnerStart = {}) => {
    const { data } = await client.get(secrets, { namespace, name: 'windlass-runner' });
    const given = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString();
    const token = await tokenOf(client, namespace, 'windlass-runner');
    const kubeconfigPath = await writeKubeconfig(server, name, token);
    const account = { REDIS_USERNAME: given('username'), REDIS_PASSWORD: given('password') };
    const own = { POD_NAME: name, EGRESS_ALLOW: '127.0.0.0/8', ...account, ...env };
    const options = { kubeconfigPath, redisURL, namespace, project: uid, nodeArgs };
    const runner = await startRunnerProgram({ ...options, env: own });
    closers.push(() => runner.stop('SIGKILL'));
    return runner;
  };
  const deploy = async (workflow: string) => {
    const parameters = { method: 'POST', url: `${sink.url}/${workflow}` };
    const nodes = [
      { id: 'trigger', webhook: { path: 'new' } },
      { id: 'call', skill: { name: 'http_request', parameters }, timeout: '10m' },
    ];
    const kind = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: workflow } };
    const spec = { active: true, nodes, history: { succeeded: 1_000, failed: 1_000 } };
    await harness.apply(namespace, stringify({ ...kind, spec }));
    await harness.waitFor(namespace, workflow, { type: 'Ready', status: 'True' });
  };
  const send: WholeSystem['send'] = async (workflow, key, body = { key }) => {
    const took = stopwatch();
    const answer = await fetch(`${gateway.publicURL}/webhook/${namespace}.${workflow}/new`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      signal: AbortSignal.timeout(10_000),
    });
    const { run, type } = (await answer.json()) as { run?: string; type?: string };
    const retryAfter = answer.headers.get('retry-after');
    return {
      status: answer.status,
      ms: took(),
      retryAfter: retryAfter === null ? undefined : Number(retryAfter),
      run,
      problem: type?.replace('tag:windlass.dev,2026:problem/', ''),
    };
  };
  const recorded = async () => {
    const { items } = await client.listAll(workflowRuns, { namespace });
    return new Map(items.map(({ metadata, status }) => [metadata.name, status?.phase]));
  };
  const allEnded = (timeoutMs: number) =>
    pollUntil(
      'the end of all recorded runs',
      async () => {
        const phases = await recorded();
        return [...phases.values()].every((phase) => isTerminal(phase)) && phases;
      },
      { timeoutMs, everyMs: 250 },
    );
  await deploy('orders');
  const runner = await startRunner();
  await pollUntil('an event being accepted', async () => (await send('orders', 'first')).status === 200, {
    timeoutMs: 60_000,
  });
  const isRecorded = async () => [...(await recorded()).values()].includes('Succeeded');
  await pollUntil('the end of that', isRecorded, { timeoutMs: 60_000 });
  return {
    harness,
    proxy,
    replicated,
    operator,
    gateway,
    runner,
    namespace,
    uid,
    effects,
    deploy,
    startRunner,
    send,
    recorded,
    allEnded,
    stop,
  };
}
