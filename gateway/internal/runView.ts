/** The representation of a run: the same members from the run store, its record or its summary. */
import { joinExact } from '../../api/exact/exactNumber.ts';
import { workflowId } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { RunPhase } from '../../api/phase.ts';
import type { Revision } from '../../api/revision.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import type { RunView } from '../../api/runView.ts';
import { inOrderOf, nodeOrder } from '../../runs/record/order.ts';
import { usageOf, waitOf } from '../../runs/record/record.ts';
import { transcriptStatus } from '../../runs/transcript.ts';
import type { NodeState } from '../../runs/types/node.ts';
import type { RunState } from '../../runs/types/run.ts';
import type { RunSummary } from '../../runs/types/summary.ts';

/** From the run store, with nodes in the order of the graph. */
export function viewState(namespace: string, state: RunState, revision: Revision | undefined): RunView {
  return {
    run: state.run,
    workflow: workflowId(namespace, state.workflow),
    phase: state.phase,
    trigger: state.trigger,
    test: state.test,
    revision: state.revision,
    retryOf: state.retryOf,
    requestedBy: state.requestedBy,
    until: state.until,
    acceptedTime: time(state.acceptedAt),
    startTime: time(state.startedAt),
    completionTime: time(state.endedAt),
    reason: state.reason,
    message: state.message,
    usage: state.usage && usageOf(state.usage),
    nodes: inOrderOf(state.nodes, nodeOrder(revision)).map(viewNode),
  };
}

/** From the summary of a run without a record. */
export function viewSummary(namespace: string, line: RunSummary): RunView {
  return { ...viewListed(namespace, line), summary: true, nodes: [] };
}

type Line = Omit<RunSummary, 'phase' | 'endedAt'> & { phase: RunPhase; endedAt?: number };

/** The members that a list has. */
export function viewListed(namespace: string, line: Line): Omit<RunView, 'nodes'> {
  return {
    run: line.run,
    workflow: workflowId(namespace, line.workflow),
    phase: line.phase,
    trigger: line.trigger,
    test: line.test,
    requestedBy: line.requestedBy,
    acceptedTime: time(line.acceptedAt),
    startTime: time(line.startedAt),
    completionTime: time(line.endedAt),
    reason: line.reason,
    message: line.message,
  };
}

/** From the record. */
export function viewRecord({ metadata, spec, status = {} }: WorkflowRun): RunView {
  return {
    run: metadata.name,
    workflow: workflowId(metadata.namespace ?? '', spec.workflow),
    phase: status.phase ?? 'Pending',
    // The record of a run that was created as an object has it in the status alone.
    trigger: spec.trigger?.type ?? status.trigger,
    test: spec.test ?? false,
    revision: status.revision ?? spec.revision,
    retryOf: spec.retryOf,
    requestedBy: spec.requestedBy,
    until: spec.until,
    acceptedTime: status.acceptedTime,
    startTime: status.startTime,
    completionTime: status.completionTime,
    reason: status.reason,
    message: status.message,
    usage: status.usage,
    nodes: (status.nodes ?? []).map(withExactOutput),
  };
}

/** The recorded output, with the digits that the API server rounded. */
function withExactOutput({ output, ...node }: NodeStatus): NodeStatus {
  if (output === undefined) return node;
  const { exact, ...rest } = output;
  return { ...node, output: { ...rest, data_content: joinExact(rest.data_content, exact) } };
}

function viewNode(node: NodeState): RunView['nodes'][number] {
  return {
    id: node.id,
    phase: node.phase,
    attempts: node.attempts,
    startTime: time(node.startedAt),
    completionTime: time(node.endedAt),
    ...waitOf(node),
    run: node.run,
    items: node.items,
    item: node.item,
    output: node.output,
    redacted: node.redacted,
    reason: node.reason,
    message: node.message,
    usage: node.usage,
    agent: node.agent,
    transcript: node.transcript && transcriptStatus(node.transcript),
    log: node.log,
    sent: node.sent,
    missing: node.missing,
    mocked: node.mocked,
  };
}

/** As RFC 3339. */
export function time(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
