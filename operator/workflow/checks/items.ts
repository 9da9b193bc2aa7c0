/**
 * Lists of loops as the test data of the trigger has them. Test data is an example: live events may have
 * another form, so that the workflow stays valid, and its condition `Valid` says so. Pure.
 */
import { ExpressionError } from '../../../api/expression/errors.ts';
import { evaluate } from '../../../api/expression/evaluate.ts';
import { compileValue } from '../../../api/expression/template.ts';
import { revisionOf } from '../../../api/revision.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { visibilityOfSpec } from './expressions.ts';

/** One sentence for each loop whose items are not an array in the test data. The spec must be valid. */
export function itemsNotes(spec: WorkflowSpec): string[] {
  const { trigger, steps } = revisionOf(spec);
  const isGiven = spec.nodes.some((node) => node[trigger.kind]?.testData !== undefined);
  if (!isGiven || !steps.some(({ forEach }) => forEach)) return [];
  const visible = visibilityOfSpec(spec);
  return steps.flatMap(({ id, forEach }) => {
    if (!forEach) return [];
    const scope = {
      node: (named: string) => (named === trigger.id ? trigger.testData : undefined),
      previous: visible.previousOf(id),
    };
    try {
      const items = evaluate(compileValue(forEach.items), scope);
      if (Array.isArray(items)) return [];
      return [
        `node ${id}: forEach.items is ${kindOf(items)}, not an array, in the testData of ${trigger.id}: correct the reference or the testData.`,
      ];
    } catch (error) {
      // It reads a later node, or a value that the example does not have.
      if (error instanceof ExpressionError) return [];
      throw error;
    }
  });
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
