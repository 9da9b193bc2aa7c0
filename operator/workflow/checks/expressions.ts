/** Checks that references and conditions can be parsed, and that they name nodes that come before. */
import { compileCondition, conditionReferences, valueReferences } from '../../../api/cel.ts';
import { testsNode } from '../../../api/disabled.ts';
import { ExpressionError } from '../../../api/expression/errors.ts';
import { pathOfData } from '../../../api/expression/n8n.ts';
import {
  printReference,
  type Reference,
  withoutPrevious,
  printStep,
} from '../../../api/expression/reference.ts';
import { compileValue, referencesOf } from '../../../api/expression/template.ts';
import { revisionOf, scopedNodesOfSpec, type RevisionStep } from '../../../api/revision.ts';
import { visibilityOf, type Visibility } from '../../../api/scopes.ts';
import { isTriggerKind, kindOf, type WorkflowSpec, type WorkflowNode } from '../../../api/workflow.ts';
import { nodesNamed } from '../../../nodes/skills/values.ts';
import { templatesOf, valuesOf } from '../../../nodes/step.ts';
import type { Check, Violation } from './check.ts';
import { DEFAULT_IN_TEMPLATE, readsNoDisabled, TEST_IN_CEL } from './disabled.ts';

/** Every `{{ … }}` of a step can be parsed and names a node that comes before it. */
export const referencesAreKnown: Check = (spec) => {
  const visible = visibilityOfSpec(spec);
  return revisionOf(spec).steps.flatMap((step) =>
    templateFields(step).flatMap(([field, value]) => {
      const place = `node ${step.id}: ${field}`;
      return parsed(place, () =>
        referencesOf(compileValue(value)).flatMap((reference) => [
          ...checkReference(reference, step.id, place, visible, spec),
          ...(reference.source === 'node' && reference.default === undefined
            ? readsNoDisabled(namedIn(reference), place, spec, DEFAULT_IN_TEMPLATE)
            : []),
          ...memberProblems(withoutPrevious(reference, visible.previousOf(step.id)), place, spec, {
            id: step.id,
            visible,
          }),
        ]),
      );
    }),
  );
};

/** Every expression in the values of a step can be parsed and names nodes that come before it. */
export const valuesAreKnown: Check = (spec) => {
  const visible = visibilityOfSpec(spec);
  return revisionOf(spec).steps.flatMap((step) => {
    const place = `node ${step.id}: ${step.kind}.parameters`;
    return parsed(place, () => {
      const values = valuesOf(step);
      const previous = visible.previousOf(step.id);
      return (values ? nodesNamed(values) : []).flatMap(({ path, ids, names, reads, source }) => [
        ...ids.flatMap((id) =>
          checkNodeInCel({ id, source }, step.id, `${place}.${path}`, { spec, visible }),
        ),
        ...(names.previous ? checkPrevious('previous', step.id, `${place}.${path}`, visible) : []),
        ...reads.flatMap((read) =>
          memberProblems(
            withoutPrevious(read, previous),
            `${place}.${path}`,
            spec,
            { id: step.id, visible },
            true,
          ),
        ),
      ]);
    });
  });
};

/** Every `when` of an edge can be parsed and names nodes that come before the edge's end. */
export const conditionsAreKnown: Check = (spec) => {
  const visible = visibilityOfSpec(spec);
  return (spec.edges ?? []).flatMap(({ from, to, when }) => {
    if (when === undefined) return [];
    const place = `edge ${from} → ${to}: when`;
    return parsed(place, () => {
      const condition = compileCondition(when);
      return [
        ...conditionReferences(condition).flatMap((id) =>
          checkNodeInCel({ id, source: when }, to, place, { spec, visible }),
        ),
        ...(condition.names.previous && visible.executedBefore(from) === undefined
          ? [noPrevious(from, place, visible)]
          : []),
        ...valueReferences(condition).flatMap((read) =>
          memberProblems(
            withoutPrevious(read, visible.executedBefore(from)),
            place,
            spec,
            { id: to, visible },
            true,
          ),
        ),
      ];
    });
  });
};

