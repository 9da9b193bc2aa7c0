/**
 * The input of a run that was created as an object: its own, that of the run that it retries, or test data.
 */
import { joinExact } from '../../api/exact/exactNumber.ts';
import { ANNOTATION } from '../../api/group.ts';
import { testingOf, type Testing } from '../../api/mock.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import type { Revision } from '../../api/revision.ts';
import type { KubeClient } from '../../kube/client.ts';
import { controllerOf, controllerRevisions } from '../../kube/resource.ts';
import { workflowRuns } from '../shared/resources.ts';
import { isRevisionOf } from '../shared/revisions.ts';
import { inherit, inheritanceProblem } from './testRun.ts';

/**
 * The output of the trigger as JSON text: the input of the run, or for a test run the test data of the
 * trigger.
 */
export function inputOf({ spec }: Pick<WorkflowRun, 'spec'>, { trigger }: Pick<Revision, 'trigger'>): string {
  if (spec.input === undefined && spec.test === true) return JSON.stringify(trigger.testData);
  return outputText(spec.input ?? {});
}

type RecordedOutput = NonNullable<WorkflowRun['spec']['input']>;

/** The longest chain of retries of retries that is followed. */
const LONGEST_CHAIN = 20;

type Given =
  | { input: string; until?: string; testing?: Testing }
  | { reason: FailureReason; message: string };

/**
 * The input of a run to be submitted, its last node (`until`) and its mocks. A retry without input takes that
 * of the retried run; a test run also its `until`, its model and, so that no effect becomes real, its mocks.
 */
export async function givenInput(
  client: Pick<KubeClient, 'find'>,
  run: WorkflowRun,
  revision: Revision,
): Promise<Given> {
  const { namespace = '' } = run.metadata;
  let origin = run;
  let { until } = run.spec;
  let testing = testingOf(run.spec);
  for (let count = 0; count < LONGEST_CHAIN; count += 1) {
    const { input, retryOf: name } = origin.spec;
    if (input !== undefined || name === undefined) break;
    const found = await client.find(workflowRuns, { namespace, name });
    if (found?.spec.workflow !== run.spec.workflow) {
      const message = `Workflow ${run.spec.workflow} has no run ${name} in this namespace: create a WorkflowRun with the input in spec.input.`;
      return { reason: 'RunMissing', message };
    }
    origin = found;
    if (run.spec.test !== true) continue;
    until ??= found.spec.until;
    const inherited = testingOf(found.spec);
    const problem = inheritanceProblem(testing, inherited, name);
    if (problem !== undefined) return { reason: 'InvalidMocks', message: problem };
    testing = inherit(testing, inherited);
  }
  const input = isKnown(origin, run) ? inputOf(origin, revision) : await shownInput(client, origin);
  if (input === undefined) return { reason: 'DataLost', message: whyLost(origin) };
  return { input, ...(until !== undefined && { until }), ...(testing && { testing }) };
}

/** Whether the object of the retried run holds its whole input. The run itself is as somebody wrote it. */
function isKnown(origin: WorkflowRun, run: WorkflowRun): boolean {
  return !hasListened(origin) && (origin === run || !isPartial(origin));
}

/** Whether the input came to the run, whose object does not hold it then. */
function hasListened({ spec }: WorkflowRun): boolean {
  return spec.listenFor !== undefined;
}

function isPartial({ spec, metadata }: WorkflowRun): boolean {
  return spec.inputTruncated === true || hadMore(metadata);
}

/** Whether the input had more than a record can hold: headers, or too much data. */
function hadMore({ annotations }: WorkflowRun['metadata']): boolean {
  return annotations?.[ANNOTATION.partialInput] === 'true';
}

function whyLost({ metadata, spec }: WorkflowRun): string {
  const why = !spec.inputRedacted
    ? 'does not hold all of its input (it is too large, or has headers of a webhook or the URL of a callback)'
    : hadMore(metadata)
      ? 'holds no input: its data was removed (history.dataTTL), or was withheld (recordData, sensitive) and had more than a record can hold, such as headers of a webhook or the URL of a callback'
      : 'holds no input, by the settings of its workflow (recordData, sensitive)';
  return `The record of run ${metadata.name} ${why}: create a WorkflowRun with the input in spec.input.`;
}

/**
 * The input of a failed run whose record was created while `recordData: Errors` withheld the input: the
 * output of the trigger has it. Undefined if that is incomplete.
 */
async function shownInput(
  client: Pick<KubeClient, 'find'>,
  origin: WorkflowRun,
): Promise<string | undefined> {
  const { metadata, spec, status } = origin;
  const { namespace = '' } = metadata;
  const name = status?.revision;
  if (!(spec.inputRedacted || hasListened(origin)) || hadMore(metadata) || name === undefined)
    return undefined;
  // The current trigger may have another ID than the one of that revision.
  const object = await client.find(controllerRevisions, { namespace, name });
  if (!object || !isRevisionOf(object, controllerOf(origin)?.uid)) return undefined;
  const { trigger } = object.data as Revision;
  const node = status?.nodes?.find(({ id }) => id === trigger.id);
  return node?.output === undefined || node.truncated ? undefined : outputText(node.output);
}

function outputText({ text_content = '', data_content = {}, exact }: RecordedOutput): string {
  return JSON.stringify({ text_content, data_content: joinExact(data_content, exact) });
}
