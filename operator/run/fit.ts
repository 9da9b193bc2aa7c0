/** Whether what a run asks for fits the revision that it executes. Pure. */
import type { Testing } from '../../api/mock.ts';
import { hasNode } from '../../api/revision.ts';
import { testingProblem } from '../../nodes/mocks.ts';
import type { NamedRevision } from '../shared/revisions.ts';
import type { Refusal } from './refuse.ts';

/** Why the run of the workflow cannot execute the revision: no such last node, or mocks that do not fit. */
export function misfit(
  workflow: string,
  { name, revision }: NamedRevision,
  { until, testing }: { until?: string | undefined; testing?: Testing | undefined },
): Refusal | undefined {
  if (until !== undefined && !hasNode(revision, until)) {
    const message = `Revision ${name} of workflow ${workflow} has no node ${until}: create a WorkflowRun with the id of one of its nodes in spec.until, or without it.`;
    return { reason: 'NodeMissing', message };
  }
  const problem = testing && testingProblem(testing, workflow, revision);
  return problem === undefined ? undefined : { reason: 'InvalidMocks', message: problem };
}
