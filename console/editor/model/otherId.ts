/** Which node has another ID in another draft. Pure. */
import type { WorkflowSpec } from '../../../api/workflow.ts';

/** The ID of the one node that has another one now, and that one. Nodes keep their places. */
export function otherId(before: WorkflowSpec, now: WorkflowSpec): [string, string] | undefined {
  const [was, is] = [before, now].map(({ nodes }) => nodes.map(({ id }) => id));
  if (was === undefined || is === undefined || was.length !== is.length) return undefined;
  const [at, ...others] = was.flatMap((id, index) => (is[index] === id ? [] : [index]));
  const [from, to] = at === undefined ? [] : [was[at], is[at]];
  if (others.length > 0 || from === undefined || to === undefined) return undefined;
  return [from, to];
}
