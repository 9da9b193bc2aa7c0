/** What agents of a workflow used on the last day on which one asked a model, for its status. */
import { amountText } from '../../api/money.ts';
import type { WorkflowStatus } from '../../api/workflow.ts';
import { readDayUsage, type DayUsage } from '../../runs/budget.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import { groupsOf } from '../../store/groups.ts';
import type { ProjectUid } from '../../store/keys.ts';
import { unreachable } from '../shared/errors.ts';

const DAY_MS = 86_400_000;

/** Reads the usage of the live runs and of the test runs. Throws while the run store is unavailable. */
export async function readUsage(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<WorkflowStatus['usage']> {
  const found = await Promise.all(groupsOf(workflowUid).map((group) => readDayUsage(conn, project, group)));
  return usageStatus(
    found.flatMap((usage) => {
      if (usage && 'outcome' in usage) throw unreachable(usage);
      return usage ? [usage] : [];
    }),
  );
}

/** The usage on the last of these days; undefined where no agent asked a model. */
export function usageStatus(usages: readonly DayUsage[]): WorkflowStatus['usage'] {
  if (usages.length === 0) return undefined;
  const day = Math.max(...usages.map((usage) => usage.day));
  const latest = usages.filter((usage) => usage.day === day);
  const cost = latest.reduce((sum, usage) => sum + usage.cost, 0);
  return {
    date: new Date(day * DAY_MS).toISOString().slice(0, 10),
    tokens: latest.reduce((sum, usage) => sum + usage.tokens, 0),
    ...(cost > 0 && { cost: amountText(cost), currency: latest[0]?.currency ?? '' }),
  };
}
