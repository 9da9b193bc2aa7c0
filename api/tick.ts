/**
 * The contract between the operator, which creates the CronJobs of schedules, and the tick program. Imports
 * nothing.
 */

/** The exit code of a tick that starts no run and must not be retried, because it is too late. */
export const LOST_EXIT = 3;
