/** Writes the totals of a workflow's runs into its status, at most once a minute, and only when they changed. */
import type { Workflow } from '../../api/kinds.ts';
import type { WorkflowStatus } from '../../api/workflow.ts';
import { canonicalJson } from '../../kube/apply.ts';
import { after, done, WaitingError, type Action, type Key } from '../../kube/controller.ts';
import { objectKey } from '../../kube/resource.ts';
import { readCounts } from '../../runs/read.ts';
import type { Counts } from '../../runs/types.ts';
import type { OperatorContext } from '../context.ts';
import { workflows } from '../resources.ts';

const EVERY_MS = 60_000;
/** Another owner than that of the conditions, so that neither has to know what the other wrote. */
const FIELD_MANAGER = 'windlass-operator-counts';

type RunTotals = NonNullable<WorkflowStatus['runs']>;

export type CountsReconciler = {
  reconcile(key: Key): Promise<Action>;
  /** Whether a minute has passed since the totals were written, so that a run that begins may be shown at once. */
  mayWrite(key: Key): boolean;
};

export function createCountsReconciler(context: OperatorContext): CountsReconciler {
  const { world, clock, conn } = context;
  const writtenAt = new Map<string, number>();
  const restMs = (key: Key): number =>
    EVERY_MS - (clock.now() - (writtenAt.get(objectKey(key)) ?? -Infinity));

  async function reconcile(key: Key): Promise<Action> {
    const workflow = world.workflows.get(key.namespace, key.name);
    const route = world.routes.get(key.namespace, key.name);
    if (!workflow || !route) {
      writtenAt.delete(objectKey(key));
      return done();
    }
    if (restMs(key) > 0) return after(restMs(key));
    const counts = await readCounts(conn, route.spec.projectUID, route.spec.workflowUID);
    if ('outcome' in counts)
      throw new WaitingError('the run store cannot be reached', counts.retryAfterSeconds * 1_000);
    if (await writeTotals(context, workflow, totalsOf(counts, workflow.status?.runs)))
      writtenAt.set(objectKey(key), clock.now());
    return after(EVERY_MS);
  }

  return { reconcile, mayWrite: (key) => restMs(key) <= 0 };
}

/** The totals as the status has them. A run store that lost its data does not know of the last run; the status still does. */
export function totalsOf(
  { succeeded, failed, cancelled, active, lastAcceptedAt }: Counts,
  before?: RunTotals,
): RunTotals {
  const last = lastAcceptedAt === undefined ? before?.last : new Date(lastAcceptedAt).toISOString();
  return { succeeded, failed: failed + cancelled, active, ...(last !== undefined && { last }) };
}

async function writeTotals(
  { client, world }: OperatorContext,
  workflow: Workflow,
  totals: RunTotals,
): Promise<boolean> {
  const before = workflow.status?.runs;
  const isEmpty = before === undefined && totals.last === undefined;
  if (isEmpty || canonicalJson(before) === canonicalJson(totals)) return false;
  const { name, namespace = '', uid } = workflow.metadata;
  const written = await client.patch(
    workflows,
    { namespace, name },
    { metadata: { uid }, status: { runs: totals } },
    { type: 'merge', subresource: 'status', fieldManager: FIELD_MANAGER },
  );
  world.workflows.noteWrite(written);
  return true;
}
