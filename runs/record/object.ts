/**
 * Writing one run into its WorkflowRun. Each write carries the object's uid, and the run's epoch and sequence, which the API
 * server does not let go back: writing twice, or late, harms nothing.
 */
import { ANNOTATION, API_VERSION, GROUP, LABEL, VERSION } from '../../api/group.ts';
import { WORKFLOW, WORKFLOW_RUN, type WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/run.ts';
import type { KubeClient, Manifest } from '../../kube/client.ts';
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  isTerminating,
  isTooLarge,
} from '../../kube/errors.ts';
import { namespacedResource } from '../../kube/resource.ts';
import type { RunState } from '../types.ts';
import { keepsakeOf } from './keepsake.ts';
import { RECORD_LIMITS, toRecord, type RecordLimits } from './record.ts';

const runObjects = namespacedResource<WorkflowRun>(GROUP, VERSION, WORKFLOW_RUN.kind, WORKFLOW_RUN.plural);

/** What is left when even the bounded record is too large: a record that says what happened, and little of the data. */
const SMALL_LIMITS: RecordLimits = { maxOutputBytes: 2 * 1024, maxTotalBytes: 64 * 1024 };
/** Of the recorder's own; its back-off does the rest. */
const CALL = { retries: 1, timeoutMs: 10_000 };

export type RecordTarget = {
  kube: KubeClient;
  namespace: string;
  /** The id of the run store, by which a record of ours is told from an object that only has the same name. */
  store: string;
};

/**
 * Makes the object of a run; the one that is there already is taken if this store made it. Undefined if the run can have no
 * object: its name is taken by another, its namespace is going, or the API server refuses it.
 */
export async function createObject(
  { kube, namespace, store }: RecordTarget,
  state: RunState,
): Promise<string | undefined> {
  try {
    const made = await kube.create(runObjects, manifest(state, namespace, store, RECORD_LIMITS), CALL);
    return made.metadata.uid;
  } catch (error) {
    if (isTerminating(error)) return undefined;
    if (isTooLarge(error)) {
      const made = await kube.create(runObjects, manifest(state, namespace, store, SMALL_LIMITS), CALL);
      return made.metadata.uid;
    }
    if (isInvalid(error)) return undefined;
    if (!isAlreadyExists(error)) throw error;
    const there = await kube.find(runObjects, { namespace, name: state.run }, CALL);
    return there?.metadata.annotations?.[ANNOTATION.recorded] === store ? there.metadata.uid : undefined;
  }
}

/** `newer`: the record says more than this state does. `gone`: somebody deleted the object. */
export type Written = 'written' | 'newer' | 'gone' | 'refused';

/** Writes the state into the object with this uid. Throws an ApiError where trying again can help. */
export async function writeStatus(
  target: RecordTarget,
  state: RunState,
  uid: string,
  order: string[],
): Promise<Written> {
  try {
    await patchStatus(target, state, uid, order, RECORD_LIMITS);
    return 'written';
  } catch (error) {
    if (isTooLarge(error)) {
      await patchStatus(target, state, uid, order, SMALL_LIMITS);
      return 'written';
    }
    if (isNotFound(error) || isTerminating(error)) return 'gone';
    if (!isInvalid(error) && !isConflict(error)) throw error;
    return whyRefused(target, state, uid);
  }
}

/** A JSON patch, because it is stored as it is sent: a merge patch would drop the nulls inside what nodes produced. */
async function patchStatus(
  { kube, namespace }: RecordTarget,
  state: RunState,
  uid: string,
  order: string[],
  limits: RecordLimits,
): Promise<void> {
  const { status } = toRecord(state, limits, order);
  const patch = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/status', value: status },
  ];
  const ref = { namespace, name: state.run };
  await kube.patch(runObjects, ref, patch, { type: 'json', subresource: 'status', ...CALL });
}

async function whyRefused({ kube, namespace }: RecordTarget, state: RunState, uid: string): Promise<Written> {
  const there = await kube.find(runObjects, { namespace, name: state.run }, CALL);
  if (!there || there.metadata.uid !== uid) return 'gone';
  const { phase, epoch = 0, sequence = 0 } = there.status ?? {};
  const ahead = epoch > state.epoch || (epoch === state.epoch && sequence > state.sequence);
  return ahead || (isTerminal(phase) && phase !== state.phase) ? 'newer' : 'refused';
}

function manifest(
  state: RunState,
  namespace: string,
  store: string,
  limits: RecordLimits,
): Manifest<WorkflowRun> {
  return {
    metadata: {
      name: state.run,
      namespace,
      labels: {
        [LABEL.workflow]: state.workflow,
        [LABEL.trigger]: state.trigger,
        ...(state.test && { [LABEL.test]: 'true' }),
      },
      annotations: { [ANNOTATION.recorded]: store, ...keepsakeOf(state, limits) },
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
    spec: toRecord(state, limits).spec,
  };
}
