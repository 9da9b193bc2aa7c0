/** Loops of n8n, which become groups: for items (`forEach`), or for connections that lead back (`repeat`). */
import type { WorkflowNode } from '../../../api/workflow.ts';
import { listOf, memberOf, numberOf, textOf } from '../model/json.ts';
import type { Link, N8nNode } from '../model/n8n.ts';
import type { State } from '../report/reports.ts';
import { withShim } from '../shim/shim.ts';
import { type Input, type NodeContext, codeNode, joinInputs } from '../steps/context.ts';
import type { Draft, Items } from '../steps/items.ts';
import { originsAt } from '../steps/lineage.ts';
import { printPath } from '../expressions/value.ts';
import { type Flow, isRepeat, loopOutput } from './graph.ts';
import { type Exit, exitOutput } from './repeats.ts';
import type { SpecGraph } from './specGraph.ts';

/** How often a body is executed at most. */
const MAX_REPEATS = 1_000;

/** What loops take from the conversion around them. */
type Unit = {
  flow: Flow;
  byName: ReadonlyMap<string, N8nNode>;
  /** The IDs of the nodes that nodes of n8n became, by name. */
  ids: ReadonlyMap<string, string>;
  newId: (wanted: string) => string;
  graph: SpecGraph;
  itemsOf: (link: Link) => Items | undefined;
  inputsOf: (name: string) => Input[];
  note: (node: string, state: State, note: string) => void;
};

const exitsOf = ({ parameters }: N8nNode): readonly Exit[] => listOf(parameters['exits']) as Exit[];

/** Makes the groups of a unit, and knows the items that their bodies begin with. */
export class LoopGroups {
  readonly #unit: Unit;
  /** The first nodes of the bodies of repeated groups, by loop. */
  readonly #starts = new Map<string, string>();

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  /** The group of a loop, and what stands before its body. */
  start(context: NodeContext): Draft {
    return isRepeat(context.node) ? this.#startRepeat(context) : this.#startGroup(context);
  }

