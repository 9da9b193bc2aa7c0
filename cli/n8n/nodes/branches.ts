/** Nodes that decide where items go: IF, Filter, Switch, No Operation, Stop and Error. */
import { passOn, route } from '../steps/compute.ts';
import { planValues } from '../steps/call.ts';
import { listOf, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { toJavaScript, valueOf } from '../expressions/value.ts';
import { conditionsOf, oldRule, ruleConditions } from './conditions.ts';

export const convertIf = (context: NodeContext): Draft =>
  route(context, `(${conditionsOf(context.parameters)} ? [0] : [1])`, 2);

export function convertFilter(context: NodeContext): Draft {
  return route(context, `(${conditionsOf(context.parameters)} ? [0] : [1])`, 2);
}

const MAX_OUTPUTS = 32;

export function convertSwitch(context: NodeContext): Draft {
  const { node, parameters } = context;
  if (textOf(parameters['mode'], 'rules') === 'expression') {
    const count = Math.min(
      numberOf(parameters['numberOutputs']) ?? numberOf(parameters['outputsAmount']) ?? 4,
      MAX_OUTPUTS,
    );
    return route(
      context,
      `[Number(${toJavaScript(valueOf(parameters['output'] ?? 0))})]`,
      Math.max(count, 1),
    );
  }
  const isNew = node.version >= 3;
  const rules = listOf(memberOf(parameters, isNew ? 'rules.values' : 'rules.rules')).slice(0, MAX_OUTPUTS);
  const tests = rules.map((rule, index) => {
    const json = objectOf(rule);
    const test = isNew
      ? ruleConditions(json, memberOf(parameters, 'options.ignoreCase') === true)
      : oldRule(parameters, json);
    return { test, output: isNew ? index : Math.min(numberOf(json['output']) ?? index, MAX_OUTPUTS) };
  });
  const fallback = isNew ? memberOf(parameters, 'options.fallbackOutput') : parameters['fallbackOutput'];
  const extra = fallback === 'extra' ? rules.length : numberOf(fallback);
  const isExtra = extra !== undefined && extra >= 0 && extra <= MAX_OUTPUTS;
  const count = Math.max(1, ...tests.map(({ output }) => output + 1), isExtra ? extra + 1 : 1, isNew ? 1 : 4);
  const all = memberOf(parameters, 'options.allMatchingOutputs') === true;
  const matching = `[${tests.map(({ test, output }) => `${test} && [${output}]`).join(', ')}].filter(Boolean).flat()`;
  const taken = all ? matching : `${matching}.slice(0, 1)`;
  return route(
    context,
    isExtra ? `[${taken}].map((found) => (found.length > 0 ? found : [${extra}]))[0]` : taken,
    count,
  );
}

export const convertNoOp = passOn;

export function convertStopAndError(context: NodeContext): Draft {
  const { id, parameters } = context;
  const message =
    textOf(parameters['errorType']) === 'errorObject'
      ? parameters['errorObject']
      : parameters['errorMessage'];
  const plan = planValues({ ...context, node: { ...context.node, executeOnce: true } }, id, {
    message: valueOf(message || 'An error occurred!'),
  });
  const { message: said } = plan.values;
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  return {
    nodes: [
      ...plan.before,
      { id, fail: { reason: 'StopAndError', message: text.slice(0, 4096) || 'Stopped' } },
    ],
    edges: plan.edges,
    entry: plan.entry,
    outputs: [],
  };
}
