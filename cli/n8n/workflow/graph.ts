/** The order and the scopes of the nodes that one trigger reaches. Pure. */
import type { Link, N8nNode, N8nWorkflow } from '../model/n8n.ts';

/** The type of the loops that the import makes of connections that lead back. */
export const REPEAT = 'windlass.repeat';

export const isRepeat = ({ type }: N8nNode): boolean => type === REPEAT;

export const isLoop = ({ type }: N8nNode): boolean =>
  type === 'n8n-nodes-base.splitInBatches' || type === REPEAT;

/** The outputs of a loop: the version 3 has them in the other order. */
export const loopOutput = ({ version }: N8nNode): number => (version >= 3 ? 1 : 0);

export type Flow = {
  /** Every node after the nodes before it, and each body right after its loop. */
  order: N8nNode[];
  /** The loop whose body a node is in. */
  loopOf: ReadonlyMap<string, string>;
  /** Links within one scope, without those that lead back. */
  links: Link[];
  /** Links from the body of a loop to the loop, by loop. */
  returns: ReadonlyMap<string, Link[]>;
  /** Links that would lead back, or out of a loop or into one. */
  dropped: Link[];
  /** The nodes before a node that it can read. */
  before: ReadonlyMap<string, ReadonlySet<string>>;
};

const MAX_DEPTH = 3;

/** The nodes that links lead to from some. `stop`: a node that is not passed. */
export function reach(links: readonly Link[], from: Iterable<string>, stop?: string): Set<string> {
  const next = Map.groupBy(links, (link) => link.from);
  const found = new Set(from);
  for (const name of found) {
    if (name === stop) continue;
    for (const { to } of next.get(name) ?? []) found.add(to);
  }
  return found;
}

export const mainLinks = ({ links }: Pick<N8nWorkflow, 'links'>): Link[] =>
  links.filter(({ kind }) => kind === 'main');

/** The body of a loop: what its output leads to, and that leads back to it or to nothing outside. */
function bodyOf(loop: N8nNode, links: readonly Link[], entries: ReadonlySet<string>): Set<string> {
  const own = loopOutput(loop);
  const started = links
    .filter(({ from, output }) => from === loop.name && output === own)
    .map(({ to }) => to);
  const others = links.filter(({ from }) => from !== loop.name);
  const inside = reach(others, started, loop.name);
  const reversed = others.map((link) => ({ ...link, from: link.to, to: link.from }));
  const back = reach(reversed, [loop.name]);
  const body = new Set([...inside].filter((name) => name !== loop.name && back.has(name)));
  const sources = Map.groupBy(links, ({ to }) => to);
  for (let grows = true; grows; ) {
    grows = false;
    for (const name of inside) {
      if (body.has(name) || name === loop.name || entries.has(name)) continue;
      const isInner = (sources.get(name) ?? []).every(
        ({ from, output }) => body.has(from) || (from === loop.name && output === own),
      );
      if (isInner) grows = body.add(name).has(name);
    }
  }
  return body;
}

/** The flow of the nodes that `trigger` reaches. */
export function flowOf(workflow: N8nWorkflow, trigger: string): Flow {
  const all = mainLinks(workflow);
  const reached = reach(all, [trigger]);
  // The trigger is the first node, also where nothing in its scope follows it.
  const nodes = workflow.nodes
    .filter(({ name }) => reached.has(name))
    .toSorted((one, other) => Number(other.name === trigger) - Number(one.name === trigger));
  const links = all.filter(({ from, to }) => reached.has(from) && to !== trigger);
  const loopOf = scopesOf(nodes, links, trigger);
  const loops = new Map(nodes.filter(isLoop).map((node) => [node.name, node]));
  const returns = new Map<string, Link[]>();
  const inner: Link[] = [];
  const dropped: Link[] = [];
  for (const link of links) {
    const loop = loops.get(link.to);
    const source = loops.get(link.from);
    const isStart = source !== undefined && link.output === loopOutput(source);
    if (loop && loopOf.get(link.from) === link.to)
      returns.set(link.to, [...(returns.get(link.to) ?? []), link]);
    else if (isStart ? loopOf.get(link.to) === link.from : loopOf.get(link.from) === loopOf.get(link.to))
      inner.push(link);
    else dropped.push(link);
  }
  const { forward, backward } = withoutCycles(nodes, inner, trigger);
  const order = orderOf(nodes, forward, loopOf);
  return {
    order,
    loopOf,
    links: forward,
    returns,
    dropped: [...dropped, ...backward],
    before: visibleOf(order, forward, loopOf),
  };
}

