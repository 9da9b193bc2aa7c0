/** A run as callers of the gateway see it, alone and in a list: the one definition of these answers. */
import * as z from 'zod';
import { runSpec, runStatus } from './run.ts';
import { objectName } from './value.ts';

const status = runStatus.shape;

/** A workflow's id (`api/group.ts`) as callers write it. */
export const workflowIdText = z
  .string()
  .max(127)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  .describe('The id of the workflow, <namespace>.<name>.');

export const runName = objectName('The name of the run, and of its WorkflowRun.');

/** What a list shows of a run; of what only the records know it shows less. */
const runItem = z
  .object({
    run: runName,
    workflow: workflowIdText,
    phase: status.phase.unwrap(),
    trigger: status.trigger.unwrap().describe('What started the run: a trigger kind, or execute.').optional(),
    test: z.boolean().optional().describe('A test run. Its effects are real.'),
    revision: status.revision,
    retryOf: runSpec.shape.retryOf.unwrap().describe('The run that this one repeats.').optional(),
    requestedBy: runSpec.shape.requestedBy.unwrap().describe('The user who asked for the run.').optional(),
    until: runSpec.shape.until.unwrap().describe('The node as far as which this test run goes.').optional(),
    acceptedTime: status.acceptedTime,
    startTime: status.startTime,
    completionTime: status.completionTime,
    reason: status.reason,
    message: status.message,
    summary: z.literal(true).optional().describe('Only this is left of the run: it has no record.'),
  })
  .describe('A run, in a list.');

/** A run and what its nodes produced. Members that are not known are left out. */
export const runView = runItem
  .extend({
    test: runItem.shape.test.unwrap(),
    nodes: status.nodes.unwrap(),
  })
  .describe('A run and what its nodes produced.');

export const runPage = z
  .object({
    items: z.array(runItem).describe('The runs, newest first. May be fewer than asked for.'),
    continue: z.string().optional().describe('What the next page is asked for with. The last page has none.'),
  })
  .describe('A page of the list of runs.');

export const acceptedRun = z
  .object({ run: runName })
  .describe('The event is stored, and this is the run that it started.');

export const botAnswer = z
  .object({ run: runName.optional() })
  .describe('What came in, and the run that it started, if it started one.');

/** What an event tells; which members are there depends on its type. */
const runEventData = z.object({
  phase: z.string().optional().describe('How far the run, or the node, is.'),
  node: z.string().optional().describe('The node that it is about.'),
  attempt: z.int().min(0).optional().describe('Which try of the node it is about.'),
  text: z.string().optional().describe('What a model has written since.'),
  reason: z.string().optional().describe('Why it failed, in one word.'),
  message: z.string().optional().describe('Why it failed, in a sentence.'),
  at: z.int().min(0).describe('When, in milliseconds since 1970.'),
});

/** One event of the stream, as its fields. */
export const runEvent = z
  .object({
    id: z.string().describe('What Last-Event-ID takes.'),
    event: z.enum(['run', 'node', 'text']).describe('What it is about.'),
    data: z.string().meta({
      description: 'JSON.',
      contentMediaType: 'application/json',
      contentSchema: z.toJSONSchema(runEventData, { io: 'input' }),
    }),
  })
  .describe('One event of the stream.');

export type RunView = z.infer<typeof runView>;
export type RunItem = z.infer<typeof runItem>;
export type RunPage = z.infer<typeof runPage>;
