/** What agents used on a day, as statuses and the API show it. */
import * as z from 'zod';
import { costFields } from './budget.ts';

export const shownUsage = z.object({
  date: z.string().max(10).describe('The day (UTC) of these numbers.'),
  tokens: z.int().min(0).describe('Tokens, input and output together.'),
  ...costFields,
});

export type ShownUsage = z.infer<typeof shownUsage>;

const workflowUsage = shownUsage.omit({ date: true }).extend({
  workflow: z.string().max(127).describe('The workflow ID, <namespace>.<name>.'),
});

export const projectUsage = z
  .object({
    usage: shownUsage
      .optional()
      .describe(
        'The last day on which an agent of the project asked a model, with test runs, deleted workflows and open reservations. Left out if none did.',
      ),
    workflows: z
      .array(workflowUsage)
      .optional()
      .describe(
        'What each workflow used on that day, with test runs and open reservations, read at the same moment. The rest of the project is of workflows that were deleted, or are not served.',
      ),
  })
  .describe('What the agents of a project used.');

export type WorkflowUsage = z.infer<typeof workflowUsage>;
export type ProjectUsage = z.infer<typeof projectUsage>;
