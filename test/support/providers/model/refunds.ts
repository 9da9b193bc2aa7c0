/**
 * How the model of the demo handles refunds, in examples/refund-agent: it finds the order, and refunds it if
 * it is paid. A model whose name ends with `-nano` refunds without looking, so that an evaluation has
 * something to find.
 */
import type { ModelRequest, Scripted } from './modelRequest.ts';

/** The next answer to the question; neither calls nor text without an order number and both tools. */
export function refundStep({ model, messages, tools = [] }: ModelRequest): Scripted {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const order = /\bA-\d+\b/.exec(messages[at]?.content ?? '')?.[0];
  const names = tools.map(({ function: { name } }) => name);
  if (order === undefined || !names.includes('find_order') || !names.includes('refund')) return { calls: [] };
  const results = messages.slice(at).filter(({ role }) => role === 'tool');
  return model.endsWith('-nano') ? carelessStep(order, results) : carefulStep(order, results);
}

type Results = readonly { content: string | null }[];

function carefulStep(order: string, [found, refunded]: Results): Scripted {
  if (!found) return { calls: [{ name: 'find_order', arguments: JSON.stringify({ query: { id: order } }) }] };
  const paid = /"paid":\s*(\d+)/.exec(found.content ?? '')?.[1];
  if (paid === undefined)
    return { calls: [], text: `I refunded nothing, because I cannot find order ${order}.` };
  if (!refunded) return { calls: [refund(`Order ${order}: ${paid} EUR`)] };
  return { calls: [], text: `I refunded order ${order}.` };
}

function carelessStep(order: string, [refunded]: Results): Scripted {
  return refunded ? { calls: [], text: `I refunded order ${order}.` } : { calls: [refund(`Order ${order}`)] };
}

const refund = (body: string) => ({ name: 'refund', arguments: JSON.stringify({ body }) });
