/** The body of a retry. */
import * as z from 'zod';
import { recordedOutput } from '../../api/value.ts';

const node = z.string().min(1).max(63).describe('ID of the node.');

const decision = z.union([
  z.strictObject({
    node,
    outcome: z.literal('AssumeDone').describe('The effect of the node has happened.'),
    output: recordedOutput.optional(),
  }),
  z.strictObject({
    node,
    outcome: z.literal('AssumeNotDone').describe('The effect has not happened: the node is executed again.'),
  }),
]);
export type RetryDecision = z.infer<typeof decision>;

export const retryBody = z.union([
  z
    .strictObject({
      resume: z.literal(true),
      decisions: z.array(decision).max(100).optional().describe('A decision for each node in phase Unknown.'),
    })
    .describe('The new run continues from the failed node, with the same revision.'),
  z
    .strictObject({ resume: z.literal(false).optional() })
    .describe('The new run starts from the trigger, with the current revision.'),
]);
export type RetryBody = z.infer<typeof retryBody>;
