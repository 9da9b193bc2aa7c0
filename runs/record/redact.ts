/**
 * Withholds sensitive data of a run from all readers: records, the gateway's answers, live events. The run
 * store keeps it as long as nodes need it. Pure.
 */
import { mayHoldCallbackURL, withoutCallbackURLs } from '../../api/callback.ts';
import type { RunPhase } from '../../api/phase.ts';
import type { Revision } from '../../api/revision.ts';
import type { RunEvent } from '../types/event.ts';
import type { ItemCounts, NodeState } from '../types/node.ts';
import type { RunState } from '../types/run.ts';

/** The data policy of a revision; undefined where the revision is gone: everything is withheld. */
export type DataPolicy = Pick<Revision, 'recordData' | 'sensitive'> & {
  trigger: Pick<Revision['trigger'], 'id'>;
};

const WITHHELD = 'The message is left out, because the node is sensitive.';

/** The policy for a caller that waits for the outputs of its run: only sensitive nodes are withheld. */
export function withoutRecordData({ recordData: _recordData, ...policy }: DataPolicy): DataPolicy {
  return policy;
}

/**
 * The run without withheld data. The input of a WorkflowRun that somebody created stays: it is in that object
 * already.
 */
export function redactRun(whole: RunState, policy: DataPolicy | undefined): RunState {
  const state = hideGivenURLs(whole);
  const nodes = state.nodes.map((node) => redactNode(node, state.phase, policy));
  if (policy !== undefined && !isWithheld(policy.trigger.id, state.phase, policy)) return { ...state, nodes };
  if (state.recordUid !== undefined || state.input === '') return { ...state, nodes };
  return { ...state, nodes, input: '', inputRedacted: true };
}

/**
 * A run whose input has the URL of a callback, such as a child run that shall send it out: the URL is
 * replaced in the input and in all that its nodes made of it. The nodes themselves read the URL.
 */
function hideGivenURLs(state: RunState): RunState {
  const { input, nodes, message } = state;
  if (!mayHoldCallbackURL(input)) return state;
  return {
    ...state,
    input: withoutCallbackURLs(input),
    isInputPartial: true,
    nodes: nodes.map((node) => withoutCallbackURLs(node)),
    ...(message !== undefined && { message: withoutCallbackURLs(message) }),
  };
}

/** The event without withheld data; undefined where nothing may be shown. */
export function redactEvent(event: RunEvent, policy: DataPolicy | undefined): RunEvent | undefined {
  if (event.type === 'run') return event;
  // The end of the run is not known yet.
  if (event.type === 'items') return event;
  if (event.type === 'text' || event.type === 'transcript')
    return isWithheld(event.node, 'Running', policy) ? undefined : event;
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
  const { output, message, items, mocked, ...others } = node;
  const isHidden = isWithheld(node.id, phase, policy);
  const isSecret = isSensitive(node.id, policy);
  const shown = message !== undefined && isSecret ? WITHHELD : message;
  return {
    ...(isHidden ? withoutData(others) : others),
    ...(shown !== undefined && { message: shown }),
    ...(items && { items: isSecret ? withoutMessages(items) : items }),
    ...(mocked && { mocked: isHidden ? {} : mocked }),
    ...(output !== undefined && (isHidden ? { redacted: true } : { output })),
  };
}

function withoutData({
  log: _log,
  transcript: _transcript,
  sent: _sent,
  missing: _missing,
  ...node
}: NodeState): NodeState {
  return node;
}

function withoutMessages({ failures, ...counts }: ItemCounts): ItemCounts {
  return { ...counts, failures: failures.map((failure) => ({ ...failure, message: WITHHELD })) };
}
