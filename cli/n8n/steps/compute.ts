/** Converts nodes that compute without effects: each becomes one code node. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import type { Draft, Items } from './items.ts';
import { type Input, type NodeContext, codeNode, optionsOf, reviewCode } from './context.ts';
import { originsAt, readsPairedItems } from './lineage.ts';
import { printPath } from '../expressions/value.ts';

const isOne = ({ input }: NodeContext): boolean => input.single !== undefined || input.sources.length === 0;

/** JavaScript for one item out of one item, which is `$json`. The number of items stays the same. */
export function computeEach(context: NodeContext, expression: string): Draft {
  reviewCode(context, [expression]);
  if (isOne(context) || context.node.executeOnce)
    return single(context, `const [$json = {}] = $in;\nreturn (${expression});`);
  return draftOf(context, `return each(($json) => (${expression}));`, [
    many(context.id, context.input.lineage),
  ]);
}

/** The body of a function that returns the data of the only item of the output. */
export function computeOne(context: NodeContext, body: string): Draft {
  reviewCode(context, [body]);
  const draft = single(context, body);
  return { ...draft, outputs: draft.outputs.map((output) => ({ ...output, isWhole: true })) };
}

/** The body of a function that returns the list of the data of the items. */
export function computeList(context: NodeContext, body: string, inputs?: readonly Input[]): Draft {
  reviewCode(context, [body]);
  return draftOf(context, body, [many(context.id, context.id)], inputs);
}

/**
 * As `computeList`, where n8n pairs items by their position if there are as many as before, or all with the
 * only item before.
 */
export function computePaired(context: NodeContext, body: string): Draft {
  const draft = computeList(context, body);
  const { input } = context;
  return {
    ...draft,
    outputs: draft.outputs.map((output, index) =>
      index > 0 ? output : { ...output, origins: originsAt(input, `paired(${input.list}, ${output.list})`) },
    ),
  };
}

/** As `computeList`, where the body returns an item for each item of the input, in the same order. */
export function computeSame(context: NodeContext, body: string): Draft {
  reviewCode(context, [body]);
  const { id, input } = context;
  return draftOf(context, body, [many(id, input.single ? '' : input.lineage || id)]);
}

/** As `computeList`, where the body returns some of the items of the input, in any order. */
export function computeSome(context: NodeContext, body: string): Draft {
  if (!readsPairedItems(context.workflow)) return computeList(context, body);
  return computeTraced(
    context,
    `const places = new Map($in.map((item, at) => [item, at]));
const items = (() => {
${body}
})();
return { items, from: items.map((item) => places.get(item)) };`,
  );
}

/** As `computeList`, where the body returns a list of items for each item of the input. */
export function computeSeveral(context: NodeContext, body: string): Draft {
  if (!readsPairedItems(context.workflow))
    return computeList(context, `const lists = await (async () => {\n${body}\n})();\nreturn lists.flat();`);
  return computeTraced(
    context,
    `const lists = await (async () => {
${body}
})();
return { items: lists.flat(), from: lists.flatMap((list, at) => list.map(() => at)) };`,
  );
}

function computeTraced(context: NodeContext, body: string): Draft {
  reviewCode(context, [body]);
  const { id, input } = context;
  const output: Items = {
    node: id,
    list: `(nodes.${id}?.data_content.items ?? [])`,
    array: `$('${id}').data_content.items`,
    when: `size(nodes.${id}.data_content.items) > 0`,
    lineage: id,
    origins: originsAt(input, `(nodes.${id}?.data_content.from ?? [])`),
  };
  return draftOf(context, body, [output]);
}

/** The body of a function that returns a list of items for each of several outputs. */
export function computeOutputs(
  context: NodeContext,
  body: string,
  count: number,
  inputs?: readonly Input[],
): Draft {
  reviewCode(context, [body]);
  const outputs = Array.from({ length: count }, (_, index): Items => {
    const at = `data_content[${index}]`;
    return {
      node: context.id,
      list: `(nodes.${context.id}?.${at} ?? [])`,
      array: `$('${context.id}').${at}`,
      when: `size(nodes.${context.id}.${at}) > 0`,
      lineage: `${context.id}/${index}`,
    };
  });
  return draftOf(context, body, outputs, inputs);
}

