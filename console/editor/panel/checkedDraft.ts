/** What the editor marks in a draft by itself. Import it lazily: the CEL compiler is large. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { Found } from '../model/problems.ts';
import { incompleteProblems } from './incomplete.ts';
import { filledFields } from './nodeFields.ts';
import { referenceProblems } from './referenceProblems.ts';

/** References that cannot be resolved, and what is missing. */
export function checkedDraft(spec: WorkflowSpec): Found[] {
  return [...referenceProblems(spec), ...incompleteProblems(spec, filledFields)];
}
