/** What an execute call asks for beside its event: whether the run is a test, how far it goes, and what its body is. */
import * as z from 'zod';
import { NODE_ID } from '../../api/graph.ts';

export const executeQuery = z.object({
  test: z
    .enum(['true', 'false'])
    .optional()
    .describe('Makes a test run, also of an inactive workflow. Its effects are real.'),
  until: z
    .string()
    .regex(NODE_ID)
    .optional()
    .describe(
      'Only with test=true: the id of the node as far as which the run goes. What does not come before the node is skipped.',
    ),
  as: z
    .enum(['data', 'output'])
    .optional()
    .describe(
      'Only with test=true. "output": the body is all of the output of the trigger, {text_content, data_content}, and not its data_content alone. What is missing of it is empty.',
    ),
});

export type ExecuteQuery = { test: boolean; until?: string; isOutput?: true };

/** Undefined if the query makes no sense. Parameters that are not known are left alone. */
export function readExecuteQuery(query: unknown): ExecuteQuery | undefined {
  const read = executeQuery.safeParse(query);
  if (!read.success) return undefined;
  const { until, as } = read.data;
  if (read.data.test !== 'true') return until === undefined && as === undefined ? { test: false } : undefined;
  return {
    test: true,
    ...(until !== undefined && { until }),
    ...(as === 'output' && { isOutput: true as const }),
  };
}
