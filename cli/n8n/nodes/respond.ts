/** Respond to Webhook. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { planValues } from '../steps/call.ts';
import { passOn } from '../steps/compute.ts';
import { listOf, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft, Items } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, constant, jsonValue, valueOf } from '../expressions/value.ts';

/** Headers that Windlass sets itself, or withholds. */
const WITHHELD =
  /^(?:content-length|transfer-encoding|connection|keep-alive|upgrade|trailer|te|set-cookie|strict-transport-security|nel|report-to|x-accel-.*|content-type|date|server)$/i;

function headersOf(context: NodeContext): { headers: Record<string, Value>; contentType?: string } {
  const entries = listOf(memberOf(context.parameters, 'options.responseHeaders.entries')).map((each) => {
    const { name, value } = objectOf(each);
    return [textOf(name), textOf(value)] as const;
  });
  const contentType = entries.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const kept = entries.filter(([name]) => /^[A-Za-z0-9-]+$/.test(name) && !WITHHELD.test(name));
  return {
    headers: Object.fromEntries(kept.map(([name, value]) => [name, valueOf(value)])),
    ...(contentType !== undefined && !contentType.startsWith('=') && contentType !== '' && { contentType }),
  };
}

function bodyOf(context: NodeContext): Value {
  const { parameters } = context;
  switch (textOf(parameters['respondWith'], 'firstIncomingItem')) {
    case 'json':
      return jsonValue(parameters['responseBody'] ?? '{}');
    case 'text':
      return valueOf(textOf(parameters['responseBody']));
    case 'allIncomingItems':
      return code('$in');
    case 'noData':
      return constant('');
    case 'redirect':
      return constant('');
    case 'binary':
      context.note('manual', 'a response cannot have binary data');
      return constant('');
    default:
      return valueOf('={{ $json }}');
  }
}

export function convertResponse(context: NodeContext): Draft {
  const { id, parameters } = context;
  const isRedirect = parameters['respondWith'] === 'redirect';
  const status = numberOf(memberOf(parameters, 'options.responseCode')) ?? (isRedirect ? 307 : 200);
  const { headers, contentType } = headersOf(context);
  const all = { ...headers, ...(isRedirect && { Location: valueOf(textOf(parameters['redirectURL'])) }) };
  const once: NodeContext = { ...context, node: { ...context.node, executeOnce: !context.input.single } };
  const plan = planValues(once, id, {
    body: bodyOf(context),
    ...Object.fromEntries(Object.values(all).map((value, index) => [`header${index}`, value])),
  });
  const sent = Object.fromEntries(
    Object.keys(all).map((name, index) => [name, textOf(plan.values[`header${index}`])]),
  );
  const response: NonNullable<WorkflowNode['response']> = {
    ...(status !== 200 && status >= 200 && status <= 599 && { status: Math.round(status) }),
    ...(Object.keys(sent).length > 0 && { headers: sent }),
    body: plan.values['body'] ?? '',
    ...(contentType !== undefined && { contentType }),
  };
  const output: Items = {
    node: id,
    list: context.input.list,
    ...(context.input.single && { single: context.input.single }),
    ...(context.input.array !== undefined && { array: context.input.array }),
    lineage: context.input.lineage,
  };
  return {
    nodes: [...plan.before, { id, response }],
    edges: plan.edges,
    entry: plan.entry,
    outputs: [output],
  };
}

/** Where nobody waits for a response, its node passes the items on. */
export const withoutCaller = passOn;
