/** The WorkflowRun kind: one execution of a workflow for one event, as a record of the run store. */
import * as z from 'zod';
import { costFields } from './budget.ts';
import { DURATION_BOUNDS } from './duration.ts';
import { duration } from './durationField.ts';
import { mock, modelOverride, unmocked } from './mock.ts';
import { MOST_MOCKS } from './mockLimits.ts';
import { MAX_USER_NAME } from './person.ts';
import { nodeStatus } from './nodeStatus.ts';
import { RUN_PHASES, TERMINAL_PHASES } from './phase.ts';
import { exactDigits, json, objectName, recordedOutput, rules, time } from './value.ts';
import { workflowSpec } from './workflow.ts';

/** CEL: the input was removed, which is the only change that a run allows. */
const erased = (spec: string) => `(has(${spec}.inputRedacted) && ${spec}.inputRedacted)`;

/** Drafts do not set `active` and `suspend`: events start only the published workflow. */
const draftOfRun = workflowSpec.omit({ active: true, suspend: true }).meta({
  ...workflowSpec.meta(),
  description:
    'Only for a test run: what to execute instead of the workflow, in the form of the spec of a workflow. The operator makes a revision of it that only test runs can execute, and replaces it with `revision`. Whoever creates the run needs the right to `test` the `workflowdrafts` of that name, to `use` the credentials that the draft names, and to execute the workflows that it runs.',
});