/** The innermost loop around each node. Loops that overlap, or nest too deep, are no loops of a node. */
function scopesOf(nodes: readonly N8nNode[], links: readonly Link[], trigger: string): Map<string, string> {
  const bodies = nodes
    .filter(isLoop)
    .map((loop) => ({ loop: loop.name, body: bodyOf(loop, links, new Set([trigger])) }));
  const bySize = bodies.toSorted((one, other) => other.body.size - one.body.size);
  const loopOf = new Map<string, string>();
  const depthOf = (name: string): number => {
    let depth = 0;
    for (let at = loopOf.get(name); at !== undefined && depth < nodes.length; at = loopOf.get(at)) depth += 1;
    return depth;
  };
  for (const { loop, body } of bySize) {
    if (depthOf(loop) >= MAX_DEPTH - 1) continue;
    const around = loopOf.get(loop);
    for (const name of body) if (loopOf.get(name) === around && name !== loop) loopOf.set(name, loop);
  }
  return loopOf;
}

/** Divides links into those of a graph without cycles, and those that lead back. */
function withoutCycles(nodes: readonly N8nNode[], links: readonly Link[], trigger: string) {
  const next = Map.groupBy(links, ({ from }) => from);
  const state = new Map<string, 'open' | 'done'>();
  const backward = new Set<Link>();
  for (const start of [trigger, ...nodes.map(({ name }) => name)]) {
    if (state.has(start)) continue;
    const stack = [{ name: start, at: 0 }];
    state.set(start, 'open');
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const link = (next.get(top.name) ?? [])[top.at];
      top.at += 1;
      if (!link) {
        state.set(top.name, 'done');
        stack.pop();
      } else if (state.get(link.to) === 'open') backward.add(link);
      else if (!state.has(link.to)) {
        state.set(link.to, 'open');
        stack.push({ name: link.to, at: 0 });
      }
    }
  }
  return { forward: links.filter((link) => !backward.has(link)), backward: [...backward] };
}

function orderOf(
  nodes: readonly N8nNode[],
  links: readonly Link[],
  loopOf: ReadonlyMap<string, string>,
): N8nNode[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const members = Map.groupBy(nodes, ({ name }) => loopOf.get(name));
  const ordered = (scope: string | undefined): N8nNode[] => {
    const own = members.get(scope) ?? [];
    const names = new Set(own.map(({ name }) => name));
    const inner = links.filter(({ from, to }) => names.has(from) && names.has(to));
    const waiting = new Map(own.map(({ name }) => [name, inner.filter(({ to }) => to === name).length]));
    const next = Map.groupBy(inner, ({ from }) => from);
    const ready = own.filter(({ name }) => waiting.get(name) === 0).map(({ name }) => name);
    for (const name of ready)
      for (const { to } of next.get(name) ?? []) {
        const count = (waiting.get(to) ?? 0) - 1;
        waiting.set(to, count);
        if (count === 0) ready.push(to);
      }
    return ready.flatMap((name) => {
      const node = byName.get(name);
      return node ? [node, ...(isLoop(node) ? ordered(name) : [])] : [];
    });
  };
  return ordered(undefined);
}

function visibleOf(order: readonly N8nNode[], links: readonly Link[], loopOf: ReadonlyMap<string, string>) {
  const before = new Map<string, Set<string>>();
  const sources = Map.groupBy(links, ({ to }) => to);
  for (const { name } of order) {
    const visible = new Set<string>();
    const add = (source: string) => {
      visible.add(source);
      for (const earlier of before.get(source) ?? []) visible.add(earlier);
    };
    for (const { from } of sources.get(name) ?? []) add(from);
    const loop = loopOf.get(name);
    if (loop !== undefined) add(loop);
    before.set(name, visible);
  }
  return before;
}
