/**
 * Shows in a workflow's status how far its polled trigger is: at most once a minute, and only what changed. Whoever writes the
 * conditions is told when the trigger turned healthy or the other way round.
 */
import { ANNOTATION } from '../../api/group.ts';
import type { Credential, WebhookRoute, Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { WorkflowStatus } from '../../api/workflow.ts';
import { canonicalJson } from '../../kube/json.ts';
import type { Cache } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import { findCondition } from '../../kube/conditions.ts';
import { after, done, type Action, type Key } from '../../kube/controller.ts';
import type { Recorder } from '../../kube/events.ts';
import { objectKey } from '../../kube/resource.ts';
import { isUnavailable, type Unavailable } from '../../store/connection.ts';
import { takePollCounts } from '../../store/polling/counts.ts';
import { clearLost, readPoll, type PollState } from '../../store/polling/state.ts';
import type { OperatorContext } from '../shared/context.ts';
import { workflows } from '../shared/resources.ts';
import { healthOf, timeOf, type PollHealth } from './health.ts';
import { besideOf } from './keep.ts';
import type { PollMetrics } from './metrics.ts';
import { resetOf } from './trigger.ts';
import { unreachable } from '../shared/errors.ts';

const EVERY_MS = 60_000;
/** How often it is looked at what the run store knows: of triggers that work, and of those that do not yet. */
const LOOK_MS = { healthy: 30_000, other: 5_000 };
/** Another owner than that of the conditions, so that neither has to know what the other wrote. */
const FIELD_MANAGER = 'windlass-operator-poll';
/** What the schema of the status takes. */
const LONGEST = 4_096;

type PollStatus = NonNullable<WorkflowStatus['poll']>;

type PollContext = Pick<OperatorContext, 'clock' | 'conn' | 'refusedPolls'> & {
  client: Pick<KubeClient, 'patch'>;
  caches: {
    workflows: Pick<Cache<Workflow>, 'get' | 'noteWrite'>;
    routes: Pick<Cache<WebhookRoute>, 'get'>;
    credentials: Pick<Cache<Credential>, 'get'>;
  };
};

export type PollHooks = {
  events: Pick<Recorder, 'record'>;
  /** The conditions of the workflow do not say what the run store knows. */
  onHealth: (key: Key) => void;
  metrics: PollMetrics;
};

/** Creates the reconciler. */
export function createPollReconciler(
  context: PollContext,
  { events, onHealth, metrics }: PollHooks,
): (key: Key) => Promise<Action> {
  const { caches, clock, conn } = context;
  const writtenAt = new Map<string, number>();

  /** Milliseconds until it may be written again; undefined where nothing is to be written. */
  async function show(workflow: Workflow, state: PollState | undefined): Promise<number | undefined> {
    const key = objectKey(workflow.metadata);
    const wanted = pollStatusOf(workflow, state);
    if (canonicalJson(wanted) === canonicalJson(workflow.status?.poll)) return undefined;
    const restMs = EVERY_MS - (clock.now() - (writtenAt.get(key) ?? -Infinity));
    if (restMs > 0) return restMs;
    await writePoll(context, workflow, wanted);
    writtenAt.set(key, clock.now());
    return undefined;
  }

  function tell(workflow: Workflow, lost: string): void {
    events.record(workflow, { type: 'Warning', reason: 'BaselineLost', action: 'Polling', note: lost });
  }

  return async (key) => {
    const workflow = caches.workflows.get(key.namespace, key.name);
    const spec = caches.routes.get(key.namespace, key.name)?.spec;
    if (!workflow || !spec?.poll) metrics.gone(objectKey(key));
    if (!workflow || !spec) {
      writtenAt.delete(objectKey(key));
      return done();
    }
    if (!spec.poll) {
      const againMs = await show(workflow, undefined);
      return againMs === undefined ? done() : after(againMs);
    }
    const { state, health } = await readTrigger(context, metrics, workflow, spec);
    if (state?.lost !== undefined) {
      tell(workflow, state.lost);
      await clearLost(conn, spec.projectUID, spec.workflowUID, state.lost);
    }
    await show(workflow, state);
    if (!isShown(workflow, health)) onHealth(key);
    return after(health.status === 'True' ? LOOK_MS.healthy : LOOK_MS.other);
  };
}

/** Whether the condition says so already. */
function isShown(workflow: Workflow, { status, reason, message }: PollHealth): boolean {
  const shown = findCondition(workflow.status?.conditions, 'TriggerHealthy');
  return shown?.status === status && shown.reason === reason && shown.message === message;
}

/** What the run store knows of the trigger, and how it is. Metrics come before anything else can fail: what was counted is told once. */
async function readTrigger(
  context: PollContext,
  metrics: PollMetrics,
  workflow: Workflow,
  { projectUID, workflowUID, trigger: kind }: RouteSpec,
): Promise<{ state: PollState | undefined; health: PollHealth }> {
  const state = orWait(await readPoll(context.conn, projectUID, workflowUID));
  const counts = orWait(await takePollCounts(context.conn, projectUID, workflowUID));
  const health = healthOf(state, besideOf(context, workflow));
  const { status } = health;
  metrics.seen(objectKey(workflow.metadata), { kind, status, lateMs: state?.lateMs ?? 0, counts });
  return { state, health };
}

function orWait<T>(answer: T | Unavailable): T {
  if (isUnavailable(answer)) throw unreachable(answer);
  return answer;
}

/** What the status is to say. `state` is undefined where nobody looks. */
function pollStatusOf({ metadata, status }: Workflow, state: PollState | undefined): PollStatus | undefined {
  const wished = resetOf(metadata.annotations?.[ANNOTATION.resetCursor])?.value;
  const { cursor, polledAt, failure } = state ?? {};
  const isGranted = wished !== undefined && (status?.poll?.reset === wished || grantedIn(cursor) === wished);
  const poll: PollStatus = {
    ...(cursor !== undefined && cursor.length <= LONGEST && { cursor }),
    ...(polledAt !== undefined && { lastPollTime: timeOf(polledAt) }),
    ...(failure && { lastError: `${failure.reason}: ${failure.message}`.slice(0, LONGEST) }),
    ...(isGranted && { reset: wished }),
  };
  return Object.keys(poll).length === 0 ? undefined : poll;
}

/** The wish that a cursor was made after: see `runner/poll/cursor.ts`. */
function grantedIn(cursor: string | undefined): unknown {
  if (cursor === undefined) return undefined;
  try {
    return (JSON.parse(cursor) as { reset?: unknown }).reset;
  } catch {
    return undefined;
  }
}

async function writePoll(
  { client, caches }: PollContext,
  workflow: Workflow,
  poll: PollStatus | undefined,
): Promise<void> {
  const { name, namespace = '', uid } = workflow.metadata;
  const cleared = Object.fromEntries(Object.keys(workflow.status?.poll ?? {}).map((field) => [field, null]));
  const written = await client.patch(
    workflows,
    { namespace, name },
    { metadata: { uid }, status: { poll: poll ? { ...cleared, ...poll } : null } },
    { type: 'merge', subresource: 'status', fieldManager: FIELD_MANAGER },
  );
  caches.workflows.noteWrite(written);
}
