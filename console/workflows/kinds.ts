/** The kinds of nodes and their labels, without schemas, so that invalid drafts work too. */
import type { StepKind } from '../../api/step.ts';
import type { TriggerKind } from '../../api/triggerKinds.ts';
import type { NodeKind, WorkflowEdge, WorkflowNode } from '../../api/workflow.ts';
import { labelOf } from '../forms/labels.ts';
import { nameInSentence, visibleText } from '../ui/visibleText.ts';

const TRIGGERS: Record<TriggerKind, string> = {
  manual: 'Manual',
  webhook: 'Webhook',
  schedule: 'Schedule',
  mail: 'New email',
  spreadsheet: 'Spreadsheet',
  fileStorage: 'Files',
  bot: 'Bot message',
  chat: 'Chat message',
};

const STEPS: Record<StepKind, string> = {
  agent: 'Agent',
  skill: 'Skill',
  response: 'Response',
  group: 'Group',
  wait: 'Wait',
  workflow: 'Run workflow',
  fail: 'Fail',
  code: 'Code',
};

const TRIGGER_NAMES = Object.keys(TRIGGERS) as TriggerKind[];

/** The member of a node that is its kind; undefined if it has none. */
export function nodeKind(node: WorkflowNode): NodeKind | undefined {
  return [...TRIGGER_NAMES, ...(Object.keys(STEPS) as StepKind[])].find((kind) => node[kind] !== undefined);
}

/** Whether nodes of the kind are triggers. */
export function isTriggerName(kind: NodeKind): boolean {
  return kind in TRIGGERS;
}

/** Whether the name is that of a kind of nodes. */
export function isKindName(name: string): name is NodeKind {
  return Object.hasOwn(TRIGGERS, name) || Object.hasOwn(STEPS, name);
}

export function isTrigger(node: WorkflowNode): boolean {
  return TRIGGER_NAMES.some((kind) => node[kind] !== undefined);
}

/** Options that limit or repeat a call to another system. */
const OF_CALLS = ['timeout', 'retry', 'effect'];
/** The options of which a node has one at most. */
export const LOOPS = ['forEach', 'repeat'] as const;

/** The options that the API server refuses on the node, because they have no effect there. */
export function refusedOptions(node: WorkflowNode): readonly string[] {
  if (isTrigger(node) || node.fail !== undefined) return [...OF_CALLS, 'onError', ...LOOPS];
  if (node.response !== undefined) return [...OF_CALLS, ...LOOPS];
  if (node.group !== undefined) return ['effect'];
  const isLocal = node.code !== undefined || node.wait !== undefined || node.skill?.name === 'set';
  return isLocal ? OF_CALLS : [];
}

/** Says how a node is executed several times; empty: once. */
export function loopLabel({ forEach, repeat }: Pick<WorkflowNode, 'forEach' | 'repeat'>): string {
  if (forEach) return 'For each item';
  return repeat ? 'Repeat until' : '';
}

export function kindLabel(kind: NodeKind): string {
  return { ...TRIGGERS, ...STEPS }[kind];
}

/** What a node does: the skill's name, or the label of its kind. */
export function actionLabel(node: WorkflowNode): string {
  const kind = nodeKind(node);
  if (kind === undefined) return 'No type';
  if (kind === 'group') return loopLabel(node) || 'Group';
  if (kind === 'wait') return waitLabel(node.wait ?? {});
  return kind === 'skill' ? skillLabel(node.skill?.name ?? '') : kindLabel(kind);
}

function waitLabel({ duration, until, callback }: NonNullable<WorkflowNode['wait']>): string {
  if (duration !== undefined) return `Wait ${duration}`;
  if (until !== undefined) return 'Wait until a time';
  return callback === undefined ? kindLabel('wait') : 'Wait for a callback';
}

/** "Send email" of `send_email`. */
export function skillLabel(name: string): string {
  return labelOf(name) || 'Skill';
}

/** The display name, or the ID. */
export function nodeLabel(node: WorkflowNode): string {
  return node.displayName === undefined || node.displayName === '' ? node.id : node.displayName;
}

/**
 * The display name of the node with this ID, or the ID, for sentences: short, with its hidden characters
 * visible, and with the ID if another node has the same name.
 */
export function nodeName(id: string, nodes: readonly WorkflowNode[]): string {
  const node = nodes.find((each) => each.id === id);
  if (node === undefined) return nameInSentence(id);
  const label = nodeLabel(node);
  const isShared = nodes.some((other) => other !== node && nodeLabel(other) === label);
  return isShared ? identifiedName(node) : nameInSentence(label);
}

/**
 * The display name and the ID, which nodes of equal names do not share. For sentences that warn of what a
 * model or a colleague wrote: the name is short, and its hidden characters are visible.
 */
export function identifiedName(node: WorkflowNode): string {
  const label = nodeLabel(node);
  const id = visibleText(node.id);
  return label === node.id ? id : `${nameInSentence(label)} (${id})`;
}

/** The condition of an edge, as it is written; empty if the edge is always taken. */
export function edgeLabel({ when, after }: Pick<WorkflowEdge, 'when' | 'after'>): string {
  const words = [after === 'Failure' ? 'on failure' : '', when === undefined ? '' : `if ${when}`];
  return words.filter((word) => word !== '').join(', ');
}
