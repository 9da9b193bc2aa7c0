/** The workflows of the benchmarks of runs, and runs of them submitted straight to the run store. */
import { revisionOf } from '../../api/revision.ts';
import { putRevision } from '../../runs/revisions.ts';
import { setWriteBudget } from '../../runs/limits.ts';
import { submit } from '../../runs/submit.ts';
import { PROJECT } from '../support/gateway/gatewayHarness.ts';
import { EVENT } from './accept.ts';
import type { Harness } from './harness.ts';

const SUBMITTED_AT_ONCE = 500;

const CHAIN = [
  {
    id: 'sum',
    skill: { name: 'set', parameters: { values: { total: 'nodes.trigger.data_content.total * 1.2' } } },
  },
  { id: 'reply', response: { body: { total: "{{ $('sum').data_content.total }}" } } },
];

/**
 * A trigger and two steps without outside calls, the same for callers that wait for the answer, and the least
 * that a run can be.
 */
const WORKFLOWS = {
  chain: CHAIN,
  answered: CHAIN,
  neighbour: [{ id: 'reply', response: { body: 'ok' } }],
};
export type Workflow = keyof typeof WORKFLOWS;

/** Without a write budget, so that every run becomes a summary. */
export async function emptyProject(harness: Harness): Promise<void> {
  await harness.emptyStore();
  await setWriteBudget(harness.runs, PROJECT, 0);
  for (const [name, steps] of Object.entries(WORKFLOWS)) {
    const nodes = [{ id: 'trigger', webhook: { path: 'new' } }, ...steps];
    const revision = revisionOf({ active: true, nodes });
    await putRevision(harness.runs, PROJECT, name, revision);
    // The name that the gateway's harness gives its routes.
    await putRevision(harness.runs, PROJECT, `${name}-1`, revision);
  }
}

export async function submitMany(harness: Harness, workflow: Workflow, total: number): Promise<void> {
  for (let done = 0; done < total; done += SUBMITTED_AT_ONCE) {
    const count = Math.min(SUBMITTED_AT_ONCE, total - done);
    await Promise.all(Array.from({ length: count }, () => submitOne(harness, workflow)));
  }
}

export async function submitOne({ runs }: Harness, workflow: Workflow): Promise<string> {
  const submitted = await submit(runs, {
    project: PROJECT,
    workflow,
    workflowUid: `uid-${workflow}`,
    revision: workflow,
    trigger: 'webhook',
    input: `{"text_content":"","data_content":${EVENT}}`,
    bodyHash: '',
    test: false,
  });
  if (submitted.outcome !== 'accepted') throw new Error(`A run was not accepted: ${submitted.outcome}`);
  return submitted.run;
}
