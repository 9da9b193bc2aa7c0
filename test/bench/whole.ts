/**
 * The whole path as processes of this machine: operator, gateway and a runner for each project, as the image
 * has them, with the rights and accounts that the chart and the operator give them, and a real API server and
 * run store behind them.
 */
import type { WorkflowSpec } from '../../api/workflow.ts';
import { findCondition } from '../../kube/conditions.ts';
import { secrets } from '../../kube/resource.ts';
import { POOL } from '../../operator/shared/names.ts';
import { workflows } from '../../operator/shared/resources.ts';
import { GATEWAY_ACCOUNT } from '../../store/accounts.ts';
import { readCounts } from '../../runs/read.ts';
import { isUnavailable } from '../../store/connection.ts';
import { ADMISSION } from '../support/cluster/chart.ts';
import { startGateway } from '../support/gateway/gatewayProcess.ts';
import { startOperatorProgram } from '../support/operator/operatorProgram.ts';
import { startOperatorHarness, SYSTEM, type OperatorHarness } from '../support/operator/operatorHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { startRunnerProgram } from '../support/runner/runnerProgram.ts';
import { freePort } from '../support/process/freePort.ts';
import { inParallel } from './inParallel.ts';
import { createPods, type Pods } from './pods.ts';

export type Program = { name: string; pid: number; inspectPort: number; log: string[] };
export type Project = { namespace: string; uid: string };

export type Whole = Pick<OperatorHarness, 'server' | 'client' | 'conn' | 'redis'> & {
  projects: Project[];
  /** Gateway, operator, and the runner of each project. */
  programs: Program[];
  /** The addresses of all webhooks, alternately of one project and of another. */
  hooks: string[];
  /** Runs of all projects that have not ended, and that have. */
  counts: () => Promise<{ active: number; ended: number; failed: number }>;
  /** Starts the runners of all projects; done already unless they are `late`. */
  startRunners: () => Promise<void>;
  close: () => Promise<void>;
};

export type WholeOptions = {
  projects: number;
  /** Of each project. */
  workflowsEach: number;
  spec: WorkflowSpec;
  /** Done when the workflows of the project are there and no operator has seen them yet. */
  prepare?: (harness: OperatorHarness, project: Project) => Promise<void>;
  /** Runners come when `startRunners` is called. */
  lateRunners?: boolean;
  /** Further settings of the operator. */
  operatorEnv?: Record<string, string>;
};

const TEMPLATES = [...ADMISSION, 'flow-control', 'gateway', 'gateway-rbac'];
const POD = 'gateway-1';
const UNLIMITED = { requestsPerSecond: 0 };
/** Of the gateway: a sender that was delayed sends more at once than the default admits. */
const LIMITS = JSON.stringify({ perRoute: UNLIMITED, perProject: UNLIMITED });
const workflowName = (index: number) => `flow-${index}`;

