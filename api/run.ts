/** The WorkflowRun kind: one execution of a workflow for one event, as a record of what the run store decided. */
import * as z from 'zod';
import { MAX_USER_NAME } from './person.ts';
import { NODE_PHASES, RUN_PHASES, TERMINAL_PHASES } from './phase.ts';
import { json, objectName, output, rules, time } from './value.ts';

/** CEL: the input was removed, which is the one change that it admits. */
const erased = (spec: string) => `(has(${spec}.inputRedacted) && ${spec}.inputRedacted)`;

export const runSpec = z
  .object({
    workflow: objectName('Name of the workflow, in the same namespace.'),
    revision: objectName(
      'The revision to execute: one that was activated, or for a test run any revision of the workflow. Left out: the current one.',
    ).optional(),
    trigger: z
      .object({
        type: z.string().max(64).describe('What started the run: a trigger kind, or execute.'),
        key: z.string().max(1100).optional().describe('The dedupe key of the event, where one was given.'),
      })
      .optional()
      .describe('What started the run.'),
    input: z
      .object({
        text_content: z.string().optional().describe("The trigger's output as text."),
        data_content: json("The trigger's output as data.").meta({ nullable: true }),
      })
      .optional()
      .meta({
        description: "The trigger's output. Left out in a test run: the trigger's testData.",
        'x-kubernetes-map-type': 'atomic',
      }),
    inputTruncated: z
      .boolean()
      .optional()
      .describe(
        'The record does not hold all of the input: only its beginning is here, or, with inputRedacted, nothing.',
      ),
    inputRedacted: z
      .boolean()
      .optional()
      .describe(
        "The input is left out: the workflow's recordData, a sensitive trigger or history.dataTTL says so.",
      ),
    test: z
      .boolean()
      .optional()
      .describe('A test run: also runs while the workflow is inactive. Its effects are real.'),
    retryOf: objectName(
      'The run that this one repeats. Without an input of its own it takes the input of that run.',
    ).optional(),
    until: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe(
        'Only in a test run: it goes as far as this node. What does not come before the node is skipped. A test run that takes its input from another takes this from there, too.',
      ),
    requestedBy: z
      .string()
      .min(1)
      .max(MAX_USER_NAME)
      .optional()
      .describe(
        'The user who asked for the run, where a person or program with a token did: set by the gateway. Whoever creates a WorkflowRun may name only themselves here, or leave it out; it is not filled in.',
      ),
    cancel: z.boolean().optional().describe('Set it to true to cancel the run.'),
  })
  .meta({
    description: 'What to run. Cannot be changed, but for cancel.',
    ...rules(
      {
        rule: 'self.workflow == oldSelf.workflow',
        message: 'a run cannot move to another workflow: create a new WorkflowRun',
      },
      {
        rule: 'has(self.revision) == has(oldSelf.revision) && (!has(self.revision) || self.revision == oldSelf.revision)',
        message: 'the revision of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.test) == has(oldSelf.test) && (!has(self.test) || self.test == oldSelf.test)',
        message: 'whether a run is a test cannot be changed: create a new WorkflowRun',
      },
      {
        rule: `(!has(self.input) && ${erased('self')}) || (has(self.input) == has(oldSelf.input) && (!has(self.input) || self.input == oldSelf.input))`,
        message: 'the input of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: `${erased('self')} || (has(self.inputTruncated) == has(oldSelf.inputTruncated) && (!has(self.inputTruncated) || self.inputTruncated == oldSelf.inputTruncated))`,
        message: 'the input of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: `${erased('self')} || !${erased('oldSelf')}`,
        message: 'the input of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.trigger) == has(oldSelf.trigger) && (!has(self.trigger) || self.trigger == oldSelf.trigger)',
        message: 'what started a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.retryOf) == has(oldSelf.retryOf) && (!has(self.retryOf) || self.retryOf == oldSelf.retryOf)',
        message: 'what a run repeats cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.until) == has(oldSelf.until) && (!has(self.until) || self.until == oldSelf.until)',
        message: 'how far a run goes cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.requestedBy) == has(oldSelf.requestedBy) && (!has(self.requestedBy) || self.requestedBy == oldSelf.requestedBy)',
        message: 'who asked for a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: '!has(self.until) || (has(self.test) && self.test)',
        message: 'only a test run goes as far as a node and no further: set test to true, or leave until out',
      },
      {
        rule: '!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)',
        message: 'a cancelled run stays cancelled: create a new WorkflowRun',
      },
    ),
  });

