/**
 * Puts polled triggers into effect: the run store holds the triggers, runners poll them, and while none does,
 * one CronJob per project creates the pods that poll them.
 */
import { ANNOTATION } from '../../api/group.ts';
import type { Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import { cronJobs } from '../../kube/resource.ts';
import { isUnavailable } from '../../store/connection.ts';
import { kindOf } from '../../api/workflow.ts';
import { isPolled } from '../../nodes/pollers.ts';
import { credentialProblems } from '../credential/problems.ts';
import { credentialRefs } from '../shared/credentialRefs.ts';
import { readPoll } from '../../store/polling/state.ts';
import type { OperatorContext } from '../shared/context.ts';
import { applyPods } from '../pods/applyPods.ts';
import { POLL } from '../shared/names.ts';
import type { ProjectConfig } from '../pods/settings.ts';
import type { Caches } from '../shared/caches.ts';
import type { ProjectStore } from '../store/types.ts';
import { pollCronJob } from './cronJob.ts';
import type { Polls } from './polls.ts';
import { refusalOf } from '../pods/cronJobRefusal.ts';
import { healthOf, type PollFacts, type Unusable } from './health.ts';
import { periodOf } from './period.ts';
import { DEFAULT_INTERVAL_SECONDS, pollIntervalOf, triggerOf } from './trigger.ts';
import type { Finding } from '../shared/status.ts';

/** Stores the polled trigger of the route in the run store, or removes it. Returns its health. */
export async function ensureTrigger(
  context: OperatorContext & { store: Pick<ProjectStore, 'putTrigger'>; polls: Pick<Polls, 'refusals'> },
  workflow: Workflow,
  route: RouteSpec,
): Promise<{ poll?: Finding; retryAfterMs?: number }> {
  const { store, conn, caches } = context;
  const { projectUID, workflowUID } = route;
  const { namespace } = workflow.metadata;
  const trigger = triggerOf(workflow, route, (name) => caches.credentials.get(namespace, name));
  const put = await store.putTrigger(projectUID, workflowUID, trigger);
  const state =
    put.outcome === 'done' && route.poll ? await readPoll(conn, projectUID, workflowUID) : undefined;
  const away = put.outcome === 'unavailable' ? put : state;
  if (isUnavailable(away))
    return { ...(route.poll && { poll: STORE_UNAVAILABLE }), retryAfterMs: away.retryAfterSeconds * 1_000 };
  return route.poll ? { poll: healthOf(away, pollFactsOf(context, workflow)) } : {};
}

type PollFactsContext = { polls: Pick<Polls, 'refusals'>; caches: CredentialSource };
type CredentialSource = { credentials: Pick<Caches['credentials'], 'get'> };

/** The facts, beside its polls, that the condition of a trigger depends on. */
export function pollFactsOf({ polls, caches }: PollFactsContext, workflow: Workflow): PollFacts {
  const { metadata } = workflow;
  return {
    unusable: unusableIn(caches, workflow),
    refused: polls.refusals.get(metadata.namespace ?? ''),
    reset: metadata.annotations?.[ANNOTATION.resetCursor],
  };
}

/** Why no poll of the account can succeed, if that is known without polling. */
function unusableIn({ credentials }: CredentialSource, { spec, metadata }: Workflow): Unusable | undefined {
  const trigger = spec.nodes.find((node) => isPolled(kindOf(node)))?.id;
  const refs = credentialRefs(spec).filter(({ node }) => node === trigger);
  const [problem] = credentialProblems(refs, (name) => credentials.get(metadata.namespace, name));
  const { reason, message } = problem ?? {};
  return (reason === 'CredentialMissing' || reason === 'WrongCredentialKind') && message !== undefined
    ? { reason, message }
    : undefined;
}

/** The health of a polled trigger while the run store is unavailable. */
export const STORE_UNAVAILABLE: Finding = {
  status: 'Unknown',
  reason: 'StoreUnavailable',
  message: 'The run store cannot be reached, so the account is not polled. The operator tries again.',
};

/**
 * The intervals, in seconds, of the triggers of the project that can be polled. One whose credential is
 * unusable needs no pod, and keeps its state.
 */
export function pollIntervals(
  caches: Pick<Caches, 'routes' | 'workflows' | 'credentials'>,
  namespace: string,
): number[] {
  return caches.routes.list(namespace).flatMap(({ spec }) => {
    if (spec.poll === undefined) return [];
    const workflow = caches.workflows.get(namespace, spec.workflow);
    if (workflow === undefined) return [DEFAULT_INTERVAL_SECONDS];
    return unusableIn(caches, workflow) === undefined ? [pollIntervalOf(workflow.spec)] : [];
  });
}

/**
 * Ensures the project's CronJob, or deletes it if no trigger can be polled. It is suspended while a runner
 * polls; until that is known it stays as it is. If the API server refuses it, the conditions of the triggers
 * say so, and the reconcile of the project continues.
 */
export async function ensurePollJob(
  context: OperatorContext & { polls: Pick<Polls, 'refusals' | 'polling'> },
  project: { namespace: string; uid: string },
): Promise<void> {
  const { caches, polls } = context;
  const { namespace } = project;
  const cached = await caches.cronJobs.getFresh(namespace, POLL);
  const intervals = pollIntervals(caches, namespace);
  if (intervals.length === 0) {
    polls.refusals.delete(namespace);
    if (cached) await deletePollJob(context, namespace);
    return;
  }
  const isSuspended = polls.polling.get(namespace) ?? cached?.spec?.suspend ?? false;
  const options = { period: periodOf(intervals), isSuspended };
  const manifestOf = (config: ProjectConfig) => pollCronJob(project, config, options);
  try {
    const resource = cronJobs;
    const { object, written } = await applyPods(context, { namespace, resource, cached, manifestOf });
    if (written) caches.cronJobs.noteWrite(object);
    polls.refusals.delete(namespace);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    polls.refusals.set(namespace, refusal);
  }
}

/** Deletes the project's CronJob, with its Jobs and pods. */
export async function deletePollJob(
  { client }: Pick<OperatorContext, 'client'>,
  namespace: string,
): Promise<void> {
  await client.delete(cronJobs, { namespace, name: POLL });
}
