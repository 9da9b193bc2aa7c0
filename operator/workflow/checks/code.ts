/** Checks of code nodes that only the sandbox can answer. */
import { createSyntaxCheck } from '../../../nodes/code/syntax.ts';
import { printPosition, referencedNodes } from '../../../nodes/code/source.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { Check, Violation } from './check.ts';
import { checkNode, graphOfSpec } from './expressions.ts';

const syntaxProblem = await createSyntaxCheck();

/** No node has code where the installation does not execute it. */
export function codeIsEnabled({ nodes }: WorkflowSpec, isEnabled: boolean): Violation[] {
  if (isEnabled) return [];
  return nodes.flatMap(({ id, code }): Violation[] =>
    code
      ? [
          {
            reason: 'CodeDisabled',
            message: `node ${id}: this installation does not execute code (chart value runner.code.enabled): use the skill set`,
          },
        ]
      : [],
  );
}

/** Every source can be compiled as the body of one function. */
export const codeCompiles: Check = ({ nodes }) =>
  nodes.flatMap(({ id, code }): Violation[] => {
    const problem = code && syntaxProblem(code.source);
    if (!problem) return [];
    const { line, column, message } = problem;
    return [
      {
        reason: 'InvalidCode',
        message: `node ${id}: code.source: line ${line}, column ${column}: ${message}`,
      },
    ];
  });

/** Every node that a source names comes before it. */
export const codeReferencesAreKnown: Check = (spec) => {
  const graph = graphOfSpec(spec);
  return spec.nodes.flatMap(({ id, code }) =>
    [...referencedNodes(code?.source ?? '')].flatMap(([named, position]) =>
      checkNode(
        { id: named, written: `${printPosition(position)}nodes.${named}` },
        id,
        `node ${id}: code.source`,
        graph,
      ),
    ),
  );
};
