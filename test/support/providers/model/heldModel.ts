/**
 * A model whose answers tests send piece by piece, in the format of chat completions. A request that nobody
 * holds is answered at once, with an echo of the prompt.
 */
import type { ServerResponse } from 'node:http';
import { listen, readBody } from '../../network/listen.ts';
import type { ModelRequest } from './modelAnswers.ts';

/** A request that the test answers. */
export type HeldRequest = {
  prompt: string;
  say(text: string): void;
  finish(): void;
  fail(): void;
};

export type HeldModel = {
  baseURL: string;
  /** How many requests came. */
  requests(): number;
  /** Holds all further requests, or answers them at once. */
  hold(isHeld: boolean): void;
  /** The next held request, as soon as it came. */
  next(): Promise<HeldRequest>;
  close(): Promise<void>;
};

export async function startHeldModel(): Promise<HeldModel> {
  const came = [] as HeldRequest[];
  const awaited = [] as ((request: HeldRequest) => void)[];
  let isHeld = false;
  let requests = 0;
  const http = await listen(async (request, response) => {
    const { messages } = JSON.parse(await readBody(request)) as ModelRequest;
    requests += 1;
    const held = heldRequest(response, messages.findLast(({ role }) => role === 'user')?.content ?? '');
    if (isHeld) {
      const waiting = awaited.shift();
      if (waiting) waiting(held);
      else came.push(held);
      return;
    }
    held.say(`You said: ${held.prompt}`);
    held.finish();
  });
  return {
    baseURL: `${http.url}/v1`,
    requests: () => requests,
    hold: (value) => void (isHeld = value),
    next: () => {
      const first = came.shift();
      return first ? Promise.resolve(first) : new Promise((resolve) => awaited.push(resolve));
    },
    close: () => http.close(),
  };
}

function heldRequest(response: ServerResponse, prompt: string): HeldRequest {
  const send = (delta: object, finish_reason: string | null): void => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'held' };
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
    fail: () => void response.writeHead(400).end('{"error":{"message":"secret internals"}}'),
  };
}
