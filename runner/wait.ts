/** How long a wait node waits. Pure. */
import { boundedDuration, DURATION_BOUNDS, parseDuration } from '../api/duration.ts';
import { StepError } from '../api/reasons.ts';
import type { WaitStep } from '../api/step.ts';

/** RFC 3339, section 5.6. */
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * The milliseconds from `now` on; 0 for a time in the past. `fields`: the evaluated fields of the node.
 * @throws StepError `InvalidParameters` if `until` is no time, or too far in the future
 */
export function waitMs({ duration }: WaitStep, { until }: Record<string, unknown>, now: number): number {
  if (duration !== undefined) return boundedDuration(duration, DURATION_BOUNDS.wait);
  const time = typeof until === 'string' && TIME.test(until.trim()) ? Date.parse(until.trim()) : NaN;
  if (Number.isNaN(time)) {
    const message =
      'wait.until is not a time in RFC 3339: write it with a time zone, such as 2026-05-01T08:00:00Z';
    throw new StepError('InvalidParameters', message);
  }
  const { most } = DURATION_BOUNDS.wait;
  if (time - now > parseDuration(most)) {
    const message = `wait.until is more than ${most} ahead: wait for at most ${most}`;
    throw new StepError('InvalidParameters', message);
  }
  return Math.max(0, time - now);
}
