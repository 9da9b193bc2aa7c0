/**
 * What of a run is withheld from everybody who reads it: records, the gateway's answers, live events. The run store keeps all
 * of it for as long as nodes need it. Pure.
 */
import type { Revision } from '../../api/revision.ts';
import type { RunPhase } from '../../api/phase.ts';
import type { NodeState, RunEvent, RunState } from '../types.ts';

/** What a revision says of its runs' data; undefined where the revision is gone: then everything is withheld. */
export type DataPolicy = Pick<Revision, 'recordData' | 'sensitive'> & {
  trigger: Pick<Revision['trigger'], 'id'>;
};

const WITHHELD = 'The message is left out, because the node is sensitive.';

/** The policy for whoever starts a run and waits for its outputs: only sensitive nodes are withheld. */
export function withoutRecordData({ recordData: _recordData, ...policy }: DataPolicy): DataPolicy {
  return policy;
}

/** The run as it may be shown. An input that somebody wrote into a WorkflowRun stays: it is in that object already. */
export function redactRun(state: RunState, policy: DataPolicy | undefined): RunState {
  const nodes = state.nodes.map((node) => redactNode(node, state.phase, policy));
  if (policy !== undefined && !isWithheld(policy.trigger.id, state.phase, policy)) return { ...state, nodes };
  if (state.recordUid !== undefined || state.input === '') return { ...state, nodes };
  return { ...state, nodes, input: '', inputRedacted: true };
}

/** The event as it may be shown; undefined where nothing may be. */
export function redactEvent(event: RunEvent, policy: DataPolicy | undefined): RunEvent | undefined {
  if (event.type === 'run') return event;
  // How the run ends is not known while its events come.
  if (event.type === 'text') return isWithheld(event.node, 'Running', policy) ? undefined : event;
  return event.message !== undefined && isSensitive(event.node, policy)
    ? { ...event, message: WITHHELD }
    : event;
}

/** Whether messages of the node may quote what is sensitive. */
function isSensitive(node: string, policy: Pick<DataPolicy, 'sensitive'> | undefined): boolean {
  return policy === undefined || (policy.sensitive?.includes(node) ?? false);
}

function isWithheld(node: string, phase: RunPhase, policy: DataPolicy | undefined): boolean {
  if (policy === undefined || isSensitive(node, policy)) return true;
  if (policy.recordData === 'None') return true;
  return policy.recordData === 'Errors' && phase !== 'Failed';
}

function redactNode(node: NodeState, phase: RunPhase, policy: DataPolicy | undefined): NodeState {
  const { output, message, ...rest } = node;
  const shown = message !== undefined && isSensitive(node.id, policy) ? WITHHELD : message;
  return {
    ...rest,
    ...(shown !== undefined && { message: shown }),
    ...(output !== undefined && (isWithheld(node.id, phase, policy) ? { redacted: true } : { output })),
  };
}
