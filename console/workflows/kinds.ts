/** The kinds of nodes, by name alone: without the schemas, so that drafts that are not sound yet can be looked at. */
import type { StepKind } from '../../api/step.ts';
import type { TriggerKind } from '../../api/trigger.ts';
import type { NodeKind, WorkflowEdge, WorkflowNode } from '../../api/workflow.ts';

const TRIGGERS: Record<TriggerKind, string> = {
  manual: 'Manual',
  webhook: 'Webhook',
  schedule: 'Schedule',
  mail: 'New mail',
  spreadsheet: 'Spreadsheet',
  fileStorage: 'Files',
  bot: 'Bot message',
};

const STEPS: Record<StepKind, string> = { agent: 'Agent', skill: 'Skill', response: 'Response' };

const TRIGGER_NAMES = Object.keys(TRIGGERS) as TriggerKind[];

/** The one member of a node that names its kind; undefined for a node that has none. */
export function nodeKind(node: WorkflowNode): NodeKind | undefined {
  return [...TRIGGER_NAMES, ...(Object.keys(STEPS) as StepKind[])].find((kind) => node[kind] !== undefined);
}

/** Whether the node is the one that starts the workflow. */
export function isTrigger(node: WorkflowNode): boolean {
  return TRIGGER_NAMES.some((kind) => node[kind] !== undefined);
}

/** The kind in words for people. */
export function kindLabel(kind: NodeKind): string {
  return { ...TRIGGERS, ...STEPS }[kind];
}

/** What a node does, in two or three words: the skill's name for skills, else the kind. */
export function actionLabel(node: WorkflowNode): string {
  const kind = nodeKind(node);
  if (kind === undefined) return 'No type';
  return kind === 'skill' ? skillLabel(node.skill?.name ?? '') : kindLabel(kind);
}

/** `send_email` as people read it: Send email. */
export function skillLabel(name: string): string {
  const words = name.replaceAll('_', ' ').trim();
  return words === '' ? 'Skill' : `${words[0]?.toUpperCase()}${words.slice(1)}`.replace(/\bhttp\b/i, 'HTTP');
}

/** What people see of a node. */
export function nodeLabel(node: WorkflowNode): string {
  return node.displayName === undefined || node.displayName === '' ? node.id : node.displayName;
}

/** When a line is taken, in words; nothing for one that is taken always. */
export function edgeLabel({ when, after }: Pick<WorkflowEdge, 'when' | 'after'>): string {
  const words = [after === 'Failure' ? 'on failure' : '', when === undefined ? '' : `if ${when}`];
  return words.filter((word) => word !== '').join(', ');
}
