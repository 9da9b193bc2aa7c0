/**
 * Writes a run into its WorkflowRun. Each write carries the object's uid, and the run's epoch and sequence,
 * which the API server does not allow to decrease: a repeated or late write does no harm.
 */
import { parseExact } from '../../api/exact/exactNumber.ts';
import { ANNOTATION, API_VERSION, GROUP, LABEL, VERSION } from '../../api/group.ts';
import { WORKFLOW, WORKFLOW_RUN, type WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import { type RunStatus } from '../../api/run.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Manifest } from '../../kube/writes.ts';
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  isTerminating,
  isTooLarge,
} from '../../kube/errors.ts';
import { namespacedResource } from '../../kube/resource.ts';
import type { RunState } from '../types/run.ts';
import { outputBytes, RECORD_LIMITS, toRecord, type RecordLimits } from './record.ts';
import { restoreAnnotationsOf } from './restoreAnnotations.ts';

/** The records of runs. */
export const runObjects = namespacedResource<WorkflowRun>(
  GROUP,
  VERSION,
  WORKFLOW_RUN.kind,
  WORKFLOW_RUN.plural,
);

/** The limit of an object, and the part of it for everything but mocks, inputs, outputs and messages. */
const OBJECT_BYTES = 2 ** 20;
const REST_BYTES = 128 * 1024;
const LEAST_MESSAGE_BYTES = 8 * 1024;
/** The recorder has its own back-off. */
const CALL = { retries: 1, timeoutMs: 10_000 };

export type RecordTarget = {
  kube: KubeClient;
  namespace: string;
  /** The id of the run store, which identifies our records. */
  store: string;
};

/**
 * Creates the object of a run with this `input`, also where its state withholds it; an existing object counts
 * if this store created it. Undefined if the run can have no object: its name is taken, its namespace is
 * terminating, or the API server refuses it.
 */
export async function createObject(
  target: RecordTarget,
  state: RunState,
  input = state.input,
): Promise<string | undefined> {
  const { kube, namespace, store } = target;
  try {
    const annotations = {
      [ANNOTATION.recorded]: store,
      ...restoreAnnotationsOf(state, input, RECORD_LIMITS),
    };
    const made = await kube.create(runObjects, manifest(state, namespace, annotations), CALL);
    return made.metadata.uid;
  } catch (error) {
    if (isTerminating(error)) return undefined;
    if (isInvalid(error)) return undefined;
    if (!isAlreadyExists(error)) throw error;
    const there = await kube.find(runObjects, { namespace, name: state.run }, CALL);
    return there && uidIfOurs(target, there);
  }
}

/** The uid of an object that a recorder of this store created. */
function uidIfOurs({ store }: RecordTarget, { metadata }: WorkflowRun): string | undefined {
  return metadata.annotations?.[ANNOTATION.recorded] === store ? metadata.uid : undefined;
}

/**
 * `bare`: without the nodes. `newer`: the record is ahead of this state. `gone`: somebody deleted the object.
 * `replacedBy`: the same, and another recorder has created the object with this uid for the run since.
 */
export type Written = 'written' | 'bare' | 'newer' | 'gone' | { replacedBy: string };

/**
 * Writes the state into the object with this uid. If the API server refuses it, writes it without the nodes,
 * so that the end of the run is recorded. Throws an ApiError if that is refused too, or there is no answer.
 */
export async function writeStatus(
  target: RecordTarget,
  state: RunState,
  uid: string,
  order: string[],
): Promise<Written> {
  try {
    await patchStatus(target, state, uid, toRecord(state, limitsOf(state), order).status);
    return 'written';
  } catch (error) {
    if (isNotFound(error) || isTerminating(error)) return 'gone';
    if (!isInvalid(error) && !isConflict(error) && !isTooLarge(error)) throw error;
    const why = await whyRefused(target, state, uid);
    if (typeof why === 'string') return why;
    if (why && 'replacedBy' in why) return why;
    if (why) return writeStatus(target, { ...state, ...why }, uid, order);
    const { nodes: _nodes, ...status } = toRecord(state).status;
    await patchStatus(target, state, uid, status);
    return 'bare';
  }
}