  /** The last node of a body collects what leads back to the loop. */
  end(name: string): void {
    const id = this.#unit.ids.get(name) ?? name;
    const loop = this.#unit.byName.get(name);
    const sources = (this.#unit.flow.returns.get(name) ?? []).flatMap(
      (link) => this.#unit.itemsOf(link) ?? [],
    );
    if (!loop) return;
    if (isRepeat(loop)) {
      this.#endRepeat(loop);
      return;
    }
    if (sources.length === 0) {
      if (this.#unit.graph.nodes.some(({ within }) => within === id)) return;
      this.#unit.graph.push({
        id: this.#unit.newId(`${id}_end`),
        within: id,
        code: { source: `return { items: [nodes.${id}.item].flat() };` },
      });
      return;
    }
    const end = this.#unit.newId(`${id}_end`);
    const input = joinInputs(sources);
    this.#unit.graph.push({
      id: end,
      within: id,
      code: { source: withShim(`return { items: ${input.list} };`) },
    });
    for (const source of sources) if (source.node !== id) this.#unit.graph.connect(source, end);
  }

  /** The items with which an execution of the body of the loop begins. */
  items(name: string): Items {
    const id = this.#unit.ids.get(name) ?? name;
    const repeated = this.#starts.get(name);
    if (repeated !== undefined)
      return {
        node: repeated,
        list: `(nodes.${repeated}?.data_content ?? [])`,
        array: `$('${repeated}').data_content`,
        when: `size(nodes.${repeated}.data_content) > 0`,
        lineage: repeated,
      };
    const batch = this.#batchOf(name);
    const [input = joinInputs([])] = this.#unit.inputsOf(name);
    if (batch > 1)
      return {
        node: id,
        list: `nodes.${id}.item`,
        array: `$('${id}').item`,
        lineage: `${id}/item`,
        origins: originsAt(input, `nodes.${id}.item.map((_, at) => nodes.${id}.index * ${batch} + at)`),
      };
    return {
      node: id,
      list: `[nodes.${id}.item]`,
      single: (path) => printPath(`$('${id}').item`, path),
      lineage: '',
      origins: originsAt(input, `[nodes.${id}.index]`),
    };
  }

  #batchOf(name: string): number {
    const node = this.#unit.byName.get(name);
    const usual = node && node.version < 3 ? 10 : 1;
    return Math.min(
      Math.max(Math.round(numberOf(memberOf(node?.parameters, 'batchSize')) ?? usual), 1),
      10_000,
    );
  }

  /** A group with `forEach`, after code that makes the list of items where no reference leads to it. */
  #startGroup(context: NodeContext): Draft {
    const { id, node, input } = context;
    if (
      memberOf(node.parameters, 'options.reset') !== undefined &&
      memberOf(node.parameters, 'options.reset') !== false
    )
      context.note('review', 'the option Reset has no counterpart: the loop begins once');
    const batch = this.#batchOf(node.name);
    const group = (items: string): WorkflowNode => ({
      id,
      group: {},
      forEach: {
        items: `{{ ${items} }}`,
        ...(batch > 1 && { batch }),
        ...(this.#isUsed(node) ? {} : { collect: 'None' as const }),
      },
    });
    const done: Items = {
      node: id,
      list: `(nodes.${id}?.data_content ?? []).flatMap((result) => result?.items ?? [])`,
      lineage: id,
      ...(batch === 1 && {
        origins: originsAt(
          input,
          `(nodes.${id}?.data_content ?? []).flatMap((result, at) => (result?.items ?? []).map(() => at))`,
        ),
      }),
    };
    if (input.array !== undefined && !node.executeOnce)
      return { nodes: [group(input.array)], edges: [], entry: id, outputs: [done] };
    const before = context.newId('items');
    const code = codeNode(context, before, 'return $in;');
    return {
      nodes: [code, group(`$('${before}').data_content`)],
      edges: [{ from: before, to: id }],
      entry: before,
      outputs: [done],
    };
  }

  /** A group that is executed again with the items that lead back, until there are none. */
  #startRepeat(context: NodeContext): Draft {
    const { id, node, input } = context;
    const start = context.newId('start');
    this.#starts.set(node.name, start);
    const source = `return nodes.${id}.data_content ? nodes.${id}.data_content.again : ${input.list};`;
    const outputs = exitsOf(node).map((_, index): Items => {
      const at = `data_content.exits[${index}]`;
      return {
        node: id,
        list: `(nodes.${id}?.${at} ?? [])`,
        array: `$('${id}').${at}`,
        when: `size(nodes.${id}.${at}) > 0`,
        lineage: `${id}/${index}`,
      };
    });
    const placed = Array.from({ length: exitOutput(outputs.length) + 1 }, () => outputs[0]);
    outputs.forEach((output, index) => {
      placed[exitOutput(index)] = output;
    });
    return {
      nodes: [
        { id, group: {}, repeat: { until: `size(nodes.${id}.data_content.again) == 0`, limit: MAX_REPEATS } },
        { id: start, within: id, code: { source: withShim(source) } },
      ],
      edges: [],
      entry: id,
      outputs: placed.flatMap((output) => output ?? []),
    };
  }

  /** The last node of a body collects what leads back, and what has left so far. */
  #endRepeat(loop: N8nNode): void {
    const id = this.#unit.ids.get(loop.name) ?? loop.name;
    const start = this.#starts.get(loop.name);
    if (start === undefined) return;
    const back = this.#unit.flow.returns.get(loop.name) ?? [];
    for (const { from } of back)
      this.#unit.note(
        from,
        'review',
        `the nodes from "${textOf(loop.parameters['head'])}" on are executed again, at most ${MAX_REPEATS} times; what leaves them goes on after the last time`,
      );
    const again = joinInputs(back.flatMap((link) => this.#unit.itemsOf(link) ?? []));
    const exits = exitsOf(loop).map((exit) =>
      joinInputs([this.#unit.itemsOf({ ...exit, to: '', input: 0, kind: 'main' }) ?? []].flat()),
    );
    const lists = exits.map(
      ({ sources, list }, index) => `[...(before[${index}] ?? []), ...${sources.length === 0 ? '[]' : list}]`,
    );
    const end = this.#unit.newId(`${id}_end`);
    const source = `const before = nodes.${id}.data_content?.exits ?? [];
return { again: ${again.sources.length === 0 ? '[]' : again.list}, exits: [${lists.join(', ')}] };`;
    this.#unit.graph.push({ id: end, within: id, code: { source: withShim(source) } });
    this.#unit.graph.setEdge({ from: start, to: end });
    for (const output of [again, ...exits].flatMap(({ sources }) => sources))
      if (output.node !== id) this.#unit.graph.connect(output, end);
  }

  #isUsed(loop: N8nNode): boolean {
    return this.#unit.flow.links.some(
      ({ from, output }) => from === loop.name && output !== loopOutput(loop),
    );
  }
}
