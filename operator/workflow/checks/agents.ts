/** Checks of agents that only the code that executes them can answer. */
import { outputSchemaProblem } from '../../../nodes/agent/structured.ts';
import type { Check, Violation } from './check.ts';

/** Every `outputSchema` is a JSON Schema that answers can be held to. */
export const outputSchemasFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, agent }): Violation[] => {
    const problem = agent?.outputSchema && outputSchemaProblem(agent.outputSchema);
    return problem ? [{ reason: 'InvalidParameters', message: `node ${id}: agent: ${problem}` }] : [];
  });
