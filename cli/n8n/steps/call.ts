/** Converts nodes that call a skill for each of their items. */
import type { WorkflowEdge, WorkflowNode } from '../../../api/workflow.ts';
import type { Draft, Items } from './items.ts';
import { originsAt } from './lineage.ts';
import { type Input, type NodeContext, codeNode, optionsOf, referenceOf, reviewValue } from './context.ts';
import {
  type Refer,
  type Value,
  isConstant,
  printPath,
  toJavaScript,
  toReferences,
} from '../expressions/value.ts';

export type Call = {
  skill: string;
  credential?: string | undefined;
  parameters: Record<string, Value | undefined>;
  /** JavaScript for the list of items of one result, which is in the placeholder `R`. */
  items: (result: string) => string;
  /** Whether one result can be several items. */
  expands?: boolean;
  timeoutMs?: number | undefined;
};

/** A plan of how the values of a step are computed: for the one item, or for each of several. */
export type Plan = {
  before: WorkflowNode[];
  edges: WorkflowEdge[];
  /** The reference to the items to loop over; undefined for one execution. */
  forEach: string | undefined;
  values: Record<string, unknown>;
  entry: string;
};

/**
 * Plans the values of the node `id`. Values that no reference can express are computed by
 * a code node before it.
 */
export function planValues(
  context: NodeContext,
  id: string,
  values: Record<string, Value | undefined>,
): Plan {
  const { input, node } = context;
  const given = Object.entries(values).flatMap(([name, value]): [string, Value][] =>
    value ? [[name, value]] : [],
  );
  for (const [, value] of given) reviewValue(context, value);
  const isOne = input.single !== undefined || input.sources.length === 0;
  const item = isOne ? (input.single ?? (() => undefined)) : arrayItem(input);
  const refer = referenceOf(context, item);
  const direct = given.map(([name, value]) => [name, toReferences(value, refer)] as const);
  const isDirect = direct.every(([, value]) => value !== undefined) && !node.executeOnce;
  if (isDirect && (isOne || input.array !== undefined))
    return {
      before: [],
      edges: [],
      forEach: isOne ? undefined : input.array,
      values: present(direct),
      entry: id,
    };
  return computed(context, id, { given, isOne: isOne || node.executeOnce, refer });
}

const present = (
  list: readonly (readonly [string, { value: unknown } | undefined])[],
): Record<string, unknown> => Object.fromEntries(list.map(([name, each]) => [name, each?.value]));

const arrayItem = ({ array }: Input): Items['single'] =>
  array === undefined ? undefined : (path) => printPath('$item', path);

type Given = { given: readonly [string, Value][]; isOne: boolean; refer: Refer };

/** With a code node before, which computes all that is not constant. */
function computed(context: NodeContext, id: string, { given, isOne, refer }: Given): Plan {
  const before = context.newId('parameters');
  const constants = given.flatMap(([name, value]) =>
    isConstant(value) ? [[name, toReferences(value, refer)] as const] : [],
  );
  const rest = given.filter(([, value]) => !isConstant(value));
  const object = `{ ${rest.map(([name, value]) => `${name}: ${toJavaScript(value)}`).join(', ')} }`;
  const body = isOne
    ? `const [$json = {}] = $in;\nreturn ${object};`
    : `return each(($json) => (${object}));`;
  const base = isOne ? `$('${before}').data_content` : '$item';
  const code = codeNode(context, before, body);
  return {
    before: [{ ...code, displayName: `${context.node.name} (parameters)`.slice(0, 256) }],
    edges: [{ from: before, to: id }],
    forEach: isOne ? undefined : `$('${before}').data_content`,
    values: {
      ...present(constants),
      ...Object.fromEntries(rest.map(([name]) => [name, `{{ ${base}.${name} }}`])),
    },
    entry: before,
  };
}

/** The loop of a plan as a member of a node. */
export const loopOf = ({ forEach }: Plan): Partial<WorkflowNode> =>
  forEach === undefined ? {} : { forEach: { items: `{{ ${forEach} }}` } };

/** A node that calls a skill once for each item. */
export function convertCall(
  context: NodeContext,
  { skill, credential, parameters, items, expands = false, timeoutMs }: Call,
): Draft {
  const { id } = context;
  const plan = planValues(context, id, parameters);
  const isLoop = plan.forEach !== undefined;
  const call: WorkflowNode = {
    id,
    skill: { name: skill, ...(credential !== undefined && { credential }), parameters: plan.values },
    ...loopOf(plan),
    ...(timeoutMs !== undefined && {
      timeout: `${Math.min(Math.max(Math.round(timeoutMs), 1), 3_600_000)}ms`,
    }),
    ...optionsOf(context, isLoop),
  };
  const outputs = outputsOf(context, id, { isLoop, items, expands });
  return { nodes: [...plan.before, call], edges: plan.edges, entry: plan.entry, outputs };
}

type Results = { isLoop: boolean; items: Call['items']; expands?: boolean };

/** The regular output of a step, and the output of errors where the node has one. */
export function outputsOf(
  context: NodeContext,
  id: string,
  { isLoop, items, expands = false }: Results,
): Items[] {
  const { onError } = context.node;
  const base = `nodes.${id}`;
  const result = `${base}.data_content`;
  const { input } = context;
  const failed = `{ error: r.error.message }`;
  if (!isLoop) {
    const list = items(result);
    // How many items one result has is known when it is there.
    const traced = (code: string): Pick<Items, 'list' | 'lineage' | 'origins'> =>
      expands
        ? { list: code, lineage: id, origins: originsAt(input, `${code}.map(() => 0)`) }
        : { list: code, lineage: '' };
    const regular: Items = {
      node: id,
      ...traced(
        onError === 'regular'
          ? `(${base}?.error ? [{ error: ${base}.error.message }] : ${base} ? ${list} : [])`
          : `(${base} ? ${list} : [])`,
      ),
    };
    const error: Items = {
      node: id,
      list: `(${base}?.error ? [{ error: ${base}.error.message }] : [])`,
      after: 'Failure',
      lineage: '',
    };
    return onError === 'error' ? [regular, error] : [regular];
  }
  const all = `(${base}?.data_content ?? [])`;
  const isFailed = 'r?.error?.reason';
  const output = (of: string, isFiltered: boolean): Pick<Items, 'node' | 'list' | 'lineage' | 'origins'> => ({
    node: id,
    list: `${all}.flatMap((r) => ${of})`,
    ...(expands || isFiltered
      ? {
          lineage: `${id}/${of}`,
          origins: originsAt(input, `${all}.flatMap((r, at) => ${of}.map(() => at))`),
        }
      : { lineage: input.lineage }),
  });
  if (onError === 'stop') return [output(`(${items('r')})`, false)];
  if (onError === 'regular') return [output(`(${isFailed} ? [${failed}] : ${items('r')})`, false)];
  return [
    {
      ...output(`(${isFailed} ? [] : ${items('r')})`, true),
      when: `${result}.exists(r, !has(r.error))`,
    },
    {
      ...output(`(${isFailed} ? [${failed}] : [])`, true),
      when: `${result}.exists(r, has(r.error))`,
    },
  ];
}
