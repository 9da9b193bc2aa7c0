/** Checks that this version can do what the spec asks for. What it cannot do it refuses, rather than leave it out. */
import { isTriggerKind, kindOf, type WorkflowNode } from '../../../api/workflow.ts';
import { POLLED_KINDS } from '../../../nodes/pollers.ts';
import type { Check, Violation } from './check.ts';

/** Triggers that start runs in this version. */
const SUPPORTED_TRIGGERS: readonly string[] = ['manual', 'webhook', 'schedule', 'bot', ...POLLED_KINDS];

const LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(SUPPORTED_TRIGGERS);

/** Fields that are in the schema and not executed yet, and how to do without them. */
const UNSUPPORTED: {
  field: string;
  remedy: string;
  isUsed: (node: WorkflowNode) => boolean;
}[] = [
  { field: 'forEach', remedy: 'remove it', isUsed: (node) => node.forEach !== undefined },
  {
    field: 'agent.tools',
    remedy: 'remove them, and use a skill node behind the agent',
    isUsed: (node) => (node.agent?.tools ?? []).length > 0,
  },
];

/** The trigger is of a kind that this version can activate. */
export const triggerIsSupported: Check = (spec) =>
  spec.nodes.flatMap((node): Violation[] => {
    const kind = kindOf(node);
    if (!isTriggerKind(kind) || SUPPORTED_TRIGGERS.includes(kind)) return [];
    const message = `node ${node.id}: this version cannot activate a ${kind} trigger yet; use ${LIST}`;
    return [{ reason: 'TriggerNotSupported', message, trigger: true }];
  });

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
