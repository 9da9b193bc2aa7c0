/**
 * Test runs of drafts. The draft passes the checks of a workflow and becomes a revision that was never
 * activated; the run then names that revision in place of the draft. If the operator is killed in between,
 * the next one repeats it, and finds the same revision.
 */
import type { Workflow, WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import { draftRefusal } from '../../api/refusedDraft.ts';
import type { RouteSpec } from '../../api/route.ts';
import { specUpTo } from '../../api/upTo.ts';
import { unlessDeleted } from '../../kube/deleted.ts';
import type { OperatorContext } from '../shared/context.ts';
import { withDefaults, workflowDefaults } from '../shared/projectSettings.ts';
import { workflowRuns } from '../shared/resources.ts';
import { ensureDraftRevision, namedRevision, pruneDraftRevisions } from '../workflow/revision.ts';
import type { Violation } from '../workflow/checks/check.ts';
import { violationsOf } from '../workflow/violations.ts';

type Draft = NonNullable<WorkflowRun['spec']['draft']>;
type Refusal = { reason: FailureReason; message: string };

/** The problems of a draft that the message of a run names. */
const SHOWN = 5;

/** The run with the revision of its draft, or why the draft cannot be executed. */
export async function replaceDraft(
  context: OperatorContext,
  run: WorkflowRun,
  { draft, workflow, route }: { draft: Draft; workflow: Workflow; route: RouteSpec },
): Promise<WorkflowRun | Refusal> {
  const { client, caches } = context;
  const { name, namespace = '', uid } = run.metadata;
  const drafted = await checkedDraft(context, workflow, draft, { until: run.spec.until });
  if ('reason' in drafted) return drafted;
  const named = namedRevision(drafted);
  const obstacle = await ensureDraftRevision(context, workflow, named);
  if (obstacle !== undefined) return { reason: 'DraftInvalid', message: obstacle };
  const patch = { metadata: { uid }, spec: { draft: null, revision: named.name } };
  const write = client.patch<WorkflowRun>(workflowRuns, { namespace, name }, patch, { type: 'merge' });
  const written = await unlessDeleted(workflowRuns, name, write);
  caches.runs.noteWrite(written);
  await pruneDraftRevisions(context, workflow, route, named.name);
  return written;
}

type Checked = {
  what?: 'draft' | 'workflow';
  /** The last node of the test run: what is not before it is neither checked nor executed. */
  until?: string | undefined;
};

/** The workflow with the spec of the draft and the defaults of the project, or why it is not valid. */
export async function checkedDraft(
  context: Pick<OperatorContext, 'caches' | 'config'>,
  workflow: Workflow,
  draft: Draft,
  { what = 'draft', until }: Checked = {},
): Promise<Workflow | Refusal> {
  const defaults = workflowDefaults(context.caches, workflow.metadata.namespace ?? '');
  const drafted = withDefaults(draftOf(workflow, specUpTo(draft, until)), defaults);
  const violations = await violationsOf(context, drafted, { isPart: until !== undefined });
  return violations.length > 0 ? { reason: 'DraftInvalid', message: invalid(what, violations) } : drafted;
}

/** The workflow with the spec of the draft. Drafts do not set `active` and `suspend`. */
export function draftOf(workflow: Workflow, draft: Draft): Workflow {
  return { ...workflow, spec: { ...draft, active: false } };
}

function invalid(what: 'draft' | 'workflow', violations: readonly Violation[]): string {
  const shown = violations.slice(0, SHOWN).map(({ message }) => message);
  return draftRefusal(what, shown, violations.length - shown.length);
}