/**
 * Decides to which outputs each item goes. `decide`: JavaScript whose value is a list of numbers of outputs,
 * and which reads `$json`. A single item is passed on as it is.
 */
export function route(context: NodeContext, decide: string, count: number): Draft {
  if (!isOne(context))
    return readsPairedItems(context.workflow)
      ? routeList(context, decide, count)
      : computeOutputs(
          context,
          `const routes = each(($json) => ${decide});\nreturn Array.from({ length: ${count} }, (_, output) => $in.filter((_, at) => routes[at].includes(output)));`,
          count,
        );
  reviewCode(context, [decide]);
  const { id, input } = context;
  const body = `const [$json = {}] = $in;\nconst routes = ${decide};\nreturn Array.from({ length: ${count} }, (_, output) => routes.includes(output));`;
  const outputs = Array.from({ length: count }, (_, index): Items => {
    const taken = `nodes.${id}.data_content[${index}]`;
    return {
      node: id,
      list: `(nodes.${id}?.data_content[${index}] ? ${input.list} : [])`,
      ...(input.single && { single: input.single }),
      when: `${taken} == true`,
      lineage: '',
    };
  });
  return draftOf(context, body, outputs);
}

/** The lists of items of the outputs, then of their positions in the input. */
function routeList(context: NodeContext, decide: string, count: number): Draft {
  const { id, input } = context;
  const body = `const routes = each(($json) => ${decide});
const places = Array.from({ length: ${count} }, (_, output) => [...$in.keys()].filter((at) => routes[at].includes(output)));
return [...places.map((list) => list.map((at) => $in[at])), places];`;
  const draft = computeOutputs(context, body, count);
  const outputs = draft.outputs.map((output, index) =>
    index < count
      ? { ...output, origins: originsAt(input, `(nodes.${id}?.data_content[${count}][${index}] ?? [])`) }
      : output,
  );
  return { ...draft, outputs };
}

/** Passes all items on. */
export function passOn(context: NodeContext): Draft {
  const { input } = context;
  if (!input.single) return computeSame(context, 'return $in;');
  const code: WorkflowNode = {
    id: context.id,
    skill: { name: 'set', parameters: { values: { done: true } } },
  };
  const output: Items = { node: context.id, list: input.list, single: input.single, lineage: '' };
  return { nodes: [code], edges: [], entry: context.id, outputs: [output] };
}

const many = (id: string, lineage: string): Items => ({
  node: id,
  list: `(nodes.${id}?.data_content ?? [])`,
  array: `$('${id}').data_content`,
  when: `size(nodes.${id}.data_content) > 0`,
  lineage,
});

function single(context: NodeContext, body: string): Draft {
  const { id } = context;
  return draftOf(context, body, [
    {
      node: id,
      list: `(nodes.${id} ? [nodes.${id}.data_content] : [])`,
      single: (path) => printPath(`$('${id}').data_content`, path),
      lineage: '',
    },
  ]);
}

function draftOf(
  context: NodeContext,
  body: string,
  outputs: readonly Items[],
  inputs?: readonly Input[],
): Draft {
  const { id, node } = context;
  // Code has no effect, so that a repetition would fail in the same way.
  const { onError } = optionsOf(context, false);
  const code = { ...codeNode(context, id, body, inputs), ...(onError && { onError }) };
  const error: Items = {
    node: id,
    list: `(nodes.${id}?.error ? [{ error: nodes.${id}.error.message }] : [])`,
    after: 'Failure',
    lineage: '',
  };
  const regular = outputs.map((output) => (node.alwaysOutputs ? always(output) : output));
  return {
    nodes: [code],
    edges: [],
    entry: id,
    outputs: [
      ...(node.onError === 'regular' ? regular.map((output) => withError(output, id)) : regular),
      ...(node.onError === 'error' ? [error] : []),
    ],
  };
}

/** An output that has one empty item where it would have none. */
function always({ when: _when, array: _array, ...output }: Items): Items {
  const { list } = output;
  return { ...output, list: `(${list}.length > 0 ? ${list} : [{}])` };
}

function withError({ when, single: _single, array: _array, ...output }: Items, id: string): Items {
  const list = `(nodes.${id}?.error ? [{ error: nodes.${id}.error.message }] : ${output.list})`;
  return { ...output, list, ...(when !== undefined && { when: `has(nodes.${id}.error) || ${when}` }) };
}
