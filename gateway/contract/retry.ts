/** The body of a retry. */
import * as z from 'zod';
import { recordedOutput } from '../../api/value.ts';

export const retryBody = z.strictObject({
  resume: z
    .boolean()
    .optional()
    .describe(
      'Whether the new run continues from the failed node, with the same revision. Default false: it starts from the trigger, with the current revision.',
    ),
  decisions: z
    .array(
      z
        .strictObject({
          node: z.string().min(1).max(63).describe('ID of the node.'),
          outcome: z.enum(['AssumeDone', 'AssumeNotDone']).describe('What is known of its effect.'),
          output: recordedOutput.optional(),
        })
        .refine(({ outcome, output }) => outcome === 'AssumeDone' || output === undefined),
    )
    .max(100)
    .optional()
    .describe('Only with resume: a decision for each node in phase Unknown.'),
});
export type RetryBody = z.infer<typeof retryBody>;
