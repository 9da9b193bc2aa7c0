/** For how long a pod looks: until the next one comes, so that a trigger waits for neither. */

const MINUTE_MS = 60_000;
/** For the pod to end and its Job with it, since the next one does not begin before that. */
const LEAVE_MS = 3_000;
/** With less than this left it does the next pod's work too. */
const LEAST_MS = 15_000;

/** When a pod that began at this time of day is to end; both in milliseconds since 1970. */
export function endOfWindow(begun: number): number {
  return Math.ceil((begun + LEAST_MS + LEAVE_MS) / MINUTE_MS) * MINUTE_MS - LEAVE_MS;
}