/** Whether a node that the CEL expression `source` names comes before `user`, and can have an output. */
export function checkNodeInCel(
  { id, source }: { id: string; source: string },
  user: string,
  place: string,
  { spec, visible }: { spec: WorkflowSpec; visible: Visibility },
): Violation[] {
  const named = { id, written: `nodes.${id}` };
  return [
    ...checkNode(named, user, place, visible),
    ...(testsNode(source, id) ? [] : readsNoDisabled(named, place, spec, TEST_IN_CEL)),
  ];
}

const namedIn = (reference: Reference & { source: 'node' }) => ({
  id: reference.node,
  written: printReference(reference),
});

function templateFields(step: RevisionStep): [field: string, value: unknown][] {
  const own = Object.entries(templatesOf(step)).map(([field, value]): [string, unknown] => [
    `${step.kind}.${field}`,
    value,
  ]);
  return step.forEach ? [['forEach.items', step.forEach.items], ...own] : own;
}

/** Which nodes the nodes of the spec can name. */
export function visibilityOfSpec(spec: WorkflowSpec): Visibility {
  return visibilityOf(scopedNodesOfSpec(spec), spec.edges);
}

function parsed(place: string, check: () => Violation[]): Violation[] {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [{ reason: 'InvalidExpression', message: `${place}: ${error.message}` }];
  }
}

function checkReference(
  reference: Reference,
  user: string,
  place: string,
  visible: Visibility,
  spec: WorkflowSpec,
): Violation[] {
  const written = printReference(reference);
  if (reference.source === 'node') return checkNode({ id: reference.node, written }, user, place, visible);
  if (reference.source === 'previous') return checkPrevious(written, user, place, visible);
  if (reference.source === 'url') return checkURL(reference.node, user, place, visible, spec);
  if (reference.source !== 'item' && reference.source !== 'index') return [];
  return checkItem(written, user, place, visible, spec);
}

/** The item exists in a node with forEach, and in the body of a group with forEach. */
function checkItem(
  written: string,
  user: string,
  place: string,
  visible: Visibility,
  { nodes }: WorkflowSpec,
): Violation[] {
  const around = [user, ...visible.groupsAround(user)];
  if (nodes.some(({ id, forEach }) => forEach && around.includes(id))) return [];
  const message = `${place}: ${written} exists only in a node with forEach, and in the body of such a group: add forEach, or refer to a node as $('<node id>')`;
  return [{ reason: 'InvalidExpression', message }];
}

/** The node waits for a callback, once in the scope of the user or in one around it. */
function checkURL(
  id: string,
  user: string,
  place: string,
  visible: Visibility,
  { nodes }: WorkflowSpec,
): Violation[] {
  const node = nodes.find((one) => one.id === id);
  const scopes: (string | undefined)[] = [undefined, ...visible.groupsAround(user)];
  const isSingle = !node?.forEach && !node?.repeat;
  if (node?.wait?.callback && isSingle && scopes.includes(node.within)) return [];
  const offered = nodes
    .filter(
      ({ wait, forEach, repeat, within }) => wait?.callback && !forEach && !repeat && scopes.includes(within),
    )
    .map((one) => one.id);
  const problem = !node
    ? 'which does not exist'
    : node.disabled
      ? 'which is disabled'
      : !node.wait?.callback
        ? 'which does not wait for a callback'
        : isSingle
          ? `which is in the group ${node.within}: its URL exists only in that group`
          : 'which has forEach or repeat, so that it has no single URL: put it into a group with these options';
  const message = `${place}: $url('${id}') names a node ${problem}. Callbacks that ${user} can name: ${offered.join(', ') || '(none)'}`;
  return [{ reason: 'UnknownReference', message }];
}

/** The node before exists only if exactly one edge leads into the node. */
function checkPrevious(written: string, user: string, place: string, visible: Visibility): Violation[] {
  if (visible.previousOf(user) !== undefined) return [];
  const offered = visible.sourcesOf(user);
  const message = `${place}: ${written} needs exactly one edge into ${user}: name the node instead, one of ${offered.join(', ') || '(none)'}`;
  return [{ reason: 'UnknownReference', message }];
}

/** The condition reads the node before a disabled step into which several edges lead. */
function noPrevious(from: string, place: string, visible: Visibility): Violation {
  const offered = visible.before(from);
  const message = `${place}: previous needs exactly one edge into ${from}, since ${from} is disabled: name the node instead, one of ${offered.join(', ') || '(none)'}`;
  return { reason: 'UnknownReference', message };
}

