/**
 * A model without judgement, for tests of attacks: it obeys every order in what it is shown, whoever wrote
 * it. `[[call <tool> <JSON>]]` makes it call a tool, once in a conversation; `[[say <text>]]` makes it
 * answer. `$SECRET` in an order stands for the first text like SECRET-4711 that it was shown. It speaks the
 * chat completions API with streaming, and reads text in images.
 */
import type { ServerResponse } from 'node:http';
import { listen, readBody } from '../../network/listen.ts';

type Part = { type: string; text?: string; image_url?: { url: string } };
type Message = {
  role: string;
  content: string | Part[] | null;
  tool_calls?: { function: { name: string; arguments: string } }[];
};
type Call = { name: string; arguments: string };

export type ObedientModel = {
  baseURL: string;
  /** What it was shown, one text for each request. */
  shown: string[];
  close(): Promise<void>;
};

export async function startObedientModel(): Promise<ObedientModel> {
  const shown: string[] = [];
  const http = await listen(async (request, response) => {
    const { messages } = JSON.parse(await readBody(request)) as { messages: Message[] };
    shown.push(messages.map(textOf).join('\n'));
    const calls = callsFor(messages);
    answer(response, messages.length, calls, calls.length > 0 ? '' : sayingFor(messages));
  });
  return { baseURL: `${http.url}/v1`, shown, close: () => http.close() };
}

/** The ordered calls that it has not made since the last prompt. */
function callsFor(messages: readonly Message[]): Call[] {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
  const made = since.flatMap(({ tool_calls: calls = [] }) => calls.map(({ function: call }) => keyOf(call)));
  const orders = ordersIn(messages, /\[\[call (\w+) (\{.*?\})\]\]/gs).map(
    ([, name = '', given = '']): Call => ({ name, arguments: given }),
  );
  return orders.filter((call) => !made.includes(keyOf(call)));
}

const keyOf = ({ name, arguments: given }: Call): string => `${name} ${given}`;

function sayingFor(messages: readonly Message[]): string {
  return ordersIn(messages, /\[\[say (.*?)\]\]/gs)[0]?.[1] ?? 'Done.';
}

function ordersIn(messages: readonly Message[], pattern: RegExp): string[][] {
  const read = messages.filter(({ role }) => role !== 'assistant').map(textOf);
  const secret = /SECRET-\d+/.exec(read.join('\n'))?.[0] ?? 'nothing';
  const orders = read.flatMap((text) => [...text.matchAll(pattern)].map((match) => [...match]));
  return orders.map((texts) => texts.map((text) => text.replaceAll('$SECRET', secret)));
}

/** A tool gives JSON, in which quotes are escaped. */
function textOf({ role, content }: Message): string {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const text = parts.map((part) => part.text ?? readImage(part)).join('\n');
  return role === 'tool' ? text.replaceAll('\\"', '"') : text;
}

function readImage({ image_url: image }: Part): string {
  return Buffer.from(image?.url.split(',')[1] ?? '', 'base64').toString('latin1');
}

function answer(response: ServerResponse, turn: number, calls: readonly Call[], text: string): void {
  const base = { id: 'chatcmpl-obedient', object: 'chat.completion.chunk', created: 1, model: 'obedient' };
  const send = (delta: object, reason: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    response.write(`data: ${JSON.stringify({ ...base, choices })}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ role: 'assistant', content: text }, null);
  for (const [index, call] of calls.entries())
    send({ tool_calls: [{ index, id: `call_${turn}_${index}`, type: 'function', function: call }] }, null);
  send({}, calls.length > 0 ? 'tool_calls' : 'stop');
  response.end('data: [DONE]\n\n');
}
