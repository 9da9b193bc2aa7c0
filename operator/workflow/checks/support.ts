/** Checks that this version can do what the spec asks for. What it cannot do it refuses, rather than leave it out. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import type { Check, Violation } from './check.ts';

/** Fields that are in the schema and not executed yet, and how to do without them. */
const UNSUPPORTED: {
  field: string;
  remedy: string;
  isUsed: (node: WorkflowNode) => boolean;
}[] = [
  {
    field: 'agent.tools',
    remedy: 'remove them, and use a skill node after the agent',
    isUsed: (node) => (node.agent?.tools ?? []).length > 0,
  },
];

/** No node uses a field that this version does not execute. */
export const fieldsAreSupported: Check = (spec) =>
  spec.nodes.flatMap((node) =>
    UNSUPPORTED.filter(({ isUsed }) => isUsed(node)).map(
      ({ field, remedy }): Violation => ({
        reason: 'FieldNotSupported',
        message: `node ${node.id}: this version does not execute ${field} yet: ${remedy}`,
      }),
    ),
  );
