/** Converts a workflow of n8n with one trigger to the spec of a Workflow. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { answerNodes, answersWithLast } from './answers.ts';
import { type Input, type NodeContext, joinInputs } from '../steps/context.ts';
import { type Flow, flowOf, isLoop, isRepeat, loopOutput } from './graph.ts';
import { LoopGroups } from './loopGroups.ts';
import { withRepeats } from './repeats.ts';
import { SpecGraph } from './specGraph.ts';
import { numberOf, objectOf, textOf, type Json } from '../model/json.ts';
import type { Draft, Items } from '../steps/items.ts';
import type { Link, N8nNode, N8nWorkflow } from '../model/n8n.ts';
import type { State } from '../report/reports.ts';
import { adviceFor } from '../report/advice.ts';
import { recordReads } from '../steps/recorded.ts';
import { createIds } from '../model/names.ts';
import { convertNoOp } from '../nodes/branches.ts';
import { withoutCaller } from '../nodes/respond.ts';
import { disabledDraft, withoutStates } from '../steps/disabled.ts';
import { placeholder } from '../steps/placeholder.ts';
import { stepConverter, triggerConverter } from '../nodes/register.ts';

/** What the conversion of a unit takes from the import around it. */
export type Surroundings = {
  credential: (node: N8nNode, types: readonly string[], host?: string) => string;
  workflowName: (id: string, name: string) => string;
  addTool: (of: N8nNode, inner: N8nNode, fields: Json) => string;
  note: (node: string, state: State, note: string) => void;
  /** Says which nodes a node of n8n became. */
  became: (node: string, ids: readonly string[]) => void;
};

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
  readonly #graph = new SpecGraph(this.#newId);
  readonly #loops: LoopGroups;

  constructor(original: N8nWorkflow, trigger: string, around: Surroundings) {
    const workflow = withRepeats(original, trigger);
    this.#workflow = workflow;
    this.#trigger = trigger;
    this.#around = around;
    this.#flow = flowOf(workflow, trigger);
    this.#byName = new Map(workflow.nodes.map((node) => [node.name, node]));
    for (const { name } of this.#flow.order) this.#ids.set(name, this.#newId(name));
    this.#loops = new LoopGroups({
      flow: this.#flow,
      byName: this.#byName,
      ids: this.#ids,
      newId: this.#newId,
      graph: this.#graph,
      itemsOf: (link) => this.#itemsOf(link),
      inputsOf: (name) => this.#inputsOf(name),
      note: around.note,
    });
  }

  convert(): WorkflowSpec {
    const { order } = this.#flow;
    order.forEach((node, index) => {
      this.#convertNode(node);
      const next = order[index + 1];
      for (const loop of this.#loopsThatEnd(node, next)) this.#loops.end(loop);
    });
    this.#reportDropped();
    this.#answer();
    const { settings, name } = this.#workflow;
    const { nodes, edges } = this.#graph;
    const zone = textOf(settings['timezone']);
    const seconds = numberOf(settings['executionTimeout']) ?? -1;
    return {
      displayName: name.slice(0, 256),
      active: false,
      nodes: [...nodes],
      ...(nodes.length > 1 && { edges }),
      ...(/^[A-Za-z_]+\/[A-Za-z_/+-]+$/.test(zone) && { timeZone: zone }),
      ...(seconds >= 1 && { timeout: `${Math.min(Math.round(seconds), 86_400)}s` }),
      ...this.#onFailure(),
    };
  }

  /** Adds what answers the caller of a chat or a webhook, where n8n answers with the last node. */
  #answer(): void {
    const trigger = this.#byName.get(this.#trigger);
    const kind = trigger && answersWithLast(trigger);
    if (!kind || this.#graph.nodes.some(({ response, disabled }) => response && !disabled)) return;
    const leaving = new Set(this.#flow.links.map(({ from }) => from));
    const last = this.#flow.order.filter(
      ({ name }) => !leaving.has(name) && !this.#flow.loopOf.has(name) && name !== this.#trigger,
    );
    const outputs = last.flatMap(({ name }) => this.#outputs.get(name) ?? []);
    const agents = outputs.map(({ node }) => this.#graph.nodes.find(({ id }) => id === node)?.agent);
    if (outputs.length === 0 || (kind === 'chat' && agents.length === 1 && agents[0])) return;
    const nodes = answerNodes(trigger, kind, this.#newId, outputs);
    const [first, second] = nodes;
    if (!first) return;
    this.#graph.push(...nodes);
    for (const output of outputs) this.#graph.connect(output, first.id);
    if (second) this.#graph.setEdge({ from: first.id, to: second.id });
    const { chat } = this.#graph.nodes[0] ?? {};
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
    const draft = isLoop(node) ? this.#loops.start(context) : this.#draftOf(context);
    this.#add(context, draft);
  }

  #draftOf(context: NodeContext): Draft {
    const { node } = context;
    if (node.name === this.#trigger) return convertReading(context, triggerConverter(node.type));
    if (node.isDisabled) return this.#disabledDraft(context);
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

  /** A node without a counterpart becomes one that does nothing. */
  #disabledDraft(context: NodeContext): Draft {
    const convert = this.#converterOf(context.node);
    if (!convert) return convertNoOp(context);
    try {
      return disabledDraft(context, convertReading(withoutStates(context), convert));
    } catch {
      return convertNoOp(context);
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
    const [trigger] = this.#graph.nodes;
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
    if (source && isLoop(source) && output === loopOutput(source)) return this.#loops.items(from);
    const outputs = this.#outputs.get(from);
    if (source && isLoop(source) && !isRepeat(source)) return outputs?.[0];
    // A webhook has an output for each of its methods.
    return from === this.#trigger ? (outputs?.[output] ?? outputs?.[0]) : outputs?.[output];
  }

  #find(reader: string, name: string): Items | undefined {
    if (!this.#flow.before.get(reader)?.has(name)) return undefined;
    const node = this.#byName.get(name);
    if (node && isLoop(node) && this.#isInside(reader, name)) return this.#loops.items(name);
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
    this.#graph.push(...named);
    this.#outputs.set(
      node.name,
      draft.outputs.map((output) => inheritOrigins(output, context.input)),
    );
    this.#around.became(
      isRepeat(node) ? textOf(node.parameters['head']) : node.name,
      draft.nodes.map(({ id }) => id),
    );
    for (const edge of draft.edges) this.#graph.setEdge(edge);
    const sources = context.inputs.flatMap((input) => input.sources);
    for (const source of sources) if (source.node !== within) this.#graph.connect(source, draft.entry);
    if (sources.length === 0) this.#graph.closeEntry(draft.entry, within);
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
      this.#graph.append({
        id,
        ...(within !== undefined && { within }),
        fail: {
          reason: 'NotImported',
          message: `The connection to "${link.to.slice(0, 80).replaceAll('{{', '{ {')}" was not imported from n8n`,
        },
      });
      if (items.node !== within) this.#graph.connect(items, id);
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
