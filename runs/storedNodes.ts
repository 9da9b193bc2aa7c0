/**
 * Nodes as `advance` stores them: checkpoints, start marks and agents in progress, each with its live event.
 */
import { FIRST_SUCCESS } from './advanceFragments.ts';
import { eventText, shortened } from './end.ts';
import type { Advance } from './types/advance.ts';
import type { EventCounts, RunEventBody } from './types/event.ts';
import type { AgentMark, ItemCounts, NodeState } from './types/node.ts';

type Stored = { id: string; value: string; event: string };

/** JSON has no member for `undefined`: a copy without these members would take longer for each step. */
const NOT_STORED = {
  mark: undefined,
  nextAttemptAt: undefined,
  isSilent: undefined,
  isProgress: undefined,
};

export function storedNodes({
  checkpoints = [],
  starts = [],
  agents = [],
}: Pick<Advance, 'checkpoints' | 'starts' | 'agents'>): Stored[] {
  const stored = checkpoints.map(checkpointArgs);
  for (const start of starts) stored.push(startArgs(start));
  for (const agent of agents) stored.push(agentArgs(agent));
  return stored;
}

/**
 * Rows of nodes of the run, of nodes in items of loops, and of waits. The waits of items are in their rows.
 */
export function rowsOf(stored: readonly Stored[], waiting: NonNullable<Advance['waits']>) {
  const waits: [string, number][] = [];
  const delays = new Map<string, number>();
  for (const { id, delayMs } of waiting)
    if (isItemKey(id)) delays.set(id, Math.ceil(delayMs));
    else waits.push([id, Math.ceil(delayMs)]);
  const nodes: string[][] = [];
  const itemNodes: (string | number)[][] = [];
  for (const { id, value, event } of stored)
    if (isItemKey(id)) itemNodes.push([id, value, delays.get(id) ?? '', event]);
    else nodes.push([`n:${id}`, value, event]);
  return { waits, nodes, itemNodes };
}

/** Whether the key is that of an item of a loop, or of a node of one (`runner/loop.ts`). */
function isItemKey(key: string): boolean {
  return key.includes('/') || key.includes('.');
}

function checkpointArgs(node: NodeState): Stored {
  const event = node.isSilent ? '' : isFirstSuccess(node) ? FIRST_SUCCESS : eventText(eventOf(node));
  return { id: node.id, value: JSON.stringify(storedNode(node)), event };
}

function isFirstSuccess({ id, phase, attempts, items, reason, message }: NodeState): boolean {
  return phase === 'Succeeded' && attempts === 1 && !(items ?? reason ?? message) && !isItemKey(id);
}

/** Most nodes are stored as they are: a copy takes as long as the text. */
function storedNode(node: NodeState): NodeState {
  const { mark, nextAttemptAt, isSilent, isProgress, outputIsInput } = node;
  const other = mark ?? nextAttemptAt ?? isSilent ?? isProgress ?? (outputIsInput ? node.output : undefined);
  if (other === undefined) return node;
  return { ...node, ...NOT_STORED, ...(outputIsInput && { output: undefined }) };
}

function eventOf(node: NodeState): RunEventBody {
  const id = nodeOfKey(node.id);
  const items = node.items && eventCounts(node.items);
  if (node.isProgress && items) return { type: 'items', node: id, items };
  const { phase, attempts: attempt } = node;
  return { type: 'node', node: id, phase, attempt, ...shortened(node), ...(items && { items }) };
}

function eventCounts({ total, succeeded, failed, running }: ItemCounts): EventCounts {
  return { total, succeeded, failed, running };
}

function startArgs(start: AgentMark): Stored {
  const { id, attempt, isSilent } = start;
  const event = isSilent ? '' : eventText({ type: 'node', node: nodeOfKey(id), phase: 'Running', attempt });
  return { id, value: JSON.stringify(markedNode(start)), event };
}

function agentArgs(agent: AgentMark): Stored {
  return { id: agent.id, value: JSON.stringify(markedNode(agent)), event: '' };
}

function markedNode({
  id,
  attempt,
  atMostOnce,
  at,
  firstAt,
  crashes,
  continues,
  agent,
  usage,
}: AgentMark): NodeState {
  return {
    id,
    phase: 'Running',
    attempts: attempt,
    startedAt: firstAt ?? at,
    mark: { attempt, atMostOnce, ...(crashes !== undefined && { crashes }), ...(continues && { continues }) },
    ...(agent && { agent }),
    ...(usage && { usage }),
  };
}

function nodeOfKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
