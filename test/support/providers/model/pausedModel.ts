/**
 * A model whose answers tests send piece by piece, in the format of chat completions. While it is not
 * paused, it answers at once, with an echo of the prompt.
 */
import type { ServerResponse } from 'node:http';
import { listen, readBody } from '../../network/listen.ts';
import type { ModelRequest } from './modelRequest.ts';

/** A request that the test answers. */
type PendingRequest = {
  prompt: string;
  say(text: string): void;
  finish(): void;
  fail(): void;
  breakOff(): void;
};

export type PausedModel = {
  baseURL: string;
  /** How many requests came. */
  requests(): number;
  /** Leaves all further requests to the test, or answers them at once. */
  pause(isPaused: boolean): void;
  /** The next request that waits, as soon as it came. */
  next(): Promise<PendingRequest>;
  close(): Promise<void>;
};

export async function startPausedModel(): Promise<PausedModel> {
  const came = [] as PendingRequest[];
  const awaited = [] as ((request: PendingRequest) => void)[];
  let isPaused = false;
  let requests = 0;
  const http = await listen(async (request, response) => {
    const { messages } = JSON.parse(await readBody(request)) as ModelRequest;
    requests += 1;
    const pending = pendingRequest(response, messages.findLast(({ role }) => role === 'user')?.content ?? '');
    if (isPaused) {
      const waiting = awaited.shift();
      if (waiting) waiting(pending);
      else came.push(pending);
      return;
    }
    pending.say(`You said: ${pending.prompt}`);
    pending.finish();
  });
  return {
    baseURL: `${http.url}/v1`,
    requests: () => requests,
    pause: (value) => void (isPaused = value),
    next: () => {
      const first = came.shift();
      return first ? Promise.resolve(first) : new Promise((resolve) => awaited.push(resolve));
    },
    close: () => http.close(),
  };
}

function pendingRequest(response: ServerResponse, prompt: string): PendingRequest {
  const send = (delta: object, finish_reason: string | null): void => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'paused' };
    response.write(
      `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  };
  return {
    prompt,
    say: (content) => send({ content }, null),
    finish: () => {
      send({}, 'stop');
      response.end('data: [DONE]\n\n');
    },
    breakOff: () => void response.destroy(),
    fail: () => void response.writeHead(400).end('{"error":{"message":"secret internals"}}'),
  };
}
