/** The conditions of a workflow, as a pure function of facts. `Ready` is computed from the others. */
import { DEPENDENTS, type Reason } from '../../../api/conditions.ts';
import { keptRevisionNote } from '../../../api/keptRevision.ts';
import { ended, setCondition, summarize, type ConditionUpdate } from '../../../kube/conditions.ts';
import type { Condition } from '../../../kube/resource.ts';
import { active } from './active.ts';
import { credentialsOf, credentialsReady } from './credentialsReady.ts';
import { listed, SHOWN, type Facts, type Update } from './facts.ts';
import { poolReady } from './poolReady.ts';
import { routed } from './routed.ts';
import { scheduled } from './scheduled.ts';

const INACTIVE =
  'The workflow is inactive, and no gateway serves it. Set spec.active to true to activate it.';
const SUSPENDED = 'every run is refused, also test runs, and queued runs do not start.';
const RESUME = 'Set spec.suspend to false to resume it.';

/** The list of conditions; the same list if nothing changed. Types that do not apply are left out. */
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
  const retained = before.filter(({ type }) => types.has(type));
  const list = others.reduce(
    (list, update) => setCondition(list, update, now),
    sameIfEqual(before, retained),
  );
  return setCondition(list, ready(facts, list), now);
}

function sameIfEqual(before: readonly Condition[], retained: readonly Condition[]): readonly Condition[] {
  return retained.length === before.length ? before : retained;
}

function ready(facts: Facts, list: readonly Condition[]): ConditionUpdate {
  // An inactive workflow is ready without credentials and runners.
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
  const also = update.status === 'True' ? undefined : noteOf(facts);
  return also === undefined ? update : { ...update, message: `${ended(update.message)} ${also}` };
}

/** What is in effect while the workflow is not ready, as far as the problem does not say it. */
function noteOf(facts: Facts): string | undefined {
  if (facts.suspended) return `The workflow is also ${suspension(facts)}`;
  const { route } = facts;
  return route.kind === 'invalid' && route.keeps !== undefined ? keptRevisionNote(route.keeps) : undefined;
}

function suspension({ waitingRuns }: Facts): string {
  if (waitingRuns === 0) return `suspended: ${SUSPENDED} ${RESUME}`;
  const runs =
    waitingRuns === 1
      ? '1 run is paused: it starts or continues'
      : `${waitingRuns} runs are paused: they start or continue`;
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

/**
 * Present only while True: waiting does not help; the workflow, or an object that conflicts with it, must
 * change. A missing object does not stall a workflow, so that objects may be applied in any order (kstatus
 * treats Stalled as failure).
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