const nodeStatus = z
  .object({
    id: z.string().max(63).describe("The node's id."),
    phase: z.enum(NODE_PHASES).describe('How far the node is.'),
    attempts: z.int().min(0).optional().describe('How often it was tried.'),
    startTime: time('When it first started.').optional(),
    completionTime: time('When it ended.').optional(),
    nextAttemptTime: time('When it is tried again, while it waits for that.').optional(),
    output: output.optional(),
    truncated: z
      .boolean()
      .optional()
      .describe('The record does not hold all of the output: only its beginning is here, or nothing.'),
    redacted: z
      .boolean()
      .optional()
      .describe("The output is left out: the workflow's recordData, sensitive or history.dataTTL says so."),
    reason: z.string().max(1024).optional().describe('Why it failed, or was skipped, in one word.'),
    message: z.string().max(4096).optional().describe('Why it failed, or was skipped, in a sentence.'),
    usage: z
      .object({
        inputTokens: z.int().min(0).optional().describe('Tokens that the model read.'),
        outputTokens: z.int().min(0).optional().describe('Tokens that the model wrote.'),
      })
      .optional()
      .describe('What the model used.'),
  })
  .describe('What became of one node.');

export const runStatus = z
  .object({
    phase: z.enum(RUN_PHASES).optional().describe('How far the run is.'),
    epoch: z.int().min(0).optional().describe('Rises with every claim by a runner.'),
    sequence: z.int().min(0).optional().describe('Rises with every step of the run.'),
    trigger: z
      .string()
      .max(64)
      .optional()
      .describe('What started the run: a trigger kind, or execute. Also where the spec does not say it.'),
    acceptedTime: time('When the event was accepted.').optional(),
    startTime: time('When a runner began.').optional(),
    completionTime: time('When the run ended.').optional(),
    duration: z.string().max(32).optional().describe('From begin to end.'),
    reason: z.string().max(1024).optional().describe('Why the run failed, in one word.'),
    message: z.string().max(4096).optional().describe('Why the run failed, in a sentence.'),
    revision: z.string().max(253).optional().describe('The revision that was executed.'),
    conditions: z
      .array(
        z.object({
          type: z.string().max(316).describe('What the condition is about.'),
          status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
          reason: z.string().max(1024).describe('Why, in one word.'),
          message: z.string().max(32_768).describe('Why, in a sentence.'),
          lastTransitionTime: time('When the status last changed.'),
        }),
      )
      .max(16)
      .optional()
      .meta({
        description: 'Succeeded.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    nodes: z
      .array(nodeStatus)
      .max(100)
      .optional()
      .meta({ description: 'What became of each node.', 'x-kubernetes-list-type': 'atomic' }),
  })
  .describe('What became of the run.');

const terminal = TERMINAL_PHASES.map((phase) => `'${phase}'`).join(', ');

/** Rules at the root of the schema: rules on `.status` are skipped when a status is set to null and then anew. */
export const runRules = rules(
  {
    rule: `${erased('oldSelf.spec')} || !${erased('self.spec')} || (has(oldSelf.status) && has(oldSelf.status.phase) && oldSelf.status.phase in [${terminal}])`,
    message: 'the input of a run can be removed only after the run has ended',
  },
  { rule: '!has(oldSelf.status) || has(self.status)', message: 'the status of a run cannot be removed' },
  {
    rule: `!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in [${terminal}]) || (has(self.status) && has(self.status.phase) && self.status.phase == oldSelf.status.phase)`,
    message: 'the run has ended: its phase cannot change any more',
  },
  {
    rule: '!has(oldSelf.status) || !has(oldSelf.status.epoch) || (has(self.status) && has(self.status.epoch) && (self.status.epoch > oldSelf.status.epoch || (self.status.epoch == oldSelf.status.epoch && (!has(oldSelf.status.sequence) || (has(self.status.sequence) && self.status.sequence >= oldSelf.status.sequence)))))',
    message: 'a newer state of the run is already recorded',
  },
);

export type RunSpec = z.infer<typeof runSpec>;
export type RunStatus = z.infer<typeof runStatus>;
export type NodeStatus = z.infer<typeof nodeStatus>;
