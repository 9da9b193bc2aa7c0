/** The conditions of a workflow, as a pure function of what was found. `Ready` is computed from the others. */
import { DEPENDENTS, type Reason } from '../../api/conditions.ts';
import { ended, setCondition, summarize, type ConditionUpdate } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import type { Unserved } from '../bots/take.ts';
import type { Routing } from '../gateways/view.ts';
import type { PollHealth } from '../poll/health.ts';
import type { PoolState } from '../project/readiness.ts';
import type { Violation } from './checks/check.ts';
import type { KeyProblem } from '../webhooks/keys.ts';
import type { ScheduleFacts } from '../schedule/ensure.ts';
import type { FullLimit } from '../store/fullProjects.ts';
import type { CredentialProblem } from '../credential/problems.ts';

/** What happened to the route. */
export type RouteFacts =
  /** It says what the spec says; these are the replicas. */
  | { kind: 'applied'; routing: Routing }
  /** The spec is invalid: it is not in effect. `keeps` is the revision that still serves, if one does. */
  | { kind: 'invalid'; keeps?: string }
  | { kind: 'store-unavailable' }
  /** Another object has the name of the revision. */
  | { kind: 'name-taken'; message: string }
  | { kind: 'unauthorized'; message: string };

/** Everything that the conditions depend on. */
export type Facts = {
  generation: number;
  /** Switched on and not suspended. */
  active: boolean;
  suspended: boolean;
  /** Runs that have not ended and that no runner executes, when they were counted last. */
  waitingRuns: number;
  violations: readonly Violation[];
  /** What of a valid spec is not in effect as it is written, a sentence each. */
  notes: readonly string[];
  credentials: readonly CredentialProblem[];
  /** Whether its nodes name a credential at all. */
  namesCredentials: boolean;
  /** Why callers of the webhook, or senders of messages, cannot be verified: then nobody is let in. */
  unverifiable?: KeyProblem;
  /** Why the messages of the bot start no runs. */
  unserved?: Unserved;
  /** The limit of the run store that the project has reached, so that events are refused. */
  full?: FullLimit;
  pool: PoolState;
  /** Of an active workflow that starts by the clock. */
  schedule?: ScheduleFacts;
  /** Of an active workflow whose trigger is polled, or whose bot is to be registered. */
  poll?: PollHealth;
  route: RouteFacts;
  /** What `Ready=True` says of an active workflow. */
  serving: string;
};

type Update = Omit<ConditionUpdate, 'observedGeneration' | 'reason'> & { reason: Reason };

const SHOWN = 10;
const INACTIVE =
  'The workflow is switched off, and no gateway serves it. Set spec.active to true to activate it.';
const DESCRIBE_PODS = 'kubectl describe pods -l app.kubernetes.io/name=windlass-runner';
const SUSPENDED = 'every run is refused, also test runs, and runs that wait are held back.';
const RESUME = 'Set spec.suspend to false to resume it.';

/** The list of conditions; the very same list when nothing changed. Types that do not apply are not in it. */
export function conditionsOf(facts: Facts, before: readonly Condition[], now: Date): readonly Condition[] {
  const parts = [
    valid(facts),
    credentialsReady(facts),
    poolReady(facts),
    ...scheduled(facts, now),
    ...(facts.poll ? [{ type: 'TriggerHealthy', ...facts.poll }] : []),
    routed(facts),
  ];
  const others = [...parts, active(facts), ...stalled(facts)].map((update) => ({
    ...update,
    observedGeneration: facts.generation,
  }));
  const types = new Set<string>(['Ready', ...others.map(({ type }) => type)]);
  const kept = before.filter(({ type }) => types.has(type));
  const list = others.reduce((list, update) => setCondition(list, update, now), asList(before, kept));
  return setCondition(list, ready(facts, list), now);
}

function asList(before: readonly Condition[], kept: readonly Condition[]): readonly Condition[] {
  return kept.length === before.length ? before : kept;
}

