/** Reads what metrics show of the live runs of every workflow. */
import { isUnavailable } from '../../store/connection.ts';
import { measureWorkflows } from '../../runs/measures.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { NamedWorkflow, WorkflowMetrics, WorkflowReading } from './workflowMetrics.ts';

type MeasureContext = Pick<OperatorContext, 'conn' | 'caches' | 'clock'>;

/** Each call looks at all workflows once. Those of a project that the run store does not show are shown when it does. */
export function createMeasurer(
  { conn, caches, clock }: MeasureContext,
  metrics: WorkflowMetrics,
): () => Promise<void> {
  const beganAt = clock.date().getTime();
  return async () => {
    const existing: NamedWorkflow[] = [];
    const readings: WorkflowReading[] = [];
    for (const { metadata } of caches.namespaces.list()) {
      const { name: namespace, uid: project } = metadata;
      const workflows = caches.workflows.list(namespace);
      if (project === undefined || workflows.length === 0) continue;
      const uids = workflows.map(({ metadata: { uid = '' } }) => uid);
      const measured = await measureWorkflows(conn, project, uids);
      for (const {
        metadata: { name: workflow, uid = '', creationTimestamp = '' },
        spec: { active: isActive = false },
      } of workflows) {
        const named = { namespace, workflow, uid, isActive };
        existing.push(named);
        const measures = isUnavailable(measured) ? undefined : measured.get(uid);
        const isNew = Date.parse(creationTimestamp) >= beganAt;
        if (measures) readings.push({ ...named, isNew, measures });
      }
    }
    metrics.seen(readings, existing);
  };
}