export const runSpec = z
  .object({
    workflow: objectName('Name of the workflow, in the same namespace.'),
    revision: objectName(
      'The revision to execute: an activated one, or for a test run any revision of the workflow. Default: the current one.',
    ).optional(),
    draft: draftOfRun.optional(),
    trigger: z
      .object({
        type: z.string().max(64).describe('The kind of the trigger, execute, or onFailure.'),
        key: z.string().max(1100).optional().describe('The dedupe key of the event, if it has one.'),
      })
      .optional()
      .describe('The event that started the run.'),
    input: z
      .object({
        text_content: z.string().optional().describe('The output of the trigger as text.'),
        data_content: json('The output of the trigger as data.').meta({ nullable: true }),
        exact: exactDigits,
      })
      .optional()
      .meta({
        description: 'The output of the trigger. Default in a test run: testData of the trigger.',
        'x-kubernetes-map-type': 'atomic',
      }),
    inputTruncated: z
      .boolean()
      .optional()
      .describe(
        'Whether the record lacks a part of the input: it holds only the beginning or, with inputRedacted, nothing.',
      ),
    inputRedacted: z
      .boolean()
      .optional()
      .describe(
        'Whether the input was removed because of recordData of the workflow, a sensitive trigger or history.dataTTL.',
      ),
    test: z
      .boolean()
      .optional()
      .describe(
        'Whether this is a test run, which also runs while the workflow is inactive. Without `mocks`, its effects are real.',
      ),
    retryOf: objectName(
      'The run that this run repeats. Without an input of its own, it uses the input of that run.',
    ).optional(),
    resume: z
      .boolean()
      .optional()
      .describe(
        'Whether the run continues the failed run in retryOf: outputs of nodes that succeeded are kept, the failed node and all nodes after it are executed again, with the same revision.',
      ),
    decisions: z
      .array(
        z
          .object({
            node: z.string().min(1).max(63).describe('ID of the node.'),
            outcome: z
              .enum(['AssumeDone', 'AssumeNotDone'])
              .describe(
                'AssumeDone: the effect happened, and the node succeeds with `output`. AssumeNotDone: the node is executed again, with the same effect key.',
              ),
            output: recordedOutput.optional(),
          })
          .meta({
            description: 'Whether the effect of one node happened.',
            ...rules({
              rule: "!has(self.output) || self.outcome == 'AssumeDone'",
              message: 'output is only for the outcome AssumeDone: remove it',
            }),
          }),
      )
      .max(100)
      .optional()
      .meta({
        description: 'Only with resume: a decision for each node of that run in phase Unknown.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['node'],
      }),
    listenFor: duration(
      'Only for a test run of a workflow, or a draft, with a webhook: how long to listen for the event, which comes to the URL in `status.listening`. The URL takes one event, verified as the webhook says.',
      DURATION_BOUNDS.listenFor,
    ).optional(),
    until: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe(
        'Only for a test run: the last node to run. Nodes that are not before it are skipped. A test run that uses the input of another run also uses its `until`.',
      ),
    mocks: z.array(mock).max(MOST_MOCKS).optional().meta({
      description:
        'Only for a test run: results that take the place of what steps and tools would do outside. If it is set, also to an empty list, each skill and tool that contacts a provider needs an entry, otherwise it fails with NotMocked, unless `unmocked` is Execute. At most 64 KiB each and 256 KiB together. Left out: all effects are real. Child runs have the mocks of their parent, and so has a retry that has none of its own.',
      'x-kubernetes-list-type': 'atomic',
    }),
    unmocked: unmocked.optional(),
    model: modelOverride.optional(),
    requestedBy: z
      .string()
      .min(1)
      .max(MAX_USER_NAME)
      .optional()
      .describe(
        'The user who requested the run with a token. The gateway sets it. The creator of a WorkflowRun can leave it out, or set it to their own user name only.',
      ),
    parent: z
      .object({
        run: objectName('The name of the parent.'),
        node: z.string().min(1).max(63).describe('ID of the workflow node or agent of the parent.'),
      })
      .optional()
      .describe('Of a child run: the run that started it. Only runners set it.'),
    cancel: z.boolean().optional().describe('Set to true to cancel the run.'),
  })
  .meta({
    description: 'What to run. Immutable, except for cancel.',
    ...rules(
      {
        rule: 'self.workflow == oldSelf.workflow',
        message: 'the workflow of a run cannot be changed: create a new WorkflowRun',
      },
      {
        // The operator names the revision of a draft in place of the draft.
        rule: '(has(oldSelf.draft) && !has(self.draft)) || (has(self.revision) == has(oldSelf.revision) && (!has(self.revision) || self.revision == oldSelf.revision))',
        message: 'the revision of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: '!has(self.draft) || (has(oldSelf.draft) && self.draft == oldSelf.draft)',
        message: 'the draft of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: '!has(self.draft) || (has(self.test) && self.test)',
        message: 'draft is only for test runs: set test to true, or remove draft',
      },
      {
        rule: '!has(self.draft) || (!has(self.revision) && !has(self.resume))',
        message: 'draft takes the place of a revision: remove revision and resume, or remove draft',
      },
      {
        rule: 'has(self.listenFor) == has(oldSelf.listenFor) && (!has(self.listenFor) || self.listenFor == oldSelf.listenFor)',
        message: 'listenFor of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: '!has(self.listenFor) || (has(self.test) && self.test)',
        message: 'listenFor is only for test runs: set test to true, or remove listenFor',
      },
      {
        rule: '!has(self.listenFor) || (!has(self.input) && !has(self.retryOf))',
        message:
          'a run that listens for its event has no other: remove input and retryOf, or remove listenFor',
      },
      {
        rule: 'has(self.test) == has(oldSelf.test) && (!has(self.test) || self.test == oldSelf.test)',
        message: 'test of a run cannot be changed: create a new WorkflowRun',
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
        message: 'the trigger of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.retryOf) == has(oldSelf.retryOf) && (!has(self.retryOf) || self.retryOf == oldSelf.retryOf)',
        message: 'retryOf of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.resume) == has(oldSelf.resume) && (!has(self.resume) || self.resume == oldSelf.resume)',
        message: 'resume of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.decisions) == has(oldSelf.decisions) && (!has(self.decisions) || self.decisions == oldSelf.decisions)',
        message: 'decisions of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: '!has(self.resume) || !self.resume || has(self.retryOf)',
        message: 'resume needs retryOf: name the failed run to continue',
      },
      {
        rule: '!has(self.decisions) || (has(self.resume) && self.resume)',
        message: 'decisions are only for runs with resume: set resume to true, or remove decisions',
      },
      {
        rule: 'has(self.until) == has(oldSelf.until) && (!has(self.until) || self.until == oldSelf.until)',
        message: 'until of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.mocks) == has(oldSelf.mocks) && (!has(self.mocks) || self.mocks == oldSelf.mocks)',
        message: 'mocks of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.unmocked) == has(oldSelf.unmocked) && (!has(self.unmocked) || self.unmocked == oldSelf.unmocked)',
        message: 'unmocked of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: '!has(self.unmocked) || has(self.mocks)',
        message: 'unmocked is only for test runs with mocks: set mocks, or remove it',
      },
      {
        rule: 'has(self.model) == has(oldSelf.model) && (!has(self.model) || self.model == oldSelf.model)',
        message: 'the model of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: '(!has(self.mocks) && !has(self.model)) || (has(self.test) && self.test)',
        message: 'mocks and model are only for test runs: set test to true, or remove them',
      },
      {
        rule: 'has(self.requestedBy) == has(oldSelf.requestedBy) && (!has(self.requestedBy) || self.requestedBy == oldSelf.requestedBy)',
        message: 'requestedBy of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: 'has(self.parent) == has(oldSelf.parent) && (!has(self.parent) || self.parent == oldSelf.parent)',
        message: 'the parent of a run cannot be changed: create a new WorkflowRun',
      },
      {
        rule: '!has(self.until) || (has(self.test) && self.test)',
        message: 'until is only for test runs: set test to true, or remove until',
      },
      {
        rule: '!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)',
        message: 'a cancelled run stays cancelled: create a new WorkflowRun',
      },
    ),
  });

