/**
 * What the API server holds of runs, and admits: the rules of the kind (`api/run.ts`) that an end never
 * changes, and that epoch and sequence never go back. Calls of clients meet the same fates as those to the
 * run store.
 */
import type { WorkflowRun } from '../../api/kinds.ts';
import { isTerminal } from '../../api/phase.ts';
import type { RunStatus } from '../../api/run.ts';
import type { KubeClient } from '../../kube/client.ts';
import { ApiError } from '../../kube/errors.ts';
import type { KubeObject, ObjectRef, Resource } from '../../kube/resource.ts';
import { workflowRuns } from '../../operator/shared/resources.ts';
import type { How, Network } from './network.ts';
import { revisionObject } from './workflows.ts';

/**
 * How the API server is to every call: it answers, or what becomes of calls that meet no fate of their own.
 */
export type ApiState = 'up' | 'refused' | 'unanswered' | 'lost';

export type Records = {
  objects: Map<string, WorkflowRun>;
  client: KubeClient;
  become(state: ApiState): void;
  /** What was read of an object since the store was opened, the oldest first. */
  versions(name: string): WorkflowRun[];
  /** After the store has lost its data: forgets older versions, so that the next read gets the newest one. */
  forgetVersions(): void;
  /** As a user does with kubectl. */
  make(run: Pick<WorkflowRun, 'spec'>): WorkflowRun;
  delete(name: string): void;
};

type Status = Partial<RunStatus>;

/** An API server that knows nothing yet. `judge` is told of every end that is written. */
export function createRecords(
  { send }: Network,
  { now, judge }: { now: () => number; judge: (name: string, status: Status) => void },
): Records {
  const objects = new Map<string, WorkflowRun>();
  let versions = new Map<string, WorkflowRun[]>();
  let state: ApiState = 'up';
  let uids = 0;

  function put(name: string, object: WorkflowRun): WorkflowRun {
    objects.set(name, object);
    versions.set(name, [...(versions.get(name) ?? []), object]);
    return structuredClone(object);
  }

  function create(object: Partial<WorkflowRun>): WorkflowRun {
    const name = object.metadata?.name ?? '';
    if (objects.has(name)) throw refusal(409, 'AlreadyExists');
    const creationTimestamp = new Date(now()).toISOString();
    const uid = `object-${(uids += 1)}`;
    const made = structuredClone({ ...object, metadata: { ...object.metadata, uid, creationTimestamp } });
    return put(name, made as WorkflowRun);
  }

  function setStatus({ name }: ObjectRef, uid: string | undefined, change: (status: Status) => Status) {
    const object = objects.get(name);
    if (!object) throw refusal(404, 'NotFound');
    if (uid !== undefined && object.metadata.uid !== uid) throw refusal(422, 'Invalid');
    const status = change(object.status ?? {});
    if (!isAdmitted(object.status ?? {}, status)) throw refusal(422, 'Invalid');
    if (isTerminal(status.phase)) judge(name, status);
    return put(name, { ...object, status: structuredClone(status) });
  }

  const find = (resource: Resource, { name }: ObjectRef): KubeObject | undefined =>
    resource.plural === workflowRuns.plural ? structuredClone(objects.get(name)) : revisionObject(name);
  const call = <T>(execute: () => T) =>
    send(
      'api',
      async () => {
        if (state === 'refused' || state === 'lost') return unanswered(state);
        const answer = execute();
        return state === 'unanswered' ? unanswered(state) : answer;
      },
      unanswered,
    );
  const client = {
    create: (_: Resource, object: Partial<WorkflowRun>) => call(() => create(object)),
    find: (resource: Resource, ref: ObjectRef) => call(() => find(resource, ref)),
    patch: (_: Resource, ref: ObjectRef, body: { value: unknown }[]) =>
      call(() => setStatus(ref, body[0]?.value as string, () => body[1]?.value as Status)),
    apply: (_: Resource, { metadata, status }: WorkflowRun) =>
      call(() => setStatus(metadata, metadata.uid, (before) => ({ ...before, ...status }))),
  };
  return {
    objects,
    client: client as unknown as KubeClient,
    become: (next) => void (state = next),
    versions: (name) => versions.get(name) ?? [],
    forgetVersions: () => void (versions = new Map([...objects].map(([name, object]) => [name, [object]]))),
    make: (run) => create({ ...run, metadata: { name: `object-${uids + 1}`, namespace: 'model' } }),
    delete: (name) => void objects.delete(name),
  };
}

/** The rules at the root of the kind. */
function isAdmitted(before: Status, after: Status): boolean {
  if (isTerminal(before.phase) && after.phase !== before.phase) return false;
  const { epoch, sequence = 0 } = before;
  if (epoch === undefined) return true;
  if (after.epoch === undefined) return false;
  return after.epoch > epoch || (after.epoch === epoch && (after.sequence ?? 0) >= sequence);
}

async function unanswered(how: How): Promise<never> {
  const notSent = how === 'refused';
  throw new ApiError({ status: 0, reason: notSent ? 'ECONNREFUSED' : 'ECONNRESET', message: how, notSent });
}

function refusal(status: number, reason: string): ApiError {
  return new ApiError({ status, reason, message: reason });
}