function ready(facts: Facts, list: readonly Condition[]): ConditionUpdate {
  // An inactive workflow needs neither credentials nor runners to be what its spec says.
  const dependents = facts.active
    ? DEPENDENTS
    : DEPENDENTS.filter((type) => type === 'Valid' || type === 'Routed');
  const present = dependents.filter((type) => list.some((condition) => condition.type === type));
  const whenTrue = facts.active
    ? { reason: 'Serving' satisfies Reason, message: facts.serving }
    : facts.suspended
      ? { reason: 'Suspended' satisfies Reason, message: `The workflow is ${suspension(facts)}` }
      : { reason: 'Inactive' satisfies Reason, message: INACTIVE };
  const update = summarize({ type: 'Ready', generation: facts.generation, whenTrue }, present, list);
  return facts.suspended && update.status !== 'True'
    ? { ...update, message: `${ended(update.message)} The workflow is also ${suspension(facts)}` }
    : update;
}

function suspension({ waitingRuns }: Facts): string {
  if (waitingRuns === 0) return `suspended: ${SUSPENDED} ${RESUME}`;
  const runs = waitingRuns === 1 ? '1 run waits and starts' : `${waitingRuns} runs wait and start`;
  return `suspended: ${SUSPENDED} ${runs} when it is resumed. ${RESUME}`;
}

function valid({ violations, notes }: Facts): Update {
  const [first] = violations;
  if (!first) {
    const message = ['The spec is valid.', ...notes.slice(0, SHOWN)].join(' ');
    return { type: 'Valid', status: 'True', reason: 'Accepted', message };
  }
  return { type: 'Valid', status: 'False', reason: first.reason, message: listed(violations) };
}

function credentialsReady(facts: Facts): Update {
  const type = 'CredentialsReady';
  const all = credentialsOf(facts);
  const known = all.filter(({ isKnown }) => isKnown);
  // A check in progress is no news beside what is wrong.
  const credentials = known.length > 0 ? known : all;
  const [first] = credentials;
  if (!first) {
    const message = facts.namesCredentials
      ? 'All credentials are ready.'
      : 'The workflow names no credentials.';
    return { type, status: 'True', reason: 'CredentialsFound', message };
  }
  return {
    type,
    status: first.isKnown ? 'False' : 'Unknown',
    reason: first.reason,
    message: listed(credentials),
  };
}

/** What is wrong with Secrets: first what closes the webhook, then what fails runs. */
function credentialsOf({
  credentials,
  unverifiable,
}: Facts): (Pick<CredentialProblem, 'message' | 'isKnown' | 'needsChange'> & { reason: Reason })[] {
  return unverifiable === undefined ? [...credentials] : [{ ...unverifiable, isKnown: true }, ...credentials];
}

function poolReady({ pool, violations }: Facts): Update {
  const type = 'PoolReady';
  switch (pool.kind) {
    case 'Ready':
      return { type, status: 'True', reason: 'PoolReady', message: readyMessage(pool.newer) };
    case 'Absent':
      return { type, ...notStarted(violations.length > 0) };
    case 'Refused':
      return { type, status: 'False', reason: pool.reason, message: pool.message };
    case 'Blocked':
      return { type, status: 'False', reason: pool.reason, message: blockedMessage(pool) };
    case 'Starting': {
      const hint = pool.message ?? 'If this lasts: kubectl describe deployment windlass-runner';
      const message = `No runner of this namespace is ready yet. ${hint}`;
      return { type, status: 'False', reason: 'PoolStarting', message };
    }
  }
}

function readyMessage(newer: string | undefined): string {
  if (newer === undefined) return 'A runner is ready.';
  return `A runner is ready. Newer runners cannot start: ${ended(newer)} Look at them: ${DESCRIBE_PODS}`;
}

function notStarted(isInvalid: boolean): Pick<Update, 'status' | 'reason' | 'message'> {
  const message = isInvalid
    ? 'No runner pool is started before a workflow of this namespace is valid. Correct the spec: see the condition Valid.'
    : 'The runner pool is started after the spec has taken effect: see the condition Routed.';
  return { status: 'Unknown', reason: 'PoolNotStarted', message };
}

