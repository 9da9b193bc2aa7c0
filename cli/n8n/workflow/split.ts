/** Several triggers in one workflow of n8n become several workflows. Pure. */
import { namedNodes } from '../expressions/expression.ts';
import { mainLinks, reach } from './graph.ts';
import { textOf } from '../model/json.ts';
import { addedNode, type Link, type N8nNode, type N8nWorkflow, uniqueName } from '../model/n8n.ts';
import { isTriggerType } from '../nodes/register.ts';

/** A workflow with one trigger. `suffix`: what its name has after that of the original. */
type Unit = { workflow: N8nWorkflow; trigger: string; suffix: string };

export type Units = {
  units: Unit[];
  /** Names of triggers that are not needed, with the reason. */
  left: Map<string, string>;
};

const SHARED = 'shared';

const step = (name: string, type: string, parameters: Record<string, unknown>): N8nNode =>
  addedNode({ name, type: `n8n-nodes-base.${type}`, version: 1, parameters });

/** One unit for each trigger that is needed. Without a trigger, a manual one starts the first nodes. */
export function unitsOf(workflow: N8nWorkflow): Units {
  const links = mainLinks(workflow);
  const triggers = workflow.nodes
    .filter(({ type, isDisabled }) => isTriggerType(type) && !isDisabled)
    .map(({ name }) => name);
  if (triggers.length === 0) return { units: [withManual(workflow)], left: new Map() };
  const left = manualsLeft(workflow, triggers, links);
  const used = triggers.filter((name) => !left.has(name));
  const [only] = used;
  if (used.length === 1 && only !== undefined)
    return { units: [{ workflow, trigger: only, suffix: '' }], left };
  return {
    units: sharing(workflow, used, links) ?? used.map((name) => ({ workflow, trigger: name, suffix: name })),
    left,
  };
}

function withManual(workflow: N8nWorkflow): Unit {
  const targets = new Set(workflow.links.map(({ to }) => to));
  const subNodes = new Set(workflow.links.filter(({ kind }) => kind !== 'main').map(({ from }) => from));
  const name = uniqueName(workflow, 'Start');
  const isNote = ({ type }: N8nNode) => type.endsWith('.stickyNote');
  const roots = workflow.nodes.filter(
    (node) => !targets.has(node.name) && !subNodes.has(node.name) && !isNote(node),
  );
  const [first] = workflow.nodes.filter((node) => !isNote(node));
  const started = roots.length > 0 ? roots : first ? [first] : [];
  const added = started.map(
    (node): Link => ({ from: name, output: 0, to: node.name, input: 0, kind: 'main' }),
  );
  return {
    workflow: {
      ...workflow,
      nodes: [step(name, 'manualTrigger', {}), ...workflow.nodes],
      links: [...added, ...workflow.links],
    },
    trigger: name,
    suffix: '',
  };
}

/** Manual triggers that start what another trigger starts: each workflow can be started on request. */
function manualsLeft(
  workflow: N8nWorkflow,
  triggers: readonly string[],
  links: readonly Link[],
): Map<string, string> {
  const targetsOf = (name: string) =>
    links.filter(({ from }) => from === name).map(({ to, input }) => `${input} ${to}`);
  const isManual = (name: string) =>
    workflow.nodes.some((node) => node.name === name && node.type === 'n8n-nodes-base.manualTrigger');
  const others = new Set(triggers.filter((name) => !isManual(name)).flatMap(targetsOf));
  const left = triggers.filter(
    (name) => isManual(name) && triggers.length > 1 && targetsOf(name).every((target) => others.has(target)),
  );
  if (left.length === triggers.length) left.shift();
  return new Map(left.map((name) => [name, 'every workflow can be started on request']));
}

const PRIVATE_TYPES = /\.(?:respondToWebhook|chatTrigger|form)$/;

/**
 * What several triggers reach becomes one sub-workflow, which the workflow of each runs. Undefined if it is
 * entered at several places, answers a caller, or reads nodes of a single trigger: then each has all nodes.
 */
function sharing(
  workflow: N8nWorkflow,
  triggers: readonly string[],
  links: readonly Link[],
): Unit[] | undefined {
  const reached = triggers.map((name) => reach(links, [name]));
  const shared = new Set(
    workflow.nodes
      .map(({ name }) => name)
      .filter((name) => reached.filter((each) => each.has(name)).length > 1),
  );
  if (shared.size < 2 || triggers.some((name) => shared.has(name))) return undefined;
  const entries = links.filter(
    ({ from, to }) => shared.has(to) && !shared.has(from) && reached.some((each) => each.has(from)),
  );
  const [entry] = entries;
  if (!entry || entries.some(({ to, input }) => to !== entry.to || input !== 0)) return undefined;
  const whole = new Set(
    reach(
      workflow.links
        .map((link) => ({ ...link, from: link.to, to: link.from }))
        .filter(({ kind }) => kind !== 'main'),
      shared,
    ),
  );
  const members = workflow.nodes.filter(({ name }) => whole.has(name));
  const outside = new Set(workflow.nodes.map(({ name }) => name).filter((name) => !whole.has(name)));
  const readsOutside = members.some(
    (node) =>
      PRIVATE_TYPES.test(node.type) ||
      namedNodes(JSON.stringify(node.parameters).replaceAll('\\"', '"')).some((name) => outside.has(name)),
  );
  if (
    readsOutside ||
    triggers.some((name) =>
      workflow.nodes.some((node) => node.name === name && PRIVATE_TYPES.test(node.type)),
    )
  )
    return undefined;
  const start = uniqueName(workflow, 'Called');
  const call = uniqueName(workflow, `Run ${workflow.name}`.slice(0, 60));
  const common: Unit = {
    workflow: {
      ...workflow,
      nodes: [step(start, 'executeWorkflowTrigger', {}), ...members],
      links: [
        { from: start, output: 0, to: entry.to, input: 0, kind: 'main' },
        ...workflow.links.filter(({ from, to }) => whole.has(from) && whole.has(to)),
      ],
    },
    trigger: start,
    suffix: SHARED,
  };
  const callers = triggers.map((trigger): Unit => {
    const node = step(call, 'executeWorkflow', {
      workflowId: `${workflow.id || textOf(workflow.name)}#${SHARED}`,
    });
    const kept = workflow.links.filter(({ from, to }) => !whole.has(from) && !whole.has(to));
    const calls = entries.map((link) => ({ ...link, to: call }));
    return {
      workflow: {
        ...workflow,
        nodes: [...workflow.nodes.filter(({ name }) => outside.has(name)), node],
        links: [...kept, ...calls],
      },
      trigger,
      suffix: trigger,
    };
  });
  return [common, ...callers];
}
