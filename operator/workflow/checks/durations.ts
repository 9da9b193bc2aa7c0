/**
 * Durations beyond their bounds. The API server refuses them since it knows the bounds; a workflow from
 * before keeps them until it is edited, runs with the nearest bound, and its condition `Valid` says so. Pure.
 */
import {
  boundedDuration,
  DURATION_BOUNDS,
  durationProblem,
  parseDuration,
  type DurationBounds,
} from '../../../api/duration.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';

type Field = { place: string; text: string | undefined; bounds: DurationBounds };

/** One sentence for each duration that is not in effect as it is written. */
export function durationNotes(spec: WorkflowSpec): string[] {
  const { history = {} } = spec;
  const beyond = fieldsOf(spec).flatMap(({ place, text, bounds }) => {
    if (text === undefined || durationProblem(text, bounds) === undefined) return [];
    const { least, most } = bounds;
    const used = parseDuration(text) < parseDuration(least) ? least : most;
    return [`${place} is outside ${least} to ${most}: ${used} is used instead.`];
  });
  const { ttl, dataTTL } = history;
  const outlives = ttl !== undefined && dataTTL !== undefined && historyMs(dataTTL) > historyMs(ttl);
  return [
    ...beyond,
    ...(outlives ? ['history.dataTTL is longer than history.ttl: ttl is used.'] : []),
    ...spec.nodes.flatMap(backoffNote),
  ];
}

function fieldsOf(spec: WorkflowSpec): Field[] {
  const { history = {}, timeout } = spec;
  return [
    { place: 'timeout', text: timeout, bounds: DURATION_BOUNDS.runTimeout },
    { place: 'history.ttl', text: history.ttl, bounds: DURATION_BOUNDS.history },
    { place: 'history.dataTTL', text: history.dataTTL, bounds: DURATION_BOUNDS.history },
    ...spec.nodes.flatMap(fieldsOfNode),
  ];
}

function fieldsOfNode({ id, webhook, timeout, retry }: WorkflowNode): Field[] {
  const place = (field: string) => `node ${id}: ${field}`;
  const { hmac, standardWebhooks } = webhook?.auth ?? {};
  const { tolerance, replyTimeout, backoff, stepTimeout } = DURATION_BOUNDS;
  return [
    { place: place('webhook.replyTimeout'), text: webhook?.replyTimeout, bounds: replyTimeout },
    { place: place('webhook.auth.hmac.tolerance'), text: hmac?.tolerance, bounds: tolerance },
    {
      place: place('webhook.auth.standardWebhooks.tolerance'),
      text: standardWebhooks?.tolerance,
      bounds: tolerance,
    },
    { place: place('timeout'), text: timeout, bounds: stepTimeout },
    { place: place('retry.backoff.initial'), text: retry?.backoff?.initial, bounds: backoff },
    { place: place('retry.backoff.max'), text: retry?.backoff?.max, bounds: backoff },
  ];
}

function backoffNote({ id, retry }: WorkflowNode): string[] {
  const { initial = '0s', max = '60s' } = retry?.backoff ?? {};
  const isCut = backoffMs(initial) > backoffMs(max);
  return isCut
    ? [`node ${id}: retry.backoff.initial is longer than retry.backoff.max (default 60s): max is used.`]
    : [];
}

const historyMs = (text: string) => boundedDuration(text, DURATION_BOUNDS.history);
const backoffMs = (text: string) => boundedDuration(text, DURATION_BOUNDS.backoff);
