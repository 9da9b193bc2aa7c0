/**
 * Writes the cursor and the last poll of a polled trigger into the status of its workflow, at most once a
 * minute and only if they changed. Has the workflow reconciled when the health of its trigger changed.
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
import { objectKey } from '../../kube/resource.ts';
import { isUnavailable, type Unavailable } from '../../store/connection.ts';
import { takePollCounts } from '../../store/polling/counts.ts';
import { clearLost, readPoll, type PollState } from '../../store/polling/state.ts';
import type { OperatorContext } from '../shared/context.ts';
import { ifSpecChanged, watch, type Controller } from '../shared/controller.ts';
import { patchStatus, type Finding } from '../shared/status.ts';
import { healthOf, timeOf } from './health.ts';
import { pollFactsOf } from './ensure.ts';
import type { Polls } from './polls.ts';
import { resetOf } from './trigger.ts';
import { unreachable } from '../shared/errors.ts';

const EVERY_MS = 60_000;
/** How often the run store is asked about a trigger. */
const CHECK_MS = { healthy: 30_000, other: 5_000 };
/** A field manager of its own: the workflow controller does not know these fields. */
const FIELD_MANAGER = 'windlass-operator-poll';
/** The maximum length in the schema of the status. */
const LONGEST = 4_096;

type PollStatus = NonNullable<WorkflowStatus['poll']>;

type PollContext = Pick<OperatorContext, 'clock' | 'conn' | 'events'> & {
  polls: Polls;
  client: Pick<KubeClient, 'patch'>;
  caches: {
    workflows: Pick<Cache<Workflow>, 'resource' | 'get' | 'noteWrite'>;
    routes: Pick<Cache<WebhookRoute>, 'get'>;
    credentials: Pick<Cache<Credential>, 'get'>;
  };
};

export const pollController: Controller<OperatorContext & PollContext> = {
  name: 'poll',
  concurrency: 2,
  watches: [watch(({ routes }) => routes, ifSpecChanged())],
  reconcile: reconcilePoll,
};

/**
 * Writes the polling status of the workflow of that name, and has its conditions updated if the health of its
 * trigger changed.
 */
export async function reconcilePoll(key: Key, context: PollContext): Promise<Action> {
  const { caches, conn, events, polls } = context;
  const workflow = caches.workflows.get(key.namespace, key.name);
  const spec = caches.routes.get(key.namespace, key.name)?.spec;
  if (!workflow || !spec?.poll) polls.metrics.gone(objectKey(key));
  if (!workflow || !spec) {
    polls.writtenAt.delete(objectKey(key));
    return done();
  }
  if (!spec.poll) {
    const againMs = await writeIfDue(context, workflow, undefined);
    return againMs === undefined ? done() : after(againMs);
  }
  const { state, health } = await readTrigger(context, workflow, spec);
  if (state?.lost !== undefined) {
    events.record(workflow, { type: 'Warning', reason: 'BaselineLost', action: 'Polling', note: state.lost });
    await clearLost(conn, spec.projectUID, spec.workflowUID, state.lost);
  }
  await writeIfDue(context, workflow, state);
  if (!isReported(workflow, health)) polls.healthChanged.notify(key);
  return after(health.status === 'True' ? CHECK_MS.healthy : CHECK_MS.other);
}

/** Milliseconds until the status may be written again; undefined if nothing remains to be written. */
async function writeIfDue(
  context: PollContext,
  workflow: Workflow,
  state: PollState | undefined,
): Promise<number | undefined> {
  const { clock, polls } = context;
  const key = objectKey(workflow.metadata);
  const desired = pollStatusOf(workflow, state);
  if (canonicalJson(desired) === canonicalJson(workflow.status?.poll)) return undefined;
  const remainingMs = EVERY_MS - (clock.now() - (polls.writtenAt.get(key) ?? -Infinity));
  if (remainingMs > 0) return remainingMs;
  const cleared = Object.fromEntries(Object.keys(workflow.status?.poll ?? {}).map((field) => [field, null]));
  const status = { poll: desired ? { ...cleared, ...desired } : null };
  await patchStatus(context, context.caches.workflows, workflow, status, FIELD_MANAGER);
  polls.writtenAt.set(key, clock.now());
  return undefined;
}

/** Whether the condition already has this finding. */
function isReported(workflow: Workflow, { status, reason, message }: Finding): boolean {
  const shown = findCondition(workflow.status?.conditions, 'TriggerHealthy');
  return shown?.status === status && shown.reason === reason && shown.message === message;
}

/** Reads the state of the trigger. Metrics are updated before a later step can fail: counts are read once. */
async function readTrigger(
  context: PollContext,
  workflow: Workflow,
  { projectUID, workflowUID, trigger: kind }: RouteSpec,
): Promise<{ state: PollState | undefined; health: Finding }> {
  const state = availableOrThrow(await readPoll(context.conn, projectUID, workflowUID));
  const counts = availableOrThrow(await takePollCounts(context.conn, projectUID, workflowUID));
  const health = healthOf(state, pollFactsOf(context, workflow));
  const { status } = health;
  context.polls.metrics.seen(objectKey(workflow.metadata), {
    kind,
    status,
    lateMs: state?.lateMs ?? 0,
    counts,
  });
  return { state, health };
}

function availableOrThrow<T>(answer: T | Unavailable): T {
  if (isUnavailable(answer)) throw unreachable(answer);
  return answer;
}

/** The desired polling status. `state` is undefined if the account is not polled. */
function pollStatusOf({ metadata, status }: Workflow, state: PollState | undefined): PollStatus | undefined {
  const requested = resetOf(metadata.annotations?.[ANNOTATION.resetCursor])?.value;
  const { cursor, polledAt, failure } = state ?? {};
  const isDone =
    requested !== undefined && (status?.poll?.reset === requested || resetOfCursor(cursor) === requested);
  const poll: PollStatus = {
    ...(cursor !== undefined && cursor.length <= LONGEST && { cursor }),
    ...(polledAt !== undefined && { lastPollTime: timeOf(polledAt) }),
    ...(failure && { lastError: `${failure.reason}: ${failure.message}`.slice(0, LONGEST) }),
    ...(isDone && { reset: requested }),
  };
  return Object.keys(poll).length === 0 ? undefined : poll;
}

/** The reset after which a cursor was created: see `runner/poll/cursor.ts`. */
function resetOfCursor(cursor: string | undefined): unknown {
  if (cursor === undefined) return undefined;
  try {
    return (JSON.parse(cursor) as { reset?: unknown }).reset;
  } catch {
    return undefined;
  }
}
