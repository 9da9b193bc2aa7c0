/**
 * The model of the benchmark of agents, and the server that their tools call, in a process of its own: both
 * answer without delay, and note when each request came and when its answer was sent. The prompt is a
 * `Script` as JSON. Streamed pieces are the time at which they are sent, so that their reader knows how late
 * it is.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listen, readBody, sendJson } from '../support/network/listen.ts';

/** What the model does in a conversation. */
export type Script = {
  /** The tool that it calls, in so many answers, so often in each. */
  tool?: string;
  answers?: number;
  calls?: number;
  /** Of each call, as JSON. Left out: none. */
  arguments?: string;
  /** The first answers are sent when so many conversations have asked. */
  together?: number;
  /** Pieces of the last answer, 10 ms apart. Left out: a word. */
  pieces?: number;
};

/** A request as it came. Times are milliseconds of this process's clock. */
export type ServedCall = { path: string; body: string; arrivedAt: number; answeredAt: number };

export type AgentsServer = {
  url: string;
  /** The requests since the last call, in the order in which they came. */
  takeCalls(): Promise<ServedCall[]>;
  stop(): Promise<void>;
};

export const MODEL_PATH = '/v1/chat/completions';
export const TOOL_PATH = '/tool';
export const PIECE_EVERY_MS = 10;
/** What a tool answers with: as much as a row of an order. */
const RESULT = { ok: true, note: 'x'.repeat(500) };

/** Milliseconds on a clock that all processes of the machine share. */
export const sharedClock = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Starts it, and resolves when it listens. */
export async function startAgentsServer(): Promise<AgentsServer> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url,
    takeCalls: async () => (await (await fetch(`${url}/calls`)).json()) as ServedCall[],
    stop: async () => {
      process.removeListener('exit', killWithUs);
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

type State = { calls: ServedCall[]; waiting: (() => void)[] };

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const arrivedAt = performance.now();
  const path = request.url ?? '';
  if (path === '/calls') return sendJson(response, 200, state.calls.splice(0));
  const body = await readBody(request);
  const call = { path, body, arrivedAt, answeredAt: Number.NaN };
  state.calls.push(call);
  if (path === MODEL_PATH) await answer(state, body, response);
  else sendJson(response, 200, RESULT);
  call.answeredAt = performance.now();
}

type Asked = { messages: { role: string; content: string | null }[] };

async function answer(state: State, body: string, response: ServerResponse): Promise<void> {
  const { messages } = JSON.parse(body) as Asked;
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const script = JSON.parse(messages[at]?.content ?? '{}') as Script;
  const given = messages.slice(at).filter(({ role }) => role === 'assistant').length;
  if (given === 0 && script.together) await together(state, script.together);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const { tool, answers = 0, pieces } = script;
  if (tool !== undefined && given < answers) return finish(response, toolCalls(tool, script, given));
  if (pieces === undefined) return finish(response, { content: 'Done.' });
  for (let piece = 0; piece < pieces; piece += 1) {
    if (piece > 0) await delay(PIECE_EVERY_MS);
    response.write(chunk({ content: `${sharedClock()} ` }));
  }
  finish(response);
}

/** Resolves when so many wait. */
function together({ waiting }: State, count: number): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length >= count) for (const go of waiting.splice(0)) go();
  });
}

function toolCalls(name: string, { calls = 1, arguments: text = '{}' }: Script, given: number): object {
  return {
    tool_calls: Array.from({ length: calls }, (_, index) => ({
      index,
      id: `call_${given}_${index}`,
      type: 'function',
      function: { name, arguments: text },
    })),
  };
}

const chunk = (delta: object, finish_reason: string | null = null, extra: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, delta, finish_reason }], ...extra })}\n\n`;

/** Sends the rest of an answer at once. */
function finish(response: ServerResponse, delta: object = {}): void {
  const reason = 'tool_calls' in delta ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  response.end(`${chunk(delta)}${chunk({}, reason, { usage })}data: [DONE]\n\n`);
}

if (import.meta.main) {
  const state: State = { calls: [], waiting: [] };
  const { url } = await listen((request, response) => serve(state, request, response));
  console.log(url);
}
