/** Which nodes of a run with resume were executed by the run that it continues. Pure. */

import { count } from '../ui/format.ts';

/** `accepted`: when the run was accepted; `resume`: whether it continues a failed run. */
export type Beginning = { resume: boolean; accepted: string | undefined };

/** Whether the output of the node was kept: it had ended before the run was accepted. */
export function isKept(
  { completionTime }: { completionTime?: string | undefined },
  { resume, accepted }: Beginning,
): boolean {
  if (!resume || completionTime === undefined || accepted === undefined) return false;
  return Date.parse(completionTime) < Date.parse(accepted);
}

/** How often a node was tried. A run that continues another one goes on counting. */
export function attemptsText(attempts: number, { resume }: Beginning): string {
  return resume
    ? `attempt ${attempts}, with those of the run that this one continues`
    : count(attempts, 'attempt');
}