/** Starts all of it; returns when every workflow is ready and every runner claims. */
export async function openWhole(options: WholeOptions): Promise<Whole> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    const harness = await startOperatorHarness({ templates: TEMPLATES });
    closers.push(() => harness.stop());
    const pods = await createPods(harness.server, harness.client);
    closers.push(() => pods.remove());
    const projects: Project[] = [];
    for (let index = 0; index < options.projects; index += 1) {
      const project = await harness.createProject();
      projects.push(project);
      await createWorkflows(harness, project, options);
      await options.prepare?.(harness, project);
    }
    const gateway = await openGateway(harness, pods);
    closers.push(() => gateway.stop());
    const operator = await openOperator(harness, pods, options.operatorEnv);
    closers.push(() => operator.stop());
    const programs = [gateway.program, operator.program];
    const startRunners = async () => {
      const runners = await Promise.all(projects.map((project) => openRunner(harness, pods, project)));
      for (const runner of runners) closers.push(() => runner.stop());
      programs.push(...runners.map(({ program }) => program));
    };
    if (!options.lateRunners) await startRunners();
    await Promise.all(projects.map((project) => untilAllReady(harness, project)));
    const { server, client, conn, redis } = harness;
    const uids = await uidsOfWorkflows(harness, projects);
    const numbers = Array.from({ length: options.workflowsEach }, (_, index) => index);
    return {
      server,
      client,
      conn,
      redis,
      projects,
      programs,
      hooks: numbers.flatMap((index) =>
        projects.map(({ namespace }) => `${gateway.url}/webhook/${namespace}.${workflowName(index)}/new`),
      ),
      counts: () => countAll(harness, uids),
      startRunners,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function createWorkflows(
  { client }: OperatorHarness,
  { namespace }: Project,
  { workflowsEach, spec }: WholeOptions,
): Promise<void> {
  await inParallel(workflowsEach, 16, async (index) => {
    await client.create(workflows, { metadata: { namespace, name: workflowName(index) }, spec });
  });
}

/**
 * The harness's fake gateway has said which pod is the ready replica; from then on the real one speaks for
 * that pod.
 */
async function openGateway(harness: OperatorHarness, pods: Pods) {
  await harness.gateway.stop();
  const [pod, password, inspectPort] = await Promise.all([
    pods.make({ namespace: SYSTEM, name: 'windlass-gateway' }),
    secretText(harness, { namespace: SYSTEM, name: 'windlass-run-store' }, 'gateway-password'),
    freePort(),
  ]);
  const gateway = await startGateway({
    kubeconfigPath: '',
    redisURL: harness.redis.url,
    pod: POD,
    namespace: SYSTEM,
    env: { LIMITS, REDIS_USERNAME: GATEWAY_ACCOUNT, REDIS_PASSWORD: password, ...pod.env },
    program: pod.program('gateway'),
    nodeArgs: inspectable(inspectPort),
  });
  const { pid, log, publicURL: url, stop } = gateway;
  return { program: { name: 'gateway', pid, inspectPort, log }, url, stop };
}

async function openOperator(harness: OperatorHarness, pods: Pods, env: Record<string, string> = {}) {
  const [pod, inspectPort] = await Promise.all([
    pods.make({ namespace: SYSTEM, name: 'windlass-operator' }),
    freePort(),
  ]);
  const operator = await startOperatorProgram({
    kubeconfigPath: '',
    redisURL: harness.redis.url,
    namespace: SYSTEM,
    env: { ...env, ...pod.env },
    program: pod.program('operator'),
    nodeArgs: inspectable(inspectPort),
  });
  const { pid, log } = operator;
  return { program: { name: 'operator', pid, inspectPort, log }, stop: () => operator.stop() };
}

/** A runner with the account and the credentials of its pool, as soon as the operator has made them. */
async function openRunner(harness: OperatorHarness, pods: Pods, { namespace, uid }: Project) {
  const pool = { namespace, name: POOL };
  const password = await pollUntil('the Secret of the pool', () => secretText(harness, pool, 'password'), {
    timeoutMs: 120_000,
  });
  const username = await secretText(harness, pool, 'username');
  // The account may come a moment after the Secret.
  const pod = await pollUntil('the account of the pool', () => pods.make(pool), { timeoutMs: 30_000 });
  const inspectPort = await freePort();
  const runner = await startRunnerProgram({
    kubeconfigPath: '',
    redisURL: harness.redis.url,
    namespace,
    project: uid,
    env: { REDIS_USERNAME: username, REDIS_PASSWORD: password, LOG_LEVEL: 'info', ...pod.env },
    program: pod.program('runner'),
    nodeArgs: inspectable(inspectPort),
  });
  const { pid, log } = runner;
  return { program: { name: `runner of ${namespace}`, pid, inspectPort, log }, stop: () => runner.stop() };
}

/**
 * With what Node uses in a container with the chart's limit, and somewhere to ask how much of its heap is in
 * use.
 */
function inspectable(port: number): string[] {
  return ['--max-old-space-size=256', `--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http'];
}

async function untilAllReady({ client }: OperatorHarness, { namespace }: Project): Promise<void> {
  const allReady = async () => {
    const { items } = await client.listAll(workflows, { namespace });
    return items.every(({ status }) => findCondition(status?.conditions, 'Ready')?.status === 'True');
  };
  await pollUntil('all workflows being ready', allReady, { timeoutMs: 600_000, everyMs: 2_000 });
}

async function uidsOfWorkflows({ client }: OperatorHarness, projects: Project[]) {
  const uids: { project: string; workflow: string }[] = [];
  for (const { namespace, uid } of projects) {
    const { items } = await client.listAll(workflows, { namespace });
    for (const { metadata } of items) uids.push({ project: uid, workflow: metadata.uid ?? '' });
  }
  return uids;
}

async function countAll({ conn }: OperatorHarness, uids: { project: string; workflow: string }[]) {
  const all = await Promise.all(uids.map(({ project, workflow }) => readCounts(conn, project, workflow)));
  const sum = { active: 0, ended: 0, failed: 0 };
  for (const counts of all) {
    if (isUnavailable(counts)) throw new Error('The run store is away.');
    sum.active += counts.active;
    sum.ended += counts.succeeded + counts.failed + counts.cancelled;
    sum.failed += counts.failed + counts.cancelled;
  }
  return sum;
}

async function secretText(
  { client }: OperatorHarness,
  ref: { namespace: string; name: string },
  key: string,
): Promise<string> {
  const { data } = await client.get(secrets, ref);
  const encoded = data?.[key];
  if (encoded === undefined) throw new Error(`The Secret ${ref.name} has no key ${key}.`);
  return Buffer.from(encoded, 'base64').toString('utf8');
}
