/**
 * Waits for callbacks that a resumed run could not end: the URL that was sent out belongs to the failed run,
 * and the node that sent it is kept. Pure.
 */
import type { Revision, RevisionStep } from '../api/revision.ts';

/** `$url('<node>')`, as a template writes it. */
const urlOf = (node: string) => new RegExp(String.raw`\$url\(\s*(['"])${node}\1\s*\)`);

/**
 * The first node outside of groups that would wait again for a callback, and the node that has sent its URL.
 * `again`: the nodes that are executed again; `kept`: those whose effects stay.
 */
export function lostCallback(
  { steps }: Revision,
  again: ReadonlySet<string>,
  kept: (id: string) => boolean,
): { wait: string; sender: string } | undefined {
  for (const { id, within, ...step } of steps) {
    const isWaiting = step.kind === 'wait' && step.wait.callback !== undefined;
    if (!isWaiting || within !== undefined || !again.has(id)) continue;
    const senders = steps
      .filter((sender) => names(sender, urlOf(id)))
      .map((sender) => groupOf(sender, steps));
    const sender = senders.find(kept);
    // A node that is executed again sends the URL of the new run.
    if (sender !== undefined && !senders.some((one) => again.has(one))) return { wait: id, sender };
  }
  return undefined;
}

function names(value: unknown, url: RegExp): boolean {
  if (typeof value === 'string') return url.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member) => names(member, url));
}

/** The node, or the outermost group around it. */
function groupOf({ id, within }: RevisionStep, steps: readonly RevisionStep[]): string {
  const group = steps.find((step) => step.id === within);
  return group ? groupOf(group, steps) : id;
}