/** Whether a node that `user` names comes before it. `written`: how the user names it. */
export function checkNode(
  named: { id: string; written: string },
  user: string,
  place: string,
  visible: Visibility,
): Violation[] {
  const offered = visible.before(user);
  // A node can read the item of a group around it, which `memberProblems` checks.
  if (offered.includes(named.id) || visible.groupsAround(user).includes(named.id)) return [];
  const exists = visible.has(named.id);
  const group = visible.groupsAround(named.id).findLast((around) => offered.includes(around));
  if (group !== undefined) {
    const message = `${place}: ${named.written} names a node in the body of the group ${group}, which only nodes of that body can read: name ${group}, whose output is that of the last node of its body`;
    return [{ reason: 'UnknownReference', message }];
  }
  const problem = exists ? `does not come before ${user}` : 'does not exist';
  const remedy = exists ? `add an edge that leads from it to ${user}, or use one of` : 'use one of';
  const message = `${place}: ${named.written} names a node that ${problem}: ${remedy}: ${offered.join(', ') || '(none)'}`;
  return [{ reason: 'UnknownReference', message }];
}

/**
 * The problem of the member that a reference reads. `inCel`: a condition or value, which can test with has()
 * whether there is an error, so that it may name one that never has a value.
 */
function memberProblems(
  reference: Reference,
  place: string,
  spec: WorkflowSpec,
  user: { id: string; visible: Visibility },
  inCel = false,
): Violation[] {
  if (reference.source !== 'node') return [];
  const node = spec.nodes.find(({ id }) => id === reference.node);
  if (!node) return [];
  const print = inCel ? printInCel : printReference;
  const problem =
    itemProblem(node, reference, user, print) ??
    (reference.member === 'headers'
      ? headerProblem(node, reference.path[0])
      : reference.member === 'error' && !inCel
        ? errorProblem(node, spec)
        : undefined);
  if (problem === undefined) return [];
  const written = print(reference);
  return [{ reason: 'UnknownReference', message: `${place}: ${written} never has a value. ${problem}` }];
}

function printInCel({ node, member, path }: NodeReference): string {
  return `nodes.${node}.${member}${path.map(printStep).join('')}`;
}

type NodeReference = Reference & { source: 'node' };

/** A node can read the item of a group around it, and all other members of other nodes. */
function itemProblem(
  { id, forEach, repeat, webhook }: WorkflowNode,
  reference: NodeReference,
  { id: user, visible }: { id: string; visible: Visibility },
  print: (reference: NodeReference) => string,
): string | undefined {
  const { member, path } = reference;
  const isItem = member === 'item' || member === 'index';
  if (!visible.groupsAround(user).includes(id)) {
    if (!isItem) return undefined;
    // Who comes from n8n writes .item.json for the output of any node.
    const data = print({
      ...reference,
      member: 'data_content',
      path: pathOfData(path, webhook !== undefined),
    });
    const remedy = member === 'item' ? `: write ${data}` : '';
    return `Use .data_content of ${id}${remedy}; .${member} exists for groups, inside of their body, and ${user} is not in ${id}`;
  }
  if (isItem) return forEach ? undefined : `The group ${id} has no forEach`;
  if (repeat && member === 'data_content') return undefined;
  return `The group ${id} has not ended while its body runs: use .item or .index`;
}

function headerProblem({ id, webhook }: WorkflowNode, key: string | number | undefined): string | undefined {
  if (!webhook) return `Only a webhook trigger has headers, and ${id} is not one`;
  const admitted = (webhook.headers ?? []).map((name) => name.toLowerCase());
  if (key === undefined && admitted.length > 0) return undefined;
  const name = String(key ?? 'x-name').toLowerCase();
  if (!admitted.includes(name)) return `Add the header to webhook.headers of node ${id}: headers: [${name}]`;
  return key === name ? undefined : `Header names are lower case: write headers['${name}']`;
}

function errorProblem(node: WorkflowNode, { nodes, edges = [] }: WorkflowSpec): string | undefined {
  if (nodes.includes(node) && isTriggerKind(kindOf(node)))
    return `${node.id} is the trigger, which never fails`;
  const goesOn =
    node.onError === 'Continue' || edges.some(({ from, after }) => from === node.id && after === 'Failure');
  return goesOn
    ? undefined
    : `A failure of ${node.id} ends the run: set its onError to Continue, or add an edge from it with after: Failure`;
}
