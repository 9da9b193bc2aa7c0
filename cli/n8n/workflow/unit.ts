/** Converts a workflow of n8n with one trigger to the spec of a Workflow. */
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { answerNodes, answersWithLast } from './answers.ts';
import { type Input, type NodeContext, codeNode, joinInputs } from '../steps/context.ts';
import { type Flow, flowOf, isLoop, isRepeat, loopOutput } from './graph.ts';
import { type Exit, exitOutput, withRepeats } from './repeats.ts';
import { listOf, memberOf, numberOf, objectOf, textOf, type Json } from '../model/json.ts';
import type { Draft, Items } from '../steps/items.ts';
import type { Link, N8nNode, N8nWorkflow } from '../model/n8n.ts';
import type { State } from '../report/reports.ts';
import { adviceFor } from '../report/advice.ts';
import { recordReads } from '../steps/recorded.ts';
import { originsAt } from '../steps/lineage.ts';
import { createIds } from '../model/names.ts';
import { convertNoOp } from '../nodes/branches.ts';
import { withoutCaller } from '../nodes/respond.ts';
import { placeholder } from '../steps/placeholder.ts';
import { stepConverter, triggerConverter } from '../nodes/register.ts';
import { withShim } from '../shim/shim.ts';
import { printPath } from '../expressions/value.ts';

/** What the conversion of a unit takes from the import around it. */
export type Surroundings = {
  credential: (node: N8nNode, types: readonly string[], host?: string) => string;
  workflowName: (id: string, name: string) => string;
  addTool: (of: N8nNode, inner: N8nNode, fields: Json) => string;
  note: (node: string, state: State, note: string) => void;
  /** Says which nodes a node of n8n became. */
  became: (node: string, ids: readonly string[]) => void;
};

/** How often a body is executed at most. */
const MAX_REPEATS = 1_000;

const exitsOf = ({ parameters }: N8nNode): readonly Exit[] => listOf(parameters['exits']) as Exit[];

const CALLER = ['webhook', 'manual', 'chat'] as const;

/** The spec, inactive: a person reviews it first. */
export function convertUnit(
  workflow: N8nWorkflow,
  trigger: string,
  surroundings: Surroundings,
): WorkflowSpec {
  const unit = new UnitConversion(workflow, trigger, surroundings);
  return unit.convert();
}

class UnitConversion {
  readonly #workflow: N8nWorkflow;
  readonly #trigger: string;
  readonly #around: Surroundings;
  readonly #flow: Flow;
  readonly #newId = createIds();
  readonly #byName: ReadonlyMap<string, N8nNode>;
  readonly #ids = new Map<string, string>();
  readonly #outputs = new Map<string, Items[]>();
  /** The first nodes of the bodies of repeated groups, by loop. */
  readonly #starts = new Map<string, string>();
  readonly #nodes: WorkflowNode[] = [];
  readonly #edges = new Map<string, WorkflowEdge>();

