/** What the model of tests and the demo answers: the same to the same prompt. */
import type { ModelRequest, Scripted, ToolCall } from './modelRequest.ts';
import { refundStep } from './refunds.ts';
import { valueFor } from './schemaValues.ts';

/**
 * Each line `call <tool> <arguments>` or `say <text>` of the prompt is one answer, in order; ` & ` separates
 * the calls of one answer. `always call …` is every answer, `say nothing` an empty one. Tools are called
 * whether they are offered or not. Without such lines the model handles refunds (`refunds.ts`).
 */
export function scriptOf(request: ModelRequest): Scripted {
  const { messages } = request;
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const prompt = messages[at]?.content ?? '';
  const answers = messages.slice(at).filter(({ role }) => role === 'assistant').length;
  const always = /^always (call .+)$/m.exec(prompt)?.[1];
  const lines = prompt.split('\n').filter((line) => /^(call|say) /.test(line));
  const line = always ?? lines[answers];
  if (line === undefined) return lines.length === 0 ? refundStep(request) : { calls: [] };
  if (line.startsWith('say ')) return { calls: [], text: line === 'say nothing' ? '' : line.slice(4) };
  return { calls: line.slice('call '.length).split(' & ').flatMap(callOf) };
}

function callOf(text: string): ToolCall[] {
  const [name = '', given = ''] = text.split(/ (.*)/s);
  return name === '' ? [] : [{ name, arguments: given }];
}

/**
 * With tools: the results of the last ones. With a schema: a value that fits it. Else a summary of the order
 * that the prompt holds, or an echo of the prompt.
 */
export function answerTo({ messages, tools, response_format: format }: ModelRequest): string {
  const results = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  if (tools && messages.some(({ role }) => role === 'tool'))
    return `Done: ${results.map(({ content }) => content).join(' ')}`;
  // Further messages of the user are about the model's answers.
  const question = messages.find(({ role }) => role === 'user')?.content ?? '';
  if (format?.type === 'json_schema') return JSON.stringify(valueFor(format.json_schema?.schema, question));
  const prompt = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const schema = /JSON Schema: (\{.*\})$/.exec(messages[0]?.content ?? '')?.[1];
  if (schema)
    return `Here it is:\n\`\`\`json\n${JSON.stringify(valueFor(JSON.parse(schema), prompt))}\n\`\`\``;
  return summaryOf(prompt) ?? `You said: ${prompt.replaceAll(/\s+/g, ' ').trim().slice(0, 400)}`;
}

type Item = { name?: string; quantity?: number; price?: number };

/**
 * A confirmation of the order that stands in the prompt as JSON: an object with `items`, or the list of them,
 * or a row with an `Item`.
 */
function summaryOf(prompt: string): string | undefined {
  const items = itemsIn(/[[{][\s\S]*[\]}]/.exec(prompt)?.[0] ?? '');
  if (!items || items.length === 0) return undefined;
  const list = items.map(({ name = 'item', quantity = 1 }) => `${quantity} × ${name}`).join(', ');
  const total = items.reduce((sum, { quantity = 1, price = 0 }) => sum + quantity * price, 0);
  const customer = /\bto ([\p{L} .'-]+?)\s*[:,\n]/u.exec(prompt)?.[1];
  const sum = total > 0 ? ` The total is ${total.toFixed(2)}.` : '';
  return `Hello${customer ? ` ${customer}` : ''}, thank you for your order of ${list}.${sum} We have it now, and will write again as soon as it is on its way to you.`;
}

function itemsIn(text: string): Item[] | undefined {
  try {
    const order = JSON.parse(text) as Item[] | { items?: Item[]; Item?: string; Quantity?: number };
    if (Array.isArray(order)) return order;
    const { items, Item: name, Quantity: quantity = 1 } = order;
    return items ?? (name === undefined ? undefined : [{ name, quantity }]);
  } catch {
    return undefined;
  }
}

/** Words in place of tokens: the same for the same prompt. */
export function usageOf({ messages }: ModelRequest, text: string): object {
  const count = (words: string): number => words.split(/\s+/).filter(Boolean).length;
  const prompt = messages.reduce((sum, { content }) => sum + count(content ?? ''), 0);
  return { prompt_tokens: prompt, completion_tokens: count(text), total_tokens: prompt + count(text) };
}
