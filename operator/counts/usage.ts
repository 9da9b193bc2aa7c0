/** What agents of a workflow used on the last day on which one asked a model, for its status. */
import type { WorkflowStatus } from '../../api/workflow.ts';
import { readDayUsage } from '../../runs/budget.ts';
import { latestUsage } from '../../runs/dayUsage.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import { groupsOf } from '../../store/groups.ts';
import type { ProjectUid } from '../../store/keys.ts';
import { unreachable } from '../shared/errors.ts';

/** Reads the usage of the live runs and of the test runs. Throws while the run store is unavailable. */
export async function readUsage(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<WorkflowStatus['usage']> {
  const found = await Promise.all(groupsOf(workflowUid).map((group) => readDayUsage(conn, project, group)));
  return latestUsage(
    found.flatMap((usage) => {
      if (usage && 'outcome' in usage) throw unreachable(usage);
      return usage ? [usage] : [];
    }),
  );
}
