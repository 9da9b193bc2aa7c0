/**
 * Who may start runs of a workflow: constants and rules without schemas, so that the console can import them.
 */

/** The access of a webhook without authentication: anybody who knows the URL may call it. */
export const PUBLIC = 'Public';
/** The access of a webhook that is not served, because the workflow is inactive, suspended or invalid. */
export const CLOSED = 'Closed';
/** The value that earlier versions wrote for PUBLIC. */
export const FORMERLY_PUBLIC = 'Exposed';

/** Whether the trigger starts runs: the workflow is active and not suspended. */
export function isEnabled({ active, suspend }: { active: boolean; suspend?: boolean | undefined }): boolean {
  return active && suspend !== true;
}