type Blocked = Extract<PoolState, { kind: 'Blocked' }>;

function blockedMessage({ reason, message }: Blocked): string {
  return reason === 'PodsRefused'
    ? `The pods of the runners are refused: ${ended(message)} Change the ResourceQuota, LimitRange or policy that is named, or the resources of runners (runners.resources in ProjectSettings, or runner.resources of the chart).`
    : `The pods of the runners do not become ready: ${ended(message)} Look at them: ${DESCRIBE_PODS}`;
}

/** Why no run can be executed, for as long as somebody does nothing about it. */
function blockedReason(pool: PoolState): Reason | undefined {
  if (pool.kind === 'Blocked') return pool.reason;
  return pool.kind === 'Refused' && !pool.hasRunner ? pool.reason : undefined;
}

function scheduled({ schedule }: Facts, now: Date): Update[] {
  const type = 'Scheduled';
  if (schedule === undefined) return [];
  if (schedule.kind === 'placed') {
    const { cronJob, failing } = schedule;
    if (failing === undefined || failing.from > now.getTime())
      return [{ type, status: 'True', reason: 'Scheduled', message: `CronJob ${cronJob} is in place.` }];
    return [{ type, status: 'False', reason: 'TicksFail', message: ticksFail(cronJob, failing.since) }];
  }
  const { reason, message, cronJob } = schedule;
  const goesOn = cronJob === undefined ? '' : `${untilThen(cronJob)} `;
  return [{ type, status: 'False', reason, message: `${goesOn}${message}` }];
}

function ticksFail(cronJob: string, since: number): string {
  const time = new Date(since).toISOString().replace('.000Z', 'Z');
  return `No tick of CronJob ${cronJob} has succeeded for ${time} or since. Look at its Jobs and pods: kubectl describe pods -l app.kubernetes.io/name=windlass-tick`;
}

function untilThen(cronJob: string): string {
  return `CronJob ${cronJob} starts runs as it did before.`;
}

function routed(facts: Facts): Update {
  const type = 'Routed';
  const { route, unserved } = facts;
  if (unserved?.reason === 'BotTaken') return { type, status: 'False', ...unserved };
  switch (route.kind) {
    case 'invalid':
      return { type, status: 'False', reason: 'InvalidSpec', message: keptMessage(route.keeps) };
    case 'store-unavailable': {
      const message =
        'The run store cannot be reached, so the spec is not in effect yet. This is tried again.';
      return { type, status: 'False', reason: 'StoreUnavailable', message };
    }
    case 'unauthorized':
      return { type, status: 'False', reason: 'Unauthorized', message: route.message };
    case 'name-taken':
      return { type, status: 'False', reason: 'RevisionNameTaken', message: route.message };
    case 'applied':
      return routedBy(route.routing, facts);
  }
}

function keptMessage(keeps: string | undefined): string {
  if (keeps === undefined) return 'Nothing is served while the spec is invalid: see the condition Valid.';
  return `Revision ${keeps}, which was valid, stays in effect until the spec is valid.`;
}

function routedBy(routing: Routing, { active, suspended }: Facts): Update {
  const type = 'Routed';
  switch (routing.kind) {
    case 'NoGateway': {
      const message =
        'No gateway replica is ready. Look at the gateway: kubectl get pods --all-namespaces -l app.kubernetes.io/name=windlass,app.kubernetes.io/component=gateway';
      return { type, status: 'False', reason: 'NoGateway', message };
    }
    case 'Lagging': {
      const message = `Not served as the spec says yet by ${routing.replicas.slice(0, SHOWN).join(', ')}.`;
      return { type, status: 'False', reason: 'WaitingForReplicas', message };
    }
    case 'Served': {
      const state = suspended ? 'suspended' : 'inactive';
      const message = active
        ? 'Every ready gateway replica serves the current spec.'
        : `Every ready gateway replica has the current spec: the workflow is ${state}.`;
      return { type, status: 'True', reason: 'Routed', message };
    }
  }
}

