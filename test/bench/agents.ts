/**
 * `agents`: what a runner adds to the calls of an agent, 200 agents at the same time on one runner, and how
 * late text reaches the viewers of a chat. Runner, gateway and the servers of model and tool are processes of
 * their own; the store syncs each write to the disk before it answers.
 */
import { readFile } from 'node:fs/promises';
import type { Credential } from '../../api/kinds.ts';
import { isTerminal, type RunPhase } from '../../api/phase.ts';
import { secrets } from '../../kube/resource.ts';
import { credentialResource } from '../../runner/credentials.ts';
import { keysOf } from '../../store/keys.ts';
import {
  NAMESPACE,
  PROJECT,
  startGatewayHarness,
  type GatewayHarness,
} from '../support/gateway/gatewayHarness.ts';
import { startRunnerProgram, type RunnerProgram } from '../support/runner/runnerProgram.ts';
import { openTestProject, type TestProject } from '../support/runner/runnerProject.ts';
import { pollUntil } from '../support/time/poll.ts';
import { streamedText } from './agentsChat.ts';
import { overhead, type RunAgent } from './agentsOverhead.ts';
import { startAgentsServer, TOOL_PATH, type AgentsServer, type Script } from './agentsServer.ts';
import { inParallel } from './inParallel.ts';
import type { Figure } from './report.ts';

const AGENTS = 200;
const STEPS = 10;
const MIB = 2 ** 20;
/** What the operator tells Node, in a container with the chart's limit of 512 MiB. */
const NODE_ARGS = ['--max-old-space-size=256', '--max-semi-space-size=16', '--v8-pool-size=1'];
const MEMORY_LIMIT_MIB = 512;
/** People in a chat come from many addresses. */
const LIMITS = JSON.stringify({ chatPerAddress: { requestsPerSecond: 0 } });

const SOON = { timeoutMs: 60_000, everyMs: 25 };

type Started = { harness: GatewayHarness; server: AgentsServer; tools: object[] };

const webhook = { id: 'trigger', webhook: { path: 'ask' } };
const sum = { id: 'sum', skill: { name: 'set', parameters: { values: { total: '1.5 * 2.0' } } } };

export async function agents(): Promise<Figure[]> {
  const server = await startAgentsServer();
  try {
    const harness = await startGatewayHarness({ env: { LIMITS } });
    try {
      await putCredential(harness, server);
      const started = { harness, server, tools: [noteTool(server)] };
      return [...(await runs(started)), ...(await chats(started))];
    } finally {
      await harness.close();
    }
  } finally {
    await server.stop();
  }
}

async function putCredential({ client }: GatewayHarness, { url }: AgentsServer): Promise<void> {
  const name = 'llm';
  const openai = { baseURL: `${url}/v1`, apiKeyRef: { name, key: 'key' } };
  await client.create(secrets, { metadata: { namespace: NAMESPACE, name }, data: { key: btoa('a key') } });
  const spec: Credential['spec'] = { openai };
  await client.create(credentialResource, { metadata: { namespace: NAMESPACE, name }, spec });
}

function noteTool({ url }: AgentsServer): object {
  const parameters = { url: url + TOOL_PATH, method: 'POST', body: { order: 17 } };
  return { name: 'note', description: 'Notes an order.', skill: 'http_request', parameters };
}

async function startRunner({ harness }: Started, project: string): Promise<RunnerProgram> {
  const { api, redis } = harness;
  const { kubeconfigPath } = api;
  return startRunnerProgram({
    kubeconfigPath,
    redisURL: redis.url,
    namespace: NAMESPACE,
    project,
    env: { EGRESS_ALLOW: '127.0.0.0/8', CONCURRENCY: String(AGENTS), LOG_LEVEL: 'info' },
    nodeArgs: NODE_ARGS,
  });
}

function agentOf(tools: object[], fields: object = {}): object {
  const prompt = "{{ $('trigger').data_content.script }}";
  return { id: 'agent', agent: { credential: 'llm', model: 'm', prompt, tools, ...fields } };
}

function runnerOf({ harness: { runs } }: Started, project: TestProject, revision: string): RunAgent {
  return async (script) => {
    const run = await project.send(revision, { script: JSON.stringify(script) });
    const key = keysOf(project.uid).run(run);
    const phaseOf = async () => (await runs.command('hget', key, 'phase')) as RunPhase;
    // Rarely, and nothing else of the run: the run store answers the runner meanwhile.
    const phase = await pollUntil(`the end of run ${run}`, async () => endedIn(await phaseOf()), SOON);
    if (phase === 'Succeeded') return;
    const { message } = await project.ended(run);
    throw new Error(`run ${run} ended ${phase}: ${message}`);
  };
}

const endedIn = (phase: RunPhase): RunPhase | undefined => (isTerminal(phase) ? phase : undefined);

/** All in one runner: single calls are measured when it has executed many. */
async function runs(started: Started): Promise<Figure[]> {
  const project = await openTestProject(started.harness.runs);
  const runner = await startRunner(started, project.uid);
  try {
    const crowd = await atOnce(started, project, runner);
    const child = await project.deploy([{ id: 'trigger', manual: {} }, sum]);
    const tools = [...started.tools, { name: 'sum', description: 'Adds.', workflow: child }];
    const revision = await project.deploy([webhook, agentOf(tools, { maxParallel: 1 })]);
    return [...(await overhead(started.server, runnerOf(started, project, revision))), ...crowd];
  } finally {
    await runner.stop();
  }
}

/** The model answers none of them before all have asked. */
async function atOnce(started: Started, project: TestProject, runner: RunnerProgram): Promise<Figure[]> {
  const revision = await project.deploy([webhook, agentOf(started.tools)]);
  const run = runnerOf(started, project, revision);
  await run({ tool: 'note', answers: 1 });
  const script: Script = { tool: 'note', answers: STEPS - 1, together: AGENTS };
  const startedAt = performance.now();
  await inParallel(AGENTS, AGENTS, () => run(script));
  const seconds = (performance.now() - startedAt) / 1_000;
  return [
    { name: `${AGENTS} agents of ${STEPS} steps at the same time`, value: seconds, unit: 's' },
    { name: 'their model calls and tool calls', value: (AGENTS * (2 * STEPS - 1)) / seconds, unit: '/s' },
    {
      name: 'runner, most RSS',
      value: await mostMiB(runner.pid),
      unit: 'MiB',
      goal: { at: 'most', value: MEMORY_LIMIT_MIB, of: 'value' },
    },
  ];
}

async function mostMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024) / MIB;
}

async function chats(started: Started): Promise<Figure[]> {
  const runner = await startRunner(started, PROJECT);
  try {
    return await streamedText(started.harness, started.tools);
  } finally {
    await runner.stop();
  }
}
