/** Checks of groups, forEach and repeat. */
import { compileCondition, conditionReferences } from '../../../api/cel.ts';
import { ExpressionError } from '../../../api/expression/errors.ts';
import { parseTemplate } from '../../../api/expression/parse.ts';
import { revisionOf } from '../../../api/revision.ts';
import type { Visibility } from '../../../api/scopes.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { hasEffectOnce } from '../../../nodes/register.ts';
import type { Check, Violation } from './check.ts';
import { checkNodeInCel, visibilityOfSpec } from './expressions.ts';

/** Loops have items and conditions that can be evaluated, groups have a body, and no reply is in a loop. */
export const loopsFit: Check = (spec) => {
  const visible = visibilityOfSpec(spec);
  return spec.nodes.flatMap((node) => [
    ...itemsProblems(node),
    ...untilProblems(node, spec, visible),
    ...groupProblems(node, spec, visible),
    ...replyProblems(node, spec, visible),
  ]);
};

function itemsProblems({ id, forEach }: WorkflowNode): Violation[] {
  if (!forEach) return [];
  const place = `node ${id}: forEach.items`;
  try {
    if (parseTemplate(forEach.items).single) return [];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [{ reason: 'InvalidExpression', message: `${place}: ${error.message}` }];
  }
  const message = `${place}: must be one reference to an array, such as {{ $('trigger').data_content.items }}`;
  return [{ reason: 'InvalidExpression', message }];
}

function untilProblems({ id, repeat }: WorkflowNode, spec: WorkflowSpec, visible: Visibility): Violation[] {
  if (!repeat) return [];
  const place = `node ${id}: repeat.until`;
  try {
    return conditionReferences(compileCondition(repeat.until))
      .filter((named) => named !== id)
      .flatMap((named) => checkNodeInCel({ id: named, source: repeat.until }, id, place, { spec, visible }));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [{ reason: 'InvalidExpression', message: `${place}: ${error.message}` }];
  }
}

function groupProblems(
  { id, group, retry }: WorkflowNode,
  spec: WorkflowSpec,
  visible: Visibility,
): Violation[] {
  if (!group) return [];
  const body = spec.nodes.filter((node) => visible.groupsAround(node.id).includes(id));
  if (body.length === 0) {
    const message = `node ${id}: the group has no body: set within: ${id} on the nodes that belong to it`;
    return [{ reason: 'UnreachableStep', message }];
  }
  if ((retry?.limit ?? 0) === 0) return [];
  const inBody = new Set(body.map((node) => node.id));
  const once = revisionOf(spec).steps.find((step) => inBody.has(step.id) && hasEffectOnce(step));
  if (!once) return [];
  const message = `node ${id}: retry would repeat node ${once.id}, whose effect must happen at most once: remove retry, or set it on single nodes of the body`;
  return [{ reason: 'InvalidParameters', message }];
}

function replyProblems(
  { id, response }: WorkflowNode,
  { nodes }: WorkflowSpec,
  visible: Visibility,
): Violation[] {
  if (!response) return [];
  const around = visible.groupsAround(id);
  const loop = nodes.find((node) => around.includes(node.id) && (node.forEach ?? node.repeat) !== undefined);
  if (!loop) return [];
  const message = `node ${id}: a response is in the loop ${loop.id}, but a run has one reply: move it out of the group`;
  return [{ reason: 'InvalidParameters', message }];
}
