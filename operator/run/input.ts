/** The input of a run that is known as an object: what it brings, what the run that it repeats was given, or test data. */
import { ANNOTATION } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import type { Revision } from '../../api/revision.ts';
import type { KubeClient } from '../../kube/client.ts';
import { workflowRuns } from '../resources.ts';

/** The trigger's output as JSON text: what the run brings, or for a test run the trigger's test data. */
export function inputOf({ spec }: Pick<WorkflowRun, 'spec'>, { trigger }: Pick<Revision, 'trigger'>): string {
  if (spec.input === undefined && spec.test === true) return JSON.stringify(trigger.testData);
  const { text_content = '', data_content = {} } = spec.input ?? {};
  return JSON.stringify({ text_content, data_content });
}

/** A run that repeats one that repeats one, and so on: so far it is followed. */
const LONGEST_CHAIN = 20;

type Given = { input: string; until?: string } | { reason: FailureReason; message: string };

/**
 * The input of a run to be submitted, and the node as far as which it goes. One that repeats another and brings no input takes that of
 * the other; a test run, which alone may end before its end, also how far that went.
 */
export async function givenInput(
  client: Pick<KubeClient, 'find'>,
  run: WorkflowRun,
  revision: Revision,
): Promise<Given> {
  const { namespace = '' } = run.metadata;
  let giver = run;
  let { until } = run.spec;
  for (let count = 0; count < LONGEST_CHAIN; count += 1) {
    const { input, retryOf: name } = giver.spec;
    if (input !== undefined || name === undefined) break;
    const found = await client.find(workflowRuns, { namespace, name });
    if (found?.spec.workflow !== run.spec.workflow) {
      const message = `There is no run ${name} of workflow ${run.spec.workflow} in this namespace: create a WorkflowRun with the input in spec.input.`;
      return { reason: 'RunMissing', message };
    }
    giver = found;
    if (run.spec.test === true) until ??= found.spec.until;
  }
  if (giver !== run && isPartial(giver)) {
    const why = giver.spec.inputRedacted
      ? 'by the settings of its workflow (recordData, sensitive or history.dataTTL) holds no input'
      : 'does not hold all of its input';
    const message = `The record of run ${giver.metadata.name} ${why}: create a WorkflowRun with the input in spec.input.`;
    return { reason: 'DataLost', message };
  }
  return { input: inputOf(giver, revision), ...(until !== undefined && { until }) };
}

function isPartial({ spec, metadata }: WorkflowRun): boolean {
  return spec.inputTruncated === true || metadata.annotations?.[ANNOTATION.partialInput] === 'true';
}
