/** The state of the nodes of a run, as its record shows it. */
import * as z from 'zod';
import { costFields } from './budget.ts';
import { missing, sent } from './sent.ts';
import { NODE_PHASES } from './phase.ts';
import { json, recordedOutput, time } from './value.ts';

/** The progress of a node with forEach. */
export const itemCounts = z
  .object({
    total: z.int().min(0).max(10_000).describe('How many items there are.'),
    succeeded: z.int().min(0).max(10_000).describe('How many items have succeeded.'),
    failed: z.int().min(0).max(10_000).describe('How many items have failed.'),
    running: z.int().min(0).max(10_000).describe('How many items are in progress.'),
    failures: z
      .array(
        z.object({
          index: z.int().min(0).max(9_999).describe('The position of the item, from 0.'),
          reason: z.string().max(64).describe('Why the item failed, as a code.'),
          message: z.string().max(300).describe('Why the item failed, in a sentence.'),
        }),
      )
      .max(10)
      .optional()
      .meta({ description: 'The first failures, at most ten.', 'x-kubernetes-list-type': 'atomic' }),
    ended: z
      .string()
      .max(1_668)
      .optional()
      .describe(
        'Which items have ended: a bit for each item, in base64. Item 0 is the lowest bit of the first byte.',
      ),
    hash: z
      .string()
      .max(64)
      .optional()
      .describe('A hash of the items, if they depend on variables of the project.'),
  })
  .describe('The progress of a node with forEach.');

const tokens = z
  .object({
    inputTokens: z.int().min(0).optional().describe('Input tokens.'),
    outputTokens: z.int().min(0).optional().describe('Output tokens.'),
  })
  .describe('The token usage of the model.');

const agentProgress = z
  .object({
    answers: z.int().min(0).describe('How many answers the model has given.'),
    toolCalls: z.int().min(0).describe('How many tool calls these answers have.'),
  })
  .describe('Of an agent with tools: how far it is.');

/** An entry of a transcript in a record or a live event. */
export const transcriptEntry = z.object({
  role: z
    .enum(['System', 'User', 'Assistant', 'Tool'])
    .describe('Who wrote the text: the author (System, User), the model (Assistant) or a tool (Tool).'),
  text: z
    .string()
    .max(131_072)
    .describe(
      'The message, the answer of the model, or the result of the tool. Cut to 4 KiB if the transcript is too long.',
    ),
  tool: z.string().max(256).optional().describe('Of a tool call: the name of the tool.'),
  run: z
    .string()
    .max(253)
    .optional()
    .describe('Of a tool call that runs a workflow: the name of the child run.'),
  arguments: z
    .string()
    .max(131_072)
    .optional()
    .describe('Of a tool call: its arguments, as JSON in the words of the model.'),
  error: z.boolean().optional().describe('Of a tool call: whether it failed, or was wrong.'),
  memoryTurns: z
    .int()
    .min(1)
    .optional()
    .describe(
      'For the prompt of an agent with memory: the number of earlier turns that the model was sent before it.',
    ),
  startTime: time('When the request or the call started.').optional(),
  completionTime: time('When the request or the call ended.').optional(),
  usage: tokens.optional(),
});

const transcript = z
  .object({
    omitted: z
      .int()
      .min(1)
      .optional()
      .describe('How many entries are left out of the middle, because the transcript is too long.'),
    entries: z.array(transcriptEntry).max(400).meta({
      description: 'The messages, the answers of the model and the tool calls, in their order.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .describe(
    'Of an agent with tools that has ended: its conversation, at most 32 KiB, and 128 KiB for all agents of the run.',
  );

export const nodeStatus = z
  .object({
    id: z.string().max(63).describe('ID of the node.'),
    phase: z.enum(NODE_PHASES).describe('The phase of the node.'),
    attempts: z.int().min(0).optional().describe('How many attempts were made.'),
    startTime: time('When the first attempt started.').optional(),
    completionTime: time('When the node ended.').optional(),
    nextAttemptTime: time('When the next attempt starts, while the node waits for it.').optional(),
    waitingFor: z
      .object({
        until: time('When the wait of a wait node ends.').optional(),
        callback: z
          .object({ until: time('When the node fails with CallbackTimeout.') })
          .optional()
          .describe('The node waits for a call of its URL.'),
        memory: z
          .object({ until: time('When the node fails with MemoryBusy.') })
          .optional()
          .describe('The agent waits for its memory, which another run uses.'),
      })
      .optional()
      .describe('When the wait of a wait node ends. A retry has nextAttemptTime instead.'),
    run: z.string().max(253).optional().describe('Of a workflow node: the name of its last child run.'),
    output: recordedOutput.optional(),
    truncated: z
      .boolean()
      .optional()
      .describe('Whether the record lacks a part of the output: it holds only the beginning, or nothing.'),
    redacted: z
      .boolean()
      .optional()
      .describe(
        'Whether the output was removed because of recordData of the workflow, sensitive or history.dataTTL.',
      ),
    reason: z.string().max(1024).optional().describe('Why the node failed or was skipped, as a code.'),
    message: z.string().max(4096).optional().describe('Why the node failed or was skipped, in a sentence.'),
    log: z
      .string()
      .max(16_384)
      .optional()
      .describe('The output of console.log in a code node, at most 16 KiB.'),
    usage: tokens.extend(costFields).optional().describe('What the model used, as its provider counted it.'),
    agent: agentProgress.optional(),
    transcript: transcript.optional(),
    sent: sent.optional(),
    missing: missing.optional(),
    mocked: z
      .object({
        parameters: json(
          'What would have been sent: the evaluated parameters or fields. Left out if they are larger than 8 KiB.',
        ),
      })
      .optional()
      .meta({
        description: 'Of a node whose result is a mock of the test run.',
        'x-kubernetes-map-type': 'atomic',
      }),
    items: itemCounts.optional(),
    item: z
      .int()
      .min(0)
      .max(9_999)
      .optional()
      .describe(
        'Of a node that is executed for items: the position of the item whose execution this is. It is the first item that failed, or the last one that ended.',
      ),
  })
  .describe('The state of one node.');

export type NodeStatus = z.infer<typeof nodeStatus>;
