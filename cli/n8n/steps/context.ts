/** What the conversion of one node can see: its input, the nodes before it, and the names that it may use. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { type Access, namedNodes, unsupportedIn } from '../expressions/expression.ts';
import type { Json } from '../model/json.ts';
import type { Items } from './items.ts';
import type { N8nNode, N8nWorkflow } from '../model/n8n.ts';
import type { State } from '../report/reports.ts';
import { joinOrigins } from './lineage.ts';
import { withShim } from '../shim/shim.ts';
import { type Value, codesOf } from '../expressions/value.ts';

/** The joined items of all connections into one input. */
export type Input = Pick<Items, 'list' | 'single' | 'array' | 'lineage' | 'origins' | 'isWhole'> & {
  sources: readonly Items[];
};

export type NodeContext = {
  node: N8nNode;
  workflow: N8nWorkflow;
  /** The parameters, with resource locators replaced by their values. */
  parameters: Json;
  id: string;
  /** An ID for another node, such as `<id>_parameters`. */
  newId: (suffix: string) => string;
  inputs: readonly Input[];
  input: Input;
  /** The items of a node that comes before. */
  find: (name: string) => Items | undefined;
  /** The sub-nodes that are connected to the node. */
  children: (kind: string, of?: N8nNode) => N8nNode[];
  /** The name of the Credential for one of the types of credentials, a stub of which is made. */
  credential: (types: readonly string[], host?: string, of?: N8nNode) => string;
  /** The name that a workflow of n8n has after the import. */
  workflowName: (id: string, name: string) => string;
  /** Adds a workflow that executes the node `inner`, and returns its name. `fields`: its input. */
  addTool: (of: N8nNode, inner: N8nNode, fields: Json) => string;
  note: (state: State, note: string, of?: N8nNode) => void;
};

export const NO_INPUT: Input = { list: '[{}]', sources: [], lineage: '' };

/** Joins the outputs that lead into one input. */
export function joinInputs(sources: readonly Items[]): Input {
  const [first, ...rest] = sources;
  if (!first) return NO_INPUT;
  if (rest.length === 0) return { ...first, sources };
  const list = `[${sources.map((source) => `...${source.list}`).join(', ')}]`;
  return { list, sources, lineage: list, origins: joinOrigins(sources) };
}

/** Reports what in the texts of JavaScript has no counterpart. */
export function reviewCode(context: NodeContext, codes: readonly string[]): void {
  for (const code of codes) {
    for (const name of unsupportedIn(code))
      context.note('review', `${name} is not available in Windlass: it is undefined`);
    for (const name of namedNodes(code)) reviewAccess(context, name, code);
  }
}

function reviewAccess(context: NodeContext, name: string, code: string): void {
  const items = context.find(name);
  if (!items) {
    context.note('review', `it reads "${name}", which does not run before it here: the value is undefined`);
    return;
  }
  const isAligned =
    items.single ||
    context.input.isWhole === true ||
    items.lineage === '' ||
    items.lineage === context.input.lineage ||
    isTraced(context, items);
  const readsItem = /\.item\b|\$node\b/.test(code);
  if (!isAligned && readsItem)
    context.note(
      'review',
      `it reads the item of "${name}" that belongs to its own: here that is the item at the same position`,
    );
}

const isTraced = ({ input }: NodeContext, { lineage }: Items): boolean =>
  input.origins?.has(lineage) === true;

export const reviewValue = (context: NodeContext, value: Value): void => reviewCode(context, codesOf(value));

/** How a member is referenced. `item`: what stands for the current item, if it has a name of its own. */
export function referenceOf(
  context: NodeContext,
  item: Items['single'],
): (access: Access) => string | undefined {
  return ({ node, path }) => (node === undefined ? item?.(path) : context.find(node)?.single?.(path));
}

const OTHERS = String.raw`const $ = (name) => {
  const list = wrap((others[name] ?? (() => []))());
  const own = () => {
    if (origins[name]) return list[(positions[name] ??= origins[name]())[$itemIndex]];
    if (list.length > 1 && list.length !== $in.length) throw new Error('"' + name + '" has ' + list.length + ' items, and none belongs to this one');
    return list[list.length === 1 ? 0 : $itemIndex];
  };
  return { all: () => list, first: () => list[0], last: () => list.at(-1), get item() { return own(); }, itemMatching: (index) => list[index], get json() { return own()?.json; }, get data() { return own()?.json; }, params: {}, isExecuted: list.length > 0 };
};
const $items = (name) => (name === undefined ? wrap($in) : $(name).all());`;

const OWN = String.raw`const $input = { all: () => wrap($in), first: () => wrap($in)[0], last: () => wrap($in).at(-1), get item() { return wrap($in)[$itemIndex]; }, params: {} };`;
const EACH = String.raw`const each = (compute) => $in.map(($json, at) => {
  $itemIndex = at;
  return compute($json);
});`;

/**
 * A code node. `body` may use `$in` (the items), `each(…)`, `$json` where it declares it, and what n8n offers
 * to code. Nodes that come before are read only where the body names them.
 */
export function codeNode(
  context: NodeContext,
  id: string,
  body: string,
  inputs: readonly Input[] = [context.input],
): WorkflowNode {
  const names = namedNodes(body);
  const others = names.flatMap((name) => {
    const items = context.find(name);
    return items ? [`${JSON.stringify(name)}: () => ${items.list}`] : [];
  });
  const { lineage, origins = new Map<string, string>() } = context.input;
  const positions = names.flatMap((name) => {
    const of = context.find(name);
    const code = of && of.lineage !== lineage ? origins.get(of.lineage) : undefined;
    return code === undefined ? [] : [`${JSON.stringify(name)}: () => ${code}`];
  });
  const usesOthers = /\$\(|\$node\b|\$items\(/.test(body);
  const keys = names.map((name) => `get [${JSON.stringify(name)}]() { return $(${JSON.stringify(name)}); }`);
  const parts = [
    ...(/\$node\b/.test(body) ? [`const $node = { ${keys.join(', ')} };`] : []),
    ...(/\$input\b/.test(body) ? [OWN] : []),
    ...(/\beach\(/.test(body) ? [EACH] : []),
    body,
  ].join('\n');
  const [first = NO_INPUT, ...rest] = inputs;
  const before = [
    `const $in = ${context.node.executeOnce ? `${first.list}.slice(0, 1)` : first.list};`,
    ...rest.map(({ list }, index) => `const $in${index + 2} = ${list};`),
    ...(/\$itemIndex\b/.test(parts) || usesOthers ? ['let $itemIndex = 0;'] : []),
    ...(usesOthers
      ? [
          `const others = { ${others.join(', ')} };`,
          `const origins = { ${positions.join(', ')} };`,
          'const positions = {};',
        ]
      : []),
  ];
  const withOthers = `${usesOthers ? `${OTHERS}\n` : ''}${parts}`;
  return { id, code: { source: withShim([...before, withOthers].join('\n')) } };
}

/** The options of a step that n8n has as settings of a node. */
export function optionsOf(
  { node: { retries, onError } }: NodeContext,
  isLoop: boolean,
): Partial<WorkflowNode> {
  return {
    ...(retries &&
      retries.limit > 0 && {
        retry: { limit: retries.limit, backoff: { initial: `${retries.pauseMs}ms`, factor: 1 } },
      }),
    ...((onError === 'regular' || (onError === 'error' && isLoop)) && { onError: 'Continue' as const }),
  };
}
