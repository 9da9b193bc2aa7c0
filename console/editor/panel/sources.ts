/**
 * What the expressions of a node may refer to: the nodes before it, the item of each loop around it, and the
 * output before. Pure.
 */
import { evaluate } from '../../../api/expression/evaluate.ts';
import type { NodeMember } from '../../../api/expression/reference.ts';
import { compileValue } from '../../../api/expression/template.ts';
import type { Visibility } from '../../../api/scopes.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { scopeOf } from '../../forms/expression/preview.ts';
import { sourceOf, type Element, type Source, type Sources } from '../../forms/source.ts';
import { outputOf, type LastResult } from '../../runs/live/lastResults.ts';
import { edgesOf } from '../model/graph.ts';
import { scopesOf, shownIndex, visibilityOfDraft, type ShownItems } from '../model/scopes.ts';
import { nodeKind } from '../../workflows/kinds.ts';

export type Outputs = ReadonlyMap<string, LastResult>;

/** The items whose values are recorded for the nodes of bodies, by loop. */
export function sampledItems(
  { nodes }: WorkflowSpec,
  views: ReadonlyMap<string, { item?: number }>,
): ShownItems {
  const { around } = scopesOf(nodes);
  const loops = new Set(nodes.filter(({ forEach }) => forEach !== undefined).map(({ id }) => id));
  return Object.fromEntries(
    [...views].flatMap(([id, { item }]) => {
      const loop = around(id).find((group) => loops.has(group));
      return item === undefined || loop === undefined ? [] : [[loop, item]];
    }),
  );
}

type Given = { spec: WorkflowSpec; visible: Visibility; outputs: Outputs; items: ShownItems };

/** The sources of a node's parameters. */
export function sourcesOf(spec: WorkflowSpec, id: string, outputs: Outputs, items: ShownItems = {}): Sources {
  const given = { spec, visible: visibilityOfDraft(spec), outputs, items };
  const around = outsideOf(given, id);
  const node = spec.nodes.find((each) => each.id === id);
  const element = node?.forEach && elementOf(node, around, items);
  const previous = node?.repeat ? repeated(node) : around.previous;
  return { ...around, ...(element && { element }), ...(previous && { previous }) };
}

/** The sources of the options of a loop: its items cannot name themselves, `until` reads the own output. */
export function loopSourcesOf(
  spec: WorkflowSpec,
  id: string,
  outputs: Outputs,
  items: ShownItems = {},
): { items: Sources; until: Sources } {
  const around = outsideOf({ spec, visible: visibilityOfDraft(spec), outputs, items }, id);
  const node = spec.nodes.find((each) => each.id === id);
  const own = node ? nodeSource(spec, node, outputs) : [];
  return { items: { ...around, isList: true }, until: { ...around, nodes: [...around.nodes, ...own] } };
}

/** The sources of a node without its own loop. */
function outsideOf(given: Given, id: string): Sources {
  const { spec, visible, outputs, items } = given;
  const before = new Set(visible.before(id));
  const groups = visible
    .groupsAround(id)
    .flatMap((group) => spec.nodes.find((each) => each.id === group) ?? []);
  const nodes = spec.nodes
    .filter((node) => before.has(node.id))
    .flatMap((node) => nodeSource(spec, node, outputs));
  const loops = groups.filter(({ forEach }) => forEach !== undefined);
  const elements = new Map(loops.map((loop) => [loop.id, elementOf(loop, outsideOf(given, loop.id), items)]));
  const around = groups.toReversed().flatMap((group) => groupSource(group, elements.get(group.id)));
  const element = loops[0] && elements.get(loops[0].id);
  const sources = [...nodes, ...around];
  const previous = previousOf(given, id, sources);
  const callbacks = callbacksFor(spec, ['', ...groups.map((group) => group.id)]);
  return {
    nodes: sources,
    allIds: spec.nodes.map((node) => node.id),
    ...(element && { element }),
    ...(previous && { previous }),
    ...(callbacks.length > 0 && { callbacks }),
  };
}

