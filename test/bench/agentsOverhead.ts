/**
 * What a runner adds to the calls of an agent. The server of model and tool measures the time from the end of
 * one answer to the arrival of the next request of the same conversation, once with a runner, and once with a
 * bare client that sends the same bodies one after another. The overhead is the difference of the medians.
 */
import { Agent, request } from 'node:http';
import type { AgentsServer, Script, ServedCall } from './agentsServer.ts';
import { MODEL_PATH, TOOL_PATH } from './agentsServer.ts';
import { median, type Figure } from './report.ts';

const ROUNDS = 4;
/** Runs of each kind in a round. */
const RUNS = 8;
/** Milliseconds. */
const GOAL_MS = 3;

/** Runs an agent by the script, and returns when its run has succeeded. */
export type RunAgent = (script: Script) => Promise<void>;

/** Ten answers, nine of which call the tool: model, tool, model, tool, … */
const CYCLES: Script = { tool: 'note', answers: 9 };
/** One answer that calls the tool 20 times, and the workflow lets one call run at a time. */
const TOOLS: Script = { tool: 'note', answers: 1, calls: 20 };
/** Each of nine answers calls a workflow whose only step is a `set`. */
const CHILDREN: Script = { tool: 'sum', answers: 9, arguments: '{"input":{"order":17}}' };

/** Milliseconds from each answer to the next request, by the paths of the two. */
type Gaps = { modelToTool: number[]; toolToModel: number[]; toolToTool: number[]; modelToModel: number[] };

/** The gaps of one kind of run: with the runner, and with the bare client. */
type Compared = { script: Script; ours: Gaps; bare: Gaps };

export async function overhead(server: AgentsServer, run: RunAgent): Promise<Figure[]> {
  const cycles = compared(CYCLES);
  const tools = compared(TOOLS);
  const children = compared(CHILDREN);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const each of [cycles, tools, children]) {
      // The first round warms up.
      if (round === 1) Object.assign(each, compared(each.script));
      for (let count = 0; count < RUNS; count += 1) await compare(server, run, each);
    }
  }
  const tool = added(tools, 'toolToTool');
  const toTool = added(cycles, 'modelToTool');
  const both = toTool + added(cycles, 'toolToModel');
  const bare = median(cycles.bare.modelToTool) + median(cycles.bare.toolToModel);
  return figures({ tool, both, toTool, bare, child: added(children, 'modelToModel') });
}

function compared(script: Script): Compared {
  return { script, ours: noGaps(), bare: noGaps() };
}

/** The overhead: what the runner adds at the median. */
function added({ ours, bare }: Compared, gap: keyof Gaps): number {
  return median(ours[gap]) - median(bare[gap]);
}

/** Executes a run, and then has the bare client send what its agent sent. */
async function compare(server: AgentsServer, run: RunAgent, { script, ours, bare }: Compared) {
  await server.takeCalls();
  await run(script);
  const calls = await server.takeCalls();
  addGaps(ours, calls);
  await replay(server.url, calls);
  addGaps(bare, await server.takeCalls());
}

/** Sends the bodies one after another: to the model over a kept connection, to the tool over new ones. */
async function replay(url: string, calls: readonly ServedCall[]): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  try {
    for (const { path, body } of calls)
      await post(url + path, body, path === MODEL_PATH ? agent : new Agent({ keepAlive: false }));
  } finally {
    agent.destroy();
  }
}

function post(url: string, body: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const call = request(url, { agent, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.once('end', () => resolve(text)).once('error', reject);
    });
    call.once('error', reject);
    call.end(body);
  });
}

const noGaps = (): Gaps => ({ modelToTool: [], toolToModel: [], toolToTool: [], modelToModel: [] });

function addGaps(gaps: Gaps, calls: readonly ServedCall[]): void {
  for (const [index, { path, answeredAt }] of calls.slice(0, -1).entries()) {
    const next = calls[index + 1];
    if (!next) continue;
    const from = path === TOOL_PATH ? 'tool' : 'model';
    gaps[`${from}${next.path === TOOL_PATH ? 'ToTool' : 'ToModel'}`].push(next.arrivedAt - answeredAt);
  }
}

type Found = { tool: number; both: number; toTool: number; bare: number; child: number };

/**
 * A model call and a tool call lie between two requests to the model; a tool call alone between two calls of
 * one answer.
 */
function figures({ tool, both, toTool, bare, child }: Found): Figure[] {
  const model = both - tool;
  const goal = { at: 'most', value: GOAL_MS, of: 'value' } as const;
  return [
    { name: 'model call and tool call, bare client, p50', value: bare, unit: 'ms' },
    { name: 'model call and tool call, overhead, p50', value: both, unit: 'ms' },
    { name: 'of it from the answer to the start of its tool, p50', value: toTool, unit: 'ms' },
    { name: 'model call, overhead, p50', value: model, unit: 'ms', goal },
    { name: 'tool call, overhead, p50', value: tool, unit: 'ms', goal },
    { name: 'tool call of a workflow with a set, p50', value: child - model, unit: 'ms' },
  ];
}
