/** Whether a recorded run can be run again with its input: the operator takes it from the record, by the same rules. Pure. */
import { ANNOTATION } from '../../api/group.ts';
import type { RunObject } from '../kube/resources.ts';

/** Why it cannot; undefined: it can. */
export function repeatProblem({ metadata, spec, status }: RunObject): string | undefined {
  if (spec.inputTruncated !== true) return undefined;
  if (spec.inputRedacted !== true) return 'the recorded input is truncated.';
  const hadMore = metadata.annotations?.[ANNOTATION.partialInput] === 'true';
  // Records list the trigger first. Of a failed run its output is the input.
  const [trigger] = status?.nodes ?? [];
  const isShown = !hadMore && trigger?.output !== undefined && trigger.truncated !== true;
  return isShown ? undefined : 'the workflow does not record inputs.';
}