function active(facts: Facts): Update {
  const type = 'Active';
  const { route } = facts;
  const serves = route.kind === 'applied' && route.routing.kind === 'Served';
  if (facts.suspended)
    return { type, status: 'False', reason: 'Suspended', message: 'No run starts, as the spec says.' };
  if (!facts.active)
    return { type, status: 'False', reason: 'Inactive', message: 'Events start no runs, as the spec says.' };
  if (facts.unverifiable) {
    const message = 'Calls are refused with 503: no caller can be verified.';
    return { type, status: 'False', reason: facts.unverifiable.reason, message };
  }
  if (facts.unserved) return { type, status: 'False', ...facts.unserved };
  const blocked = blockedReason(facts.pool);
  if (blocked !== undefined) {
    const message = 'No runner can start, so that no run is executed: see the condition PoolReady.';
    return { type, status: 'False', reason: blocked, message };
  }
  if (facts.schedule?.kind === 'refused') {
    const { reason, cronJob } = facts.schedule;
    if (cronJob === undefined) return { type, status: 'False', reason, message: 'No CronJob starts runs.' };
    return { type, status: 'True', reason, message: untilThen(cronJob) };
  }
  if (facts.full !== undefined) return fullOf(facts.full);
  if (serves) return { type, status: 'True', reason: 'Serving', message: 'Events start runs.' };
  return notServed(facts);
}

/** Of an active workflow whose spec is not in effect. */
function notServed({ route, violations }: Facts): Update {
  const type = 'Active';
  const keeps = route.kind === 'invalid' ? route.keeps : undefined;
  if (keeps !== undefined)
    return {
      type,
      status: 'True',
      reason: 'InvalidSpec',
      message: `Events start runs of revision ${keeps}.`,
    };
  const [violation] = violations;
  if (route.kind === 'invalid' && violation !== undefined) {
    const message = `No event starts a run while the spec is invalid. ${violation.message}`;
    return { type, status: 'False', reason: violation.reason, message };
  }
  const message = 'The spec is not in effect everywhere yet: see the condition Routed.';
  return { type, status: 'False', reason: 'Pending', message };
}

function fullOf(limit: FullLimit): Update {
  const type = 'Active';
  const remedy =
    'or ask whoever installed Windlass for more memory of the run store (docs/run-store.md, "Memory").';
  return limit === 'quota'
    ? {
        type,
        status: 'False',
        reason: 'ProjectFull',
        message: `The runs of this namespace fill its share of the run store, so that events are refused (webhooks answer 503) until runs end. Cancel runs that wait, ${remedy}`,
      }
    : {
        type,
        status: 'True',
        reason: 'ProjectFull',
        message: `The dedupe keys of this namespace fill their share of the run store, so that events with a key are refused (webhooks answer 503) until keys expire. Send fewer events with a key, ${remedy}`,
      };
}

/**
 * Only there while it is True: waiting does not help, the workflow, or an object that conflicts with it, must change. What heals as soon as
 * a missing object is there is in progress, so that objects may be applied in any order (kstatus calls Stalled a failure).
 */
function stalled(facts: Facts): Update[] {
  const { violations, schedule, unserved, route } = facts;
  // An inactive workflow needs no credentials.
  const known = credentialsOf(facts).filter(
    ({ isKnown, needsChange }) => facts.active && isKnown && needsChange,
  );
  const refused = schedule?.kind === 'refused' && schedule.reason === 'InvalidSchedule' ? [schedule] : [];
  const taken = unserved?.reason === 'BotTaken' ? [unserved] : [];
  const blocked =
    route.kind === 'name-taken' ? [{ reason: 'RevisionNameTaken' as const, message: route.message }] : [];
  const problems = [...violations, ...known, ...refused, ...taken, ...blocked];
  const [first] = problems;
  if (!first) return [];
  return [{ type: 'Stalled', status: 'True', reason: first.reason, message: listed(problems) }];
}

function listed(problems: readonly { message: string }[]): string {
  const shown = problems.slice(0, SHOWN).map(({ message }) => message);
  const rest = problems.length - shown.length;
  return rest > 0 ? `${shown.join('; ')}; and ${rest} more` : shown.join('; ');
}
