/** Holds what the import writes to the checks of the API server and the operator. */
import { type WorkflowNode, type WorkflowSpec, workflowSpec } from '../../../api/workflow.ts';
import { TRIGGER_KINDS } from '../../../api/triggerKinds.ts';
import { validate } from '../../../operator/workflow/validate.ts';
import { isBody } from '../expressions/expression.ts';
import { replacement } from '../steps/placeholder.ts';

export type Problem = { node: string | undefined; message: string };

const MAX_NODES = 100;
const MAX_EDGES = 300;

/** What the checks say of the spec, with the node that each problem is of. */
export function problemsOf(spec: WorkflowSpec): Problem[] {
  const parsed = workflowSpec.safeParse(spec);
  if (!parsed.success)
    return parsed.error.issues.map(({ path, message }) => {
      const [list, index] = path;
      const node = list === 'nodes' && typeof index === 'number' ? spec.nodes[index]?.id : undefined;
      return { node, message: `${path.join('.')}: ${message}` };
    });
  const uncompiled = spec.nodes
    .filter(({ code }) => code && !isBody(code.source))
    .map(({ id }) => ({ node: id, message: `node ${id}: its code cannot be compiled` }));
  return [
    ...uncompiled,
    ...validate(spec)
      // A person sets variables after the import.
      .filter(({ reason }) => reason !== 'VariableMissing')
      .map(({ message }) => ({ node: /^(?:node|edge) ([A-Za-z]\w*)/.exec(message)?.[1], message })),
  ];
}

export type Checked = { spec: WorkflowSpec; replaced: Problem[]; isWhole: boolean };

const ROUNDS = 40;
/** What nothing leads to never runs: an edge that is never taken says so. */
const UNREACHED = /: no edge leads to it/;

/** The spec with placeholders for what the checks refuse. If that does not help, it is one placeholder. */
export function checkedSpec(spec: WorkflowSpec): Checked {
  if (spec.nodes.length > MAX_NODES || (spec.edges ?? []).length > MAX_EDGES)
    return nothing(spec, {
      node: undefined,
      message: `it needs ${spec.nodes.length} nodes and ${(spec.edges ?? []).length} edges, and a workflow has at most ${MAX_NODES} and ${MAX_EDGES}: import it in parts`,
    });
  const replaced: Problem[] = [];
  let at = spec;
  for (let round = 0; round < ROUNDS; round += 1) {
    const problems = problemsOf(at);
    const [first] = problems;
    if (!first) return { spec: at, replaced, isWhole: true };
    const named = problems.filter(({ node }) => at.nodes.some(({ id }) => id === node));
    if (named.length === 0) return nothing(spec, first);
    const unreached = named.filter(({ message }) => UNREACHED.test(message));
    if (unreached.length > 0) {
      at = {
        ...at,
        edges: [
          ...(at.edges ?? []),
          ...unreached.map(({ node: to = '' }) => ({ from: at.nodes[0]?.id ?? '', to, when: 'false' })),
        ],
      };
      continue;
    }
    replaced.push(...named);
    at = withReplacements(at, new Set(named.map(({ node }) => node)), round > 0);
  }
  return nothing(spec, { node: undefined, message: 'the checks refuse it' });
}

function withReplacements(
  spec: WorkflowSpec,
  ids: ReadonlySet<string | undefined>,
  dropsConditions: boolean,
): WorkflowSpec {
  const edges = (spec.edges ?? []).map(({ when, ...edge }) =>
    when !== undefined && !(dropsConditions && (ids.has(edge.from) || ids.has(edge.to)))
      ? { ...edge, when }
      : edge,
  );
  return {
    ...spec,
    nodes: spec.nodes.map((node) => (ids.has(node.id) ? replaced(node) : node)),
    ...(spec.edges && { edges }),
  };
}

function replaced(node: WorkflowNode): WorkflowNode {
  const isTrigger = TRIGGER_KINDS.some((kind) => Object.hasOwn(node, kind));
  if (isTrigger)
    return {
      id: node.id,
      ...(node.displayName !== undefined && { displayName: node.displayName }),
      manual: {},
    };
  // The body of a group stays: only what the group itself says is left out.
  if (node.group)
    return { id: node.id, ...(node.within !== undefined && { within: node.within }), group: {} };
  return replacement(node);
}

function nothing(spec: WorkflowSpec, problem: Problem): Checked {
  const trigger: WorkflowNode = { id: 'trigger', manual: {} };
  const all = replacement({ id: 'not_imported', displayName: 'Not imported' });
  return {
    spec: {
      ...(spec.displayName !== undefined && { displayName: spec.displayName }),
      active: false,
      nodes: [trigger, all],
      edges: [{ from: 'trigger', to: 'not_imported' }],
    },
    replaced: [problem],
    isWhole: false,
  };
}