/** The nodes of these scopes that wait for a callback, once in their scope. `''`: outside of groups. */
function callbacksFor({ nodes }: WorkflowSpec, scopes: readonly string[]): string[] {
  const { of } = scopesOf(nodes);
  return nodes
    .filter(({ wait, forEach, repeat, disabled }) => wait?.callback && !disabled && !forEach && !repeat)
    .map(({ id }) => id)
    .filter((id) => scopes.includes(of(id)));
}

/** A group around a node, of which it reads the item and the output of the execution before. */
function groupSource(group: WorkflowNode, element: Element | undefined): Source[] {
  const members: NodeMember[] = [
    ...(group.forEach ? (['item', 'index'] as const) : []),
    ...(group.repeat ? (['data_content'] as const) : []),
  ];
  if (members.length === 0) return [];
  const source = sourceOf(group, 'group', undefined, false);
  const initial: unknown = group.repeat?.initial ?? null;
  const output = { item: element?.item, index: element?.index ?? 0, data_content: initial };
  return [{ ...source, output, members, isReal: element?.isReal ?? true }];
}

/** The node before, if there is exactly one. For the first nodes of a body it is the one before the group. */
function previousOf(given: Given, id: string, sources: readonly Source[]): Source | undefined {
  const { spec, visible } = given;
  const previous = visible.previousOf(id);
  if (previous === undefined || !visible.groupsAround(id).includes(previous))
    return sources.find((source) => source.id === previous);
  const group = spec.nodes.find((each) => each.id === previous);
  if (group?.repeat) return repeated(group);
  const outer = outsideOf(given, previous).previous;
  // The output before of a group around is not the group as the nodes of its body name it.
  const isRepeated = outer === undefined || visible.groupsAround(id).includes(outer.id);
  return isRepeated ? outer : sources.find((source) => source.id === outer.id);
}

/** The output of the execution before. In the first one that is `initial`. */
function repeated(node: WorkflowNode): Source {
  const source = sourceOf(node, nodeKind(node) ?? 'group', undefined, false);
  const output = { text_content: '', data_content: node.repeat?.initial ?? null };
  return { ...source, output, isReal: true, members: ['text_content', 'data_content'] };
}

function nodeSource(spec: WorkflowSpec, node: WorkflowNode, outputs: Outputs): Source[] {
  const kind = nodeKind(node);
  if (kind === undefined) return [];
  const continuesOnError = node.onError === 'Continue' || followedFailures(spec).has(node.id);
  const last = outputs.get(node.id);
  const known = outputOf(last) === undefined ? last : { text_content: '', ...last };
  const source = sourceOf(node, kind, known, continuesOnError);
  return [node.disabled ? { ...source, isReal: false, isDisabled: true } : source];
}

/** The nodes whose failure a connection follows. */
function followedFailures(spec: WorkflowSpec): ReadonlySet<string> {
  const found =
    followed.get(spec) ??
    new Set(edgesOf(spec).flatMap(({ from, after }) => (after === 'Failure' ? [from] : [])));
  followed.set(spec, found);
  return found;
}

/** A cache: specs are immutable, and each node asks for each one before it. */
const followed = new WeakMap<WorkflowSpec, ReadonlySet<string>>();

/** The shown item of a loop, as far as the list is known. */
function elementOf({ id, forEach }: WorkflowNode, sources: Sources, items: ShownItems): Element {
  const unknown = { item: {}, index: 0, isReal: false, loop: id };
  try {
    const list = evaluate(compileValue(forEach?.items ?? ''), scopeOf(sources));
    if (!Array.isArray(list) || list.length === 0) return unknown;
    const { batch = 1 } = forEach ?? {};
    const count = Math.ceil(list.length / batch);
    const index = Math.min(shownIndex(items, id), count - 1);
    const item: unknown = batch === 1 ? list[index] : list.slice(index * batch, (index + 1) * batch);
    return { item, index, isReal: true, loop: id, count };
  } catch {
    return unknown;
  }
}