  constructor(original: N8nWorkflow, trigger: string, around: Surroundings) {
    const workflow = withRepeats(original, trigger);
    this.#workflow = workflow;
    this.#trigger = trigger;
    this.#around = around;
    this.#flow = flowOf(workflow, trigger);
    this.#byName = new Map(workflow.nodes.map((node) => [node.name, node]));
    for (const { name } of this.#flow.order) this.#ids.set(name, this.#newId(name));
  }

  convert(): WorkflowSpec {
    const { order } = this.#flow;
    order.forEach((node, index) => {
      this.#convertNode(node);
      const next = order[index + 1];
      for (const loop of this.#loopsThatEnd(node, next)) this.#endLoop(loop);
    });
    this.#reportDropped();
    this.#answer();
    const { settings, name } = this.#workflow;
    const zone = textOf(settings['timezone']);
    const seconds = numberOf(settings['executionTimeout']) ?? -1;
    return {
      displayName: name.slice(0, 256),
      active: false,
      nodes: this.#nodes,
      ...(this.#nodes.length > 1 && { edges: [...this.#edges.values()] }),
      ...(/^[A-Za-z_]+\/[A-Za-z_/+-]+$/.test(zone) && { timeZone: zone }),
      ...(seconds >= 1 && { timeout: `${Math.min(Math.round(seconds), 86_400)}s` }),
      ...this.#onFailure(),
    };
  }

  /** Adds what answers the caller of a chat or a webhook, where n8n answers with the last node. */
  #answer(): void {
    const trigger = this.#byName.get(this.#trigger);
    const kind = trigger && answersWithLast(trigger);
    if (!kind || this.#nodes.some(({ response }) => response)) return;
    const leaving = new Set(this.#flow.links.map(({ from }) => from));
    const last = this.#flow.order.filter(
      ({ name }) => !leaving.has(name) && !this.#flow.loopOf.has(name) && name !== this.#trigger,
    );
    const outputs = last.flatMap(({ name }) => this.#outputs.get(name) ?? []);
    const agents = outputs.map(({ node }) => this.#nodes.find(({ id }) => id === node)?.agent);
    if (outputs.length === 0 || (kind === 'chat' && agents.length === 1 && agents[0])) return;
    const nodes = answerNodes(trigger, kind, this.#newId, outputs);
    const [first, second] = nodes;
    if (!first) return;
    this.#nodes.push(...nodes);
    for (const output of outputs) this.#connect(output, first.id);
    if (second) this.#edges.set(`${first.id} ${second.id}`, { from: first.id, to: second.id });
    const { chat } = this.#nodes[0] ?? {};
    if (chat) chat.answer = first.id;
  }

  #onFailure(): Pick<WorkflowSpec, 'onFailure'> {
    const id = textOf(this.#workflow.settings['errorWorkflow']);
    return id === '' ? {} : { onFailure: { workflow: this.#around.workflowName(id, 'error-workflow') } };
  }

  /** The loops whose bodies end with the node, the innermost first. */
  #loopsThatEnd(node: N8nNode, next: N8nNode | undefined): string[] {
    const { loopOf } = this.#flow;
    const around = (name: string | undefined): string[] => {
      const loops: string[] = [];
      for (let at = name; at !== undefined; at = loopOf.get(at)) loops.push(at);
      return loops;
    };
    const ended = isLoop(node) ? around(node.name) : around(loopOf.get(node.name));
    const open = new Set(next ? around(loopOf.get(next.name)) : []);
    return ended.filter((loop) => !open.has(loop));
  }

  #convertNode(node: N8nNode): void {
    const context = this.#siteOf(node);
    const draft = isRepeat(node)
      ? this.#startRepeat(context)
      : isLoop(node)
        ? this.#startLoop(context)
        : this.#draftOf(context);
    this.#add(context, draft);
  }

  #draftOf(context: NodeContext): Draft {
    const { node } = context;
    if (node.name === this.#trigger) return convertReading(context, triggerConverter(node.type));
    if (node.isDisabled) return convertNoOp(context);
    const convert = this.#converterOf(node);
    if (!convert) return this.#placeholder(context, `this node has no counterpart: ${adviceFor(node.type)}`);
    try {
      return convertReading(context, convert);
    } catch (error) {
      const problem = error instanceof Error ? error.message : 'it cannot be converted';
      const isBare = problem.endsWith('has no counterpart');
      return this.#placeholder(context, isBare ? `${problem}: ${adviceFor(node.type)}` : problem);
    }
  }

  #placeholder(context: NodeContext, problem: string): Draft {
    context.note('manual', problem);
    const leaving = this.#flow.links
      .filter(({ from }) => from === context.node.name)
      .map(({ output }) => output + 1);
    return placeholder(context, Math.max(1, ...leaving));
  }

  #converterOf(node: N8nNode): ((context: NodeContext) => Draft) | undefined {
    if (node.type !== 'n8n-nodes-base.respondToWebhook') return stepConverter(node.type);
    const [trigger] = this.#nodes;
    const isCalled =
      CALLER.some((kind) => trigger?.[kind] !== undefined) && !this.#flow.loopOf.has(node.name);
    if (!isCalled && this.#flow.loopOf.has(node.name))
      this.#around.note(node.name, 'review', 'a response in a loop is left out: a run has one reply');
    return isCalled ? stepConverter(node.type) : withoutCaller;
  }

  #siteOf(node: N8nNode): NodeContext {
    const { name } = node;
    const around = this.#around;
    const inputs = this.#inputsOf(name);
    const id = this.#ids.get(name) ?? name;
    return {
      node,
      workflow: this.#workflow,
      parameters: plainParameters(node.parameters),
      id,
      newId: (suffix) => this.#newId(`${id}_${suffix}`),
      inputs,
      input: inputs[0] ?? joinInputs([]),
      find: (other) => this.#find(name, other),
      children: (kind, of = node) =>
        this.#workflow.links.flatMap((link) => {
          const child = link.to === of.name && link.kind === kind ? this.#byName.get(link.from) : undefined;
          if (!child || child.isDisabled) return [];
          around.note(child.name, 'converted', '');
          return [child];
        }),
      credential: (types, host, of = node) => around.credential(of, types, host),
      workflowName: around.workflowName,
      addTool: around.addTool,
      note: (state, note, of = node) => around.note(of.name, state, note),
    };
  }

  /** The inputs of a node by their index. A body begins with the item of its loop. */
  #inputsOf(name: string): Input[] {
    const into = this.#flow.links.filter(({ to }) => to === name);
    const count = Math.min(Math.max(1, ...into.map(({ input }) => input + 1)), 10);
    return Array.from({ length: count }, (_, index) =>
      joinInputs(into.filter(({ input }) => input === index).flatMap((link) => this.#itemsOf(link) ?? [])),
    );
  }

  #itemsOf({ from, output }: Link): Items | undefined {
    const source = this.#byName.get(from);
    if (source && isLoop(source) && output === loopOutput(source)) return this.#loopItems(from);
    const outputs = this.#outputs.get(from);
    if (source && isLoop(source) && !isRepeat(source)) return outputs?.[0];
    // A webhook has an output for each of its methods.
    return from === this.#trigger ? (outputs?.[output] ?? outputs?.[0]) : outputs?.[output];
  }

  #find(reader: string, name: string): Items | undefined {
    if (!this.#flow.before.get(reader)?.has(name)) return undefined;
    const node = this.#byName.get(name);
    if (node && isLoop(node) && this.#isInside(reader, name)) return this.#loopItems(name);
    const outputs = this.#outputs.get(name) ?? [];
    const [first] = outputs;
    if (!first || outputs.length === 1) return first;
    const joined = joinInputs(outputs);
    const single = outputs.every((output) => output.single) ? first.single : undefined;
    return { node: first.node, list: joined.list, lineage: '', ...(single && { single }) };
  }

  #isInside(name: string, loop: string): boolean {
    for (let at = this.#flow.loopOf.get(name); at !== undefined; at = this.#flow.loopOf.get(at))
      if (at === loop) return true;
    return false;
  }

  #batchOf(name: string): number {
    const node = this.#byName.get(name);
    const usual = node && node.version < 3 ? 10 : 1;
    return Math.min(
      Math.max(Math.round(numberOf(memberOf(node?.parameters, 'batchSize')) ?? usual), 1),
      10_000,
    );
  }

  #loopItems(name: string): Items {
    const id = this.#ids.get(name) ?? name;
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
    const [input = joinInputs([])] = this.#inputsOf(name);
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

  /** A group with `forEach`, after code that makes the list of items where no reference leads to it. */
  #startLoop(context: NodeContext): Draft {
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
    const id = this.#ids.get(loop.name) ?? loop.name;
    const start = this.#starts.get(loop.name);
    if (start === undefined) return;
    const back = this.#flow.returns.get(loop.name) ?? [];
    for (const { from } of back)
      this.#around.note(
        from,
        'review',
        `the nodes from "${textOf(loop.parameters['head'])}" on are executed again, at most ${MAX_REPEATS} times; what leaves them goes on after the last time`,
      );
    const again = joinInputs(back.flatMap((link) => this.#itemsOf(link) ?? []));
    const exits = exitsOf(loop).map((exit) =>
      joinInputs([this.#itemsOf({ ...exit, to: '', input: 0, kind: 'main' }) ?? []].flat()),
    );
    const lists = exits.map(
      ({ sources, list }, index) => `[...(before[${index}] ?? []), ...${sources.length === 0 ? '[]' : list}]`,
    );
    const end = this.#newId(`${id}_end`);
    const source = `const before = nodes.${id}.data_content?.exits ?? [];
return { again: ${again.sources.length === 0 ? '[]' : again.list}, exits: [${lists.join(', ')}] };`;
    this.#nodes.push({ id: end, within: id, code: { source: withShim(source) } });
    this.#edges.set(`${start} ${end}`, { from: start, to: end });
    for (const output of [again, ...exits].flatMap(({ sources }) => sources))
      if (output.node !== id) this.#connect(output, end);
  }

  #isUsed(loop: N8nNode): boolean {
    return this.#flow.links.some(({ from, output }) => from === loop.name && output !== loopOutput(loop));
  }

  /** The last node of a body collects what leads back to the loop. */
  #endLoop(name: string): void {
    const id = this.#ids.get(name) ?? name;
    const loop = this.#byName.get(name);
    const sources = (this.#flow.returns.get(name) ?? []).flatMap((link) => this.#itemsOf(link) ?? []);
    if (!loop) return;
    if (isRepeat(loop)) {
      this.#endRepeat(loop);
      return;
    }
    if (sources.length === 0) {
      if (this.#nodes.some(({ within }) => within === id)) return;
      this.#nodes.push({
        id: this.#newId(`${id}_end`),
        within: id,
        code: { source: `return { items: [nodes.${id}.item].flat() };` },
      });
      return;
    }
    const end = this.#newId(`${id}_end`);
    const input = joinInputs(sources);
    this.#nodes.push({ id: end, within: id, code: { source: withShim(`return { items: ${input.list} };`) } });
    for (const source of sources) if (source.node !== id) this.#connect(source, end);
  }

  /** Adds what a node became, with the edges that lead to it. */
  #add(context: NodeContext, draft: Draft): void {
    const { node } = context;
    const loop = this.#flow.loopOf.get(node.name);
    const within = loop === undefined ? undefined : this.#ids.get(loop);
    const named = draft.nodes.map(
      (each): WorkflowNode => ({
        ...each,
        displayName: (each.displayName ?? node.name).slice(0, 256),
        ...(each.within === undefined && within !== undefined && { within }),
      }),
    );
    this.#nodes.push(...named);
    this.#outputs.set(
      node.name,
      draft.outputs.map((output) => inheritOrigins(output, context.input)),
    );
    this.#around.became(
      isRepeat(node) ? textOf(node.parameters['head']) : node.name,
      draft.nodes.map(({ id }) => id),
    );
    for (const edge of draft.edges) this.#edges.set(`${edge.from} ${edge.to}`, edge);
    const sources = context.inputs.flatMap((input) => input.sources);
    for (const source of sources) if (source.node !== within) this.#connect(source, draft.entry);
    if (sources.length === 0) this.#closeEntry(draft.entry, within);
  }

  /** A node that n8n never reaches, as its connections leave outputs that do not exist, never runs. */
  #closeEntry(entry: string, within: string | undefined): void {
    const first = this.#nodes.find((node) => node.within === within);
    if (first && first.id !== entry)
      this.#edges.set(`${first.id} ${entry}`, { from: first.id, to: entry, when: 'false' });
  }

  /** One edge connects two nodes: conditions are joined, an edge after a failure gets its own node. */
  #connect({ node, when, after }: Items, to: string): void {
    const key = `${node} ${to}`;
    const known = this.#edges.get(key);
    if (!known) {
      this.#edges.set(key, { from: node, to, ...(when !== undefined && { when }), ...(after && { after }) });
      return;
    }
    if (known.after !== after) {
      this.#connectBoth(known, {
        from: node,
        to,
        ...(when !== undefined && { when }),
        ...(after && { after }),
      });
      return;
    }
    const { when: other, ...edge } = known;
    if (other === when) return;
    const both = when === undefined || other === undefined ? undefined : `(${other}) || (${when})`;
    this.#edges.set(key, { ...edge, ...(both !== undefined && both.length <= 4096 && { when: both }) });
  }

  /** Two edges of one pair, one of them after a failure: that one leads through a node of its own. */
  #connectBoth(known: WorkflowEdge, other: WorkflowEdge): void {
    const [success, failure] = known.after ? [other, known] : [known, other];
    const { from, to } = success;
    const failed = this.#newId(`${from}_failed`);
    const target = this.#nodes.findIndex(({ id }) => id === to);
    const { within } = this.#nodes[target] ?? {};
    this.#nodes.splice(target, 0, {
      id: failed,
      ...(within !== undefined && { within }),
      skill: { name: 'set', parameters: { values: { failed: true } } },
    });
    this.#edges.set(`${from} ${to}`, success);
    this.#edges.set(`${from} ${failed}`, { ...failure, to: failed });
    this.#edges.set(`${failed} ${to}`, { from: failed, to });
  }

  /** Connections that no edge can express end in a node that fails, so that no run goes on without them. */
  #reportDropped(): void {
    for (const link of this.#flow.dropped) {
      const items = this.#itemsOf(link);
      this.#around.note(
        link.from,
        'manual',
        `its connection to "${link.to}" leads back, or into or out of a loop: use repeat on a group, or a loop of its own`,
      );
      if (!items || !this.#outputs.has(link.to)) continue;
      const loop = this.#flow.loopOf.get(link.from);
      const within = loop === undefined ? undefined : this.#ids.get(loop);
      const id = this.#newId(`${this.#ids.get(link.from)}_back`);
      const fail: WorkflowNode = {
        id,
        ...(within !== undefined && { within }),
        fail: {
          reason: 'NotImported',
          message: `The connection to "${link.to.slice(0, 80).replaceAll('{{', '{ {')}" was not imported from n8n`,
        },
      };
      const last = this.#nodes.findLastIndex((node) => within === undefined || node.within === within);
      this.#nodes.splice(last + 1, 0, fail);
      if (items.node !== within) this.#connect(items, id);
    }
  }
}

/** Converts a node, and says which of its parameters the conversion did not read. */
function convertReading(context: NodeContext, convert: (context: NodeContext) => Draft): Draft {
  const { parameters, unread } = recordReads(context.parameters);
  const draft = convert({ ...context, parameters });
  const left = unread();
  if (left.length > 0) context.note('review', `it is without ${left.join(', ')}, which have no counterpart`);
  return draft;
}

/** A node that keeps number and order of its items keeps where they come from. */
function inheritOrigins(output: Items, { lineage, origins, isWhole }: Input): Items {
  if (output.lineage !== lineage) return output;
  return {
    ...output,
    ...(!output.origins && origins && { origins }),
    ...(isWhole && output.single && { isWhole }),
  };
}

/** The parameters with the values of resource locators. */
function plainParameters(parameters: Json): Json {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      const json = objectOf(value);
      return [name, json['__rl'] === true ? json['value'] : value];
    }),
  );
}