/**
 * An object that somebody else created has the whole input and the mocks: outputs, messages and transcripts
 * get the rest of the space.
 */
function limitsOf({ recordUid, input, testing }: RunState): RecordLimits {
  if (recordUid === undefined || input === '') return RECORD_LIMITS;
  const { maxOutputBytes, maxTotalBytes, maxMessageBytes, maxTranscriptBytes, maxSentBytes } = RECORD_LIMITS;
  const given =
    outputBytes(parseExact(input) as Partial<NodeOutput>) +
    Buffer.byteLength(JSON.stringify(testing?.mocks ?? []));
  const room = Math.max(0, OBJECT_BYTES - REST_BYTES - given);
  const messages = Math.min(maxMessageBytes, Math.max(LEAST_MESSAGE_BYTES, room / 4));
  const transcripts = Math.min(maxTranscriptBytes, (room - Math.min(room, messages)) / 4);
  const sent = Math.min(maxSentBytes, Math.max(0, room - messages - transcripts) / 4);
  return {
    maxOutputBytes,
    maxMessageBytes: messages,
    maxTranscriptBytes: transcripts,
    maxSentBytes: sent,
    maxTotalBytes: Math.min(maxTotalBytes, Math.max(0, room - messages - transcripts - sent)),
  };
}

/** A JSON patch, because a merge patch would drop nulls inside outputs of nodes. */
async function patchStatus(
  { kube, namespace }: RecordTarget,
  state: RunState,
  uid: string,
  status: RunStatus,
): Promise<void> {
  const patch = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/status', value: status },
  ];
  const ref = { namespace, name: state.run };
  await kube.patch(runObjects, ref, patch, { type: 'json', subresource: 'status', ...CALL });
}

/**
 * Why a write was refused; undefined where another writer is not the reason. A record without an end that is
 * ahead of an ended run comes from a store that had more than it has now, such as one whose log was cut: with
 * the returned epoch and sequence the end is recorded.
 */
async function whyRefused(
  target: RecordTarget,
  state: RunState,
  uid: string,
): Promise<'newer' | 'gone' | { replacedBy: string } | Pick<RunState, 'epoch' | 'sequence'> | undefined> {
  const there = await target.kube.find(runObjects, { namespace: target.namespace, name: state.run }, CALL);
  if (!there) return 'gone';
  if (there.metadata.uid !== uid) {
    const replacedBy = uidIfOurs(target, there);
    return replacedBy === undefined ? 'gone' : { replacedBy };
  }
  const { phase, epoch = 0, sequence = 0 } = there.status ?? {};
  const ahead = epoch > state.epoch || (epoch === state.epoch && sequence > state.sequence);
  if (ahead && isTerminal(state.phase) && !isTerminal(phase)) return { epoch, sequence: sequence + 1 };
  return ahead || (isTerminal(phase) && phase !== state.phase) ? 'newer' : undefined;
}

function manifest(
  state: RunState,
  namespace: string,
  annotations: Record<string, string>,
): Manifest<WorkflowRun> {
  return {
    metadata: {
      name: state.run,
      namespace,
      labels: {
        [LABEL.workflow]: state.workflow,
        [LABEL.trigger]: state.trigger,
        ...(state.test && { [LABEL.test]: 'true' }),
        ...(state.parent && { [LABEL.parent]: state.parent.run }),
        ...(state.parent?.item !== undefined && { [LABEL.parentItem]: String(state.parent.item) }),
      },
      annotations,
      ownerReferences: [
        {
          apiVersion: API_VERSION,
          kind: WORKFLOW.kind,
          name: state.workflow,
          uid: state.workflowUid,
          controller: true,
        },
      ],
    },
    spec: toRecord(state).spec,
  };
}