export const runStatus = z
  .object({
    phase: z.enum(RUN_PHASES).optional().describe('The phase of the run.'),
    epoch: z.int().min(0).optional().describe('Increases with every claim by a runner.'),
    sequence: z.int().min(0).optional().describe('Increases with every change of the run.'),
    listening: z
      .object({
        url: z.string().max(2_048).describe('Where to send the event.'),
        until: time('When the URL stops taking it.'),
      })
      .optional()
      .describe('Of a run with listenFor: where it listens, or listened, for its event.'),
    trigger: z
      .string()
      .max(64)
      .optional()
      .describe('The kind of the trigger, or execute. Also set if the spec has no trigger.'),
    acceptedTime: time('When the event was accepted.').optional(),
    startTime: time('When a runner started it.').optional(),
    completionTime: time('When the run ended.').optional(),
    duration: z.string().max(32).optional().describe('Time from start to end.'),
    reason: z.string().max(1024).optional().describe('Why the run failed, as a code.'),
    message: z.string().max(4096).optional().describe('Why the run failed, in a sentence.'),
    revision: z.string().max(253).optional().describe('The revision that was executed.'),
    origin: z
      .string()
      .max(253)
      .optional()
      .describe('Of a run with resume: the run whose effect keys it continues.'),
    inDoubt: z
      .boolean()
      .optional()
      .describe(
        'Whether the run may have executed steps that this record does not show, because the run store lost its data. Then no effect with AtMostOnce begins: its node becomes Unknown.',
      ),
    onFailure: z
      .object({
        workflow: z.string().max(253).describe('The workflow in onFailure.'),
        run: z.string().max(253).optional().describe('The run that was started.'),
        reason: z.string().max(64).optional().describe('Why no run was started, as a code.'),
        message: z.string().max(1024).optional().describe('Why no run was started, in a sentence.'),
      })
      .optional()
      .describe('What the failure of the run started.'),
    usage: z
      .object({
        tokens: z
          .int()
          .min(0)
          .describe('Tokens of all requests to models, input and output together, also of failed ones.'),
        estimatedTokens: z
          .int()
          .min(0)
          .optional()
          .describe(
            'How many of these were reserved and never counted by the provider, such as those of a request during which a runner died.',
          ),
        ...costFields,
      })
      .optional()
      .describe('What the agents of the run used, as its budget counts it. Left out: no model was asked.'),
    conditions: z
      .array(
        z.object({
          type: z.string().max(316).describe('The type of the condition.'),
          status: z.enum(['True', 'False', 'Unknown']).describe('The status of the condition.'),
          reason: z.string().max(1024).describe('Why the condition has this status, as a code.'),
          message: z.string().max(32_768).describe('Why the condition has this status, in a sentence.'),
          lastTransitionTime: time('When the status last changed.'),
        }),
      )
      .max(16)
      .optional()
      .meta({
        description: 'The condition Succeeded.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    nodes: z
      .array(nodeStatus)
      .max(100)
      .optional()
      .meta({ description: 'The state of each node.', 'x-kubernetes-list-type': 'atomic' }),
  })
  .describe('The observed state of the run.');

const terminal = TERMINAL_PHASES.map((phase) => `'${phase}'`).join(', ');

/**
 * Rules at the root of the schema: rules on `.status` do not apply when a status is set to null and then set
 * again.
 */
export const runRules = rules(
  {
    rule: `${erased('oldSelf.spec')} || !${erased('self.spec')} || (has(oldSelf.status) && has(oldSelf.status.phase) && oldSelf.status.phase in [${terminal}])`,
    fieldPath: '.spec',
    message: 'the input of a run can be removed only after the run has ended',
  },
  {
    rule: '!has(oldSelf.status) || has(self.status)',
    fieldPath: '.status',
    message: 'the status of a run cannot be removed',
  },
  {
    rule: `!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in [${terminal}]) || (has(self.status) && has(self.status.phase) && self.status.phase == oldSelf.status.phase)`,
    fieldPath: '.status.phase',
    message: 'the run has ended: its phase cannot change',
  },
  {
    rule: '!has(oldSelf.status) || !has(oldSelf.status.epoch) || (has(self.status) && has(self.status.epoch) && (self.status.epoch > oldSelf.status.epoch || (self.status.epoch == oldSelf.status.epoch && (!has(oldSelf.status.sequence) || (has(self.status.sequence) && self.status.sequence >= oldSelf.status.sequence)))))',
    fieldPath: '.status.epoch',
    message: 'a newer state of the run is already recorded',
  },
);

export type RunSpec = z.infer<typeof runSpec>;
export type RunStatus = z.infer<typeof runStatus>;
