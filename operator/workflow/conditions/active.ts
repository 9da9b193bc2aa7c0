/** The condition `Active`. Pure. */
import type { FullLimit } from '../../store/fullProjects.ts';
import type { Facts, Update } from './facts.ts';
import { blockedReason } from './poolReady.ts';
import { untilThen } from './scheduled.ts';

export function active(facts: Facts): Update {
  const type = 'Active';
  const { route } = facts;
  const serves = route.kind === 'applied' && route.routing.kind === 'Served';
  if (facts.suspended)
    return {
      type,
      status: 'False',
      reason: 'Suspended',
      message: 'The workflow is suspended: no run starts.',
    };
  if (!facts.active)
    return {
      type,
      status: 'False',
      reason: 'Inactive',
      message: 'The workflow is inactive: events start no runs.',
    };
  if (facts.unverifiable) {
    const message = 'Calls are refused with 503: no caller can be verified.';
    return { type, status: 'False', reason: facts.unverifiable.reason, message };
  }
  if (facts.unserved) return { type, status: 'False', ...facts.unserved };
  const blocked = blockedReason(facts.pool);
  if (blocked !== undefined) {
    const message = 'No runner can start, so that accepted events wait: see the condition PoolReady.';
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

/** An active workflow whose spec is not in effect. */
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
  const remedy = 'or ask the platform team for more memory for the run store (docs/run-store.md, "Memory").';
  return limit === 'quota'
    ? {
        type,
        status: 'False',
        reason: 'ProjectFull',
        message: `The runs of this namespace fill its share of the run store, so events are refused (webhooks return 503) until runs end. Cancel waiting runs, ${remedy}`,
      }
    : {
        type,
        status: 'True',
        reason: 'ProjectFull',
        message: `The dedupe keys of this namespace fill their share of the run store, so events with a key are refused (webhooks return 503) until keys expire. Send fewer events with a key, ${remedy}`,
      };
}
