/** The revision that a run executes, and whether it may. Pure. */
import type { WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import type { Revision } from '../../api/revision.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { ControllerRevision } from '../../kube/resource.ts';
import { isRevisionOf, wasActivated, type NamedRevision } from '../shared/revisions.ts';

type Refusal = { reason: FailureReason; message: string };

/** The name of the revision of the run, or of the current one. */
export function requestedRevision(
  { spec }: Pick<WorkflowRun, 'spec'>,
  route: Pick<RouteSpec, 'revision'>,
): string {
  return spec.revision ?? route.revision;
}

/**
 * The revision of that name, or why the run must not execute it: it is not of the workflow, or the run is
 * live and the revision was never activated.
 */
export function chooseRevision(
  run: Pick<WorkflowRun, 'spec'>,
  route: Pick<RouteSpec, 'revision' | 'workflowUID' | 'active'>,
  object: ControllerRevision | undefined,
): { revision: NamedRevision } | Refusal {
  const { spec } = run;
  const name = requestedRevision(run, route);
  if (object?.metadata.name !== name || !isRevisionOf(object, route.workflowUID)) {
    const message = `Revision ${name} of workflow ${spec.workflow} does not exist: leave spec.revision out to run the current one.`;
    return { reason: 'RevisionMissing', message };
  }
  const isCurrent = route.active && name === route.revision;
  if (spec.test !== true && !isCurrent && !wasActivated(object)) {
    const message = `Revision ${name} of workflow ${spec.workflow} was never activated: leave spec.revision out to run the current one, or create a test run with spec.test: true.`;
    return { reason: 'RevisionNotActivated', message };
  }
  return { revision: { name, revision: object.data as Revision } };
}
