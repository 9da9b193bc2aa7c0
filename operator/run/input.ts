/** The input of a run that is known as an object: what it brings, what the run that it repeats was given, or test data. */
import { ANNOTATION } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import type { Revision } from '../../api/revision.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { KubeClient } from '../../kube/client.ts';
import { controllerOf, controllerRevisions } from '../../kube/resource.ts';
import { workflowRuns } from '../shared/resources.ts';
import { isRevisionOf } from '../shared/revisions.ts';

/** The trigger's output as JSON text: what the run brings, or for a test run the trigger's test data. */
export function inputOf({ spec }: Pick<WorkflowRun, 'spec'>, { trigger }: Pick<Revision, 'trigger'>): string {
  if (spec.input === undefined && spec.test === true) return JSON.stringify(trigger.testData);
  return outputText(spec.input ?? {});
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
  const input =
    giver === run || !isPartial(giver) ? inputOf(giver, revision) : await shownInput(client, giver);
  if (input === undefined) return { reason: 'DataLost', message: whyLost(giver) };
  return { input, ...(until !== undefined && { until }) };
}

function isPartial({ spec, metadata }: WorkflowRun): boolean {
  return spec.inputTruncated === true || hadMore(metadata);
}

/** Whether the run was given what no record holds: headers, or what was too large. */
function hadMore({ annotations }: WorkflowRun['metadata']): boolean {
  return annotations?.[ANNOTATION.partialInput] === 'true';
}

function whyLost({ metadata, spec }: WorkflowRun): string {
  const why = !spec.inputRedacted
    ? 'does not hold all of its input (it is too large, or has headers of a webhook)'
    : hadMore(metadata)
      ? 'holds no input: its data was removed (history.dataTTL), or was withheld (recordData, sensitive) and had more than a record can hold, such as headers of a webhook'
      : 'holds no input, by the settings of its workflow (recordData, sensitive)';
  return `The record of run ${metadata.name} ${why}: create a WorkflowRun with the input in spec.input.`;
}

/**
 * The input of a failed run whose record was made before its end, when `recordData: Errors` withheld the input: it is shown as the output
 * of the trigger. Undefined where that does not hold all of it.
 */
async function shownInput(client: Pick<KubeClient, 'find'>, giver: WorkflowRun): Promise<string | undefined> {
  const { metadata, spec, status } = giver;
  const { namespace = '' } = metadata;
  const name = status?.revision;
  if (!spec.inputRedacted || hadMore(metadata) || name === undefined) return undefined;
  // The node with the id of today's trigger may have been another one.
  const object = await client.find(controllerRevisions, { namespace, name });
  if (!object || !isRevisionOf(object, controllerOf(giver)?.uid)) return undefined;
  const { trigger } = object.data as Revision;
  const node = status?.nodes?.find(({ id }) => id === trigger.id);
  return node?.output === undefined || node.truncated ? undefined : outputText(node.output);
}

function outputText({ text_content = '', data_content = {} }: Partial<NodeOutput>): string {
  return JSON.stringify({ text_content, data_content });
}
