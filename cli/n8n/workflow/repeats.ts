/**
 * Connections that lead back to an earlier node become a loop of their own, which `unit.ts` writes as a group
 * with `repeat`. Pure.
 */
import { addedNode, type Link, type N8nNode, type N8nWorkflow, uniqueName } from '../model/n8n.ts';
import { type Flow, REPEAT, flowOf, mainLinks, reach } from './graph.ts';

/** An output of a node in the body whose items leave it. */
export type Exit = Pick<Link, 'from' | 'output'>;

/** The output of the loop for an exit. One output is that of the body. */
export const exitOutput = (index: number): number => (index === 0 ? 0 : index + 1);

const MOST = 6;

/** The workflow with a loop for each connection that leads back, where one entry and one body can be told. */
export function withRepeats(workflow: N8nWorkflow, trigger: string): N8nWorkflow {
  let at = workflow;
  const tried = new Set<string>();
  for (let count = 0; count < MOST; count += 1) {
    const flow = flowOf(at, trigger);
    const head = flow.dropped.map(({ to }) => to).find((to) => !tried.has(to));
    if (head === undefined) return at;
    tried.add(head);
    at = withRepeat(at, trigger, flow, head) ?? at;
  }
  return at;
}

function withRepeat(
  workflow: N8nWorkflow,
  trigger: string,
  flow: Flow,
  head: string,
): N8nWorkflow | undefined {
  const body = bodyOf(flow, head);
  if (body.size === 0 || body.has(trigger)) return undefined;
  const main = mainLinks(workflow).filter(({ from }) => flow.order.some(({ name }) => name === from));
  const isEntered = main.every(
    ({ from, to, input }) => body.has(from) || !body.has(to) || (to === head && input === 0),
  );
  if (!isEntered) return undefined;
  const name = uniqueName(workflow, `Repeat ${head}`);
  const leaving = main.filter(({ from, to }) => body.has(from) && !body.has(to));
  const exits = [
    ...new Map(leaving.map(({ from, output }) => [`${output} ${from}`, { from, output }])).values(),
  ];
  const outputOf = ({ from, output }: Link) =>
    exitOutput(exits.findIndex((exit) => exit.from === from && exit.output === output));
  const links = workflow.links.map((link): Link => {
    if (link.kind !== 'main') return link;
    if (link.to === head) return { ...link, to: name };
    return leaving.includes(link) ? { ...link, from: name, output: outputOf(link) } : link;
  });
  const start: Link = { from: name, output: 1, to: head, input: 0, kind: 'main' };
  const changed = {
    ...workflow,
    nodes: [...workflow.nodes, repeatNode(name, head, exits)],
    links: [...links, start],
  };
  const after = flowOf(changed, trigger);
  const isBetter = after.dropped.length < flow.dropped.length && after.loopOf.get(head) === name;
  return isBetter ? changed : undefined;
}

/** The nodes between the head and the connections that lead back to it, with the bodies of their loops. */
function bodyOf({ links, dropped, loopOf }: Flow, head: string): Set<string> {
  const back = dropped.filter(({ to, from }) => to === head && loopOf.get(from) === loopOf.get(head));
  const forward = reach(links, [head]);
  const reversed = links.map((link) => ({ ...link, from: link.to, to: link.from }));
  const between = reach(
    reversed,
    back.map(({ from }) => from).filter((from) => forward.has(from)),
  );
  const body = new Set([...forward].filter((name) => between.has(name)));
  for (const [name, loop] of loopOf) if (body.has(loop)) body.add(name);
  return body.has(head) ? body : new Set();
}

const repeatNode = (name: string, head: string, exits: readonly Exit[]): N8nNode =>
  addedNode({ name, type: REPEAT, version: 3, parameters: { head, exits } });
