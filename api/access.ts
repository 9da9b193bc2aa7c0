/** Whether a workflow starts runs, and for whom: words and rules that the console shares, without any schema. */

/** Who may call a webhook that verifies nobody: anybody who knows the URL. */
export const PUBLIC = 'Public';
/** What the status says of a webhook that is not served: the workflow is inactive, suspended or invalid. */
export const CLOSED = 'Closed';
/** What routes written by earlier versions say in place of PUBLIC. */
export const FORMERLY_PUBLIC = 'Exposed';

/** Whether the trigger starts runs: the workflow is active and not suspended. */
export function isEnabled({ active, suspend }: { active: boolean; suspend?: boolean | undefined }): boolean {
  return active && suspend !== true;
}
