/** The schemas of runs, lists of runs and live events in answers of the gateway. */
import * as z from 'zod';
import { itemCounts, transcriptEntry } from './nodeStatus.ts';
import { runSpec, runStatus } from './run.ts';
import { objectName } from './value.ts';

const status = runStatus.shape;

/** A workflow ID in requests. */
export const workflowIdText = z
  .string()
  .max(127)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  .describe('The workflow ID, <namespace>.<name>.');

/** A namespace in requests. */
export const namespaceText = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
  .describe('The namespace of the project.');

export const runName = objectName('The name of the run, and of its WorkflowRun.');

/** A run in a list. Runs without a record have fewer members. */
const runItem = z
  .object({
    run: runName,
    workflow: workflowIdText,
    phase: status.phase.unwrap(),
    trigger: status.trigger.unwrap().describe('The kind of the trigger, or execute.').optional(),
    test: z.boolean().optional().describe('Whether this is a test run. Its effects are real.'),
    revision: status.revision,
    retryOf: runSpec.shape.retryOf.unwrap().describe('The run that this run repeats.').optional(),
    requestedBy: runSpec.shape.requestedBy.unwrap().describe('The user who requested the run.').optional(),
    until: runSpec.shape.until.unwrap().describe('The last node that this test run runs.').optional(),
    acceptedTime: status.acceptedTime,
    startTime: status.startTime,
    completionTime: status.completionTime,
    reason: status.reason,
    message: status.message,
    summary: z.literal(true).optional().describe('Whether this is only a summary: the run has no record.'),
  })
  .describe('A run, in a list.');

/** A run with the outputs of its nodes. Unknown members are left out. */
export const runView = runItem
  .extend({
    test: runItem.shape.test.unwrap(),
    usage: status.usage,
    nodes: status.nodes.unwrap(),
  })
  .describe('A run with the outputs of its nodes.');

export const runPage = z
  .object({
    items: z.array(runItem).describe('The runs, newest first. May be fewer than requested.'),
    continue: z
      .string()
      .optional()
      .describe('The token that requests the next page. The last page has none.'),
  })
  .describe('A page of the list of runs.');

export const acceptedRun = z
  .object({ run: runName })
  .describe('The event was accepted and started this run.');

export const botAnswer = z
  .object({ run: runName.optional() })
  .describe('The update was accepted. `run`: the run that it started, if it started one.');

/** The last segment of a chat's URL. */
export const chatIdText = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .describe("The last segment of the chat's URL, in the status of its workflow.");

export const chatMessage = z
  .object({
    message: z.string().min(1).max(16_384).describe('The text. Not only white space.'),
    id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .describe('Identifies the message in its session: a repeated message is the same run.'),
  })
  .describe('A message of a chat.');

export const chatAnswer = z
  .object({ text: z.string().describe('The whole answer.') })
  .describe('The answer to a message of a chat.');

export const receivedCallback = z
  .object({
    run: runName,
    node: z.string().max(63).describe('ID of the node that waited for the call.'),
    received: z.literal(true).describe('The call is stored.'),
  })
  .describe('The call of a callback is stored.');

export const callbackTokenText = z
  .string()
  .max(6_000)
  .regex(/^wlc\./)
  .describe('The signed name of the node that waits, as the workflow sends it out.');

/** The data of a live event. The members depend on its type. */
const runEventData = z.object({
  phase: z.string().optional().describe('The phase of the run or the node.'),
  node: z.string().optional().describe('ID of the node.'),
  attempt: z.int().min(0).optional().describe('The attempt of the node.'),
  items: itemCounts
    .pick({ total: true, succeeded: true, failed: true, running: true })
    .optional()
    .describe('How far a node with forEach is.'),
  text: z.string().optional().describe('The text that the model produced since the last event.'),
  position: z
    .int()
    .min(0)
    .optional()
    .describe('The position in the transcript of the entry, or of the answer whose text this is.'),
  entry: transcriptEntry
    .optional()
    .describe('The entry of the transcript at that position, with its texts cut to 4 KiB.'),
  reset: z
    .literal(true)
    .optional()
    .describe(
      'Of a text: earlier text of this answer is void. Of an entry: all earlier entries of the node are.',
    ),
  call: z
    .int()
    .optional()
    .describe('Of text: the number of the request to the model. Text of another one starts over.'),
  delivery: z
    .int()
    .optional()
    .describe('Of text: the epoch of the claim of the run. Text of another one starts over.'),
  reason: z.string().optional().describe('Why it failed, as a code.'),
  message: z.string().optional().describe('Why it failed, in a sentence.'),
  at: z.int().min(0).describe('When it happened, in milliseconds since 1970.'),
});

/** One live event of a run's event stream. */
export const runEvent = z
  .object({
    id: z.string().describe('The value for Last-Event-ID.'),
    event: z.enum(['run', 'node', 'items', 'text', 'transcript']).describe('The type of the event.'),
    data: z.string().meta({
      description: 'The data of the event, as JSON.',
      contentMediaType: 'application/json',
      contentSchema: z.toJSONSchema(runEventData, { io: 'input' }),
    }),
  })
  .describe('One live event.');

export type RunView = z.infer<typeof runView>;
export type RunItem = z.infer<typeof runItem>;
export type RunPage = z.infer<typeof runPage>;
