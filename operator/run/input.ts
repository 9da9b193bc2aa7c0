/** The input of a run that is known as an object. */
import type { WorkflowRun } from '../../api/kinds.ts';
import type { Revision } from '../../api/revision.ts';

/** The trigger's output as JSON text: what the run brings, or for a test run the trigger's test data. */
export function inputOf({ spec }: Pick<WorkflowRun, 'spec'>, { trigger }: Pick<Revision, 'trigger'>): string {
  if (spec.input === undefined && spec.test === true) return JSON.stringify(trigger.testData);
  const { text_content = '', data_content = {} } = spec.input ?? {};
  return JSON.stringify({ text_content, data_content });
}
