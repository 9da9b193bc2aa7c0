/** The Workflow kind: a graph of nodes that starts at one trigger. */
import * as z from 'zod';
import { CLOSED, PUBLIC } from './access.ts';
import { DURATION_BOUNDS } from './duration.ts';
import { duration } from './durationField.ts';
import { history } from './history.ts';
import { nodeOptions, STEP_KINDS, stepOptions, steps, type StepKind } from './step.ts';
import { TRIGGER_KINDS, triggers, type TriggerKind } from './trigger.ts';
import { conditions, rules, time } from './value.ts';

const NODE_KINDS = [...TRIGGER_KINDS, ...STEP_KINDS];
const has = (kinds: string[]) => kinds.map((kind) => `has(self.${kind})`);
const isTrigger = (node: string) => TRIGGER_KINDS.map((kind) => `has(${node}.${kind})`).join(' || ');

/** Triggers whose event has no caller that gets an answer. To an execute call of a manual trigger the response is an output like others. */
const WITHOUT_CALLER = TRIGGER_KINDS.filter((kind) => kind !== 'webhook' && kind !== 'manual');
const NO_CALLER =
  'a response node needs a caller, and this trigger has none: remove the node, or use a skill (set for values, send_message to answer a chat)';

const optional = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, schema.optional()])) as {
    [Key in keyof Shape]: z.ZodOptional<Shape[Key]>;
  };

const node = z
  .object({
    id: z
      .string()
      .max(63)
      .meta({
        description: 'Unique in the workflow; references name it.',
        ...rules({
          rule: "self.matches('^[A-Za-z][A-Za-z0-9_]{0,62}$')",
          message: 'a node id must begin with a letter and hold only letters, digits and _, at most 63',
        }),
      }),
    displayName: z.string().max(256).optional().describe('What people see. Default: the id.'),
    ...optional(triggers),
    ...optional(steps),
    ...nodeOptions,
    ...stepOptions,
  })
  .meta({
    description: 'A trigger or a step.',
    ...rules(
      {
        rule: `[${has(NODE_KINDS).join(', ')}].filter(x, x).size() == 1`,
        message: `a node must have exactly one kind: ${NODE_KINDS.join(', ')}`,
        messageExpression: `'node ' + self.id + ' must have exactly one kind: ${NODE_KINDS.join(', ')}'`,
      },
      {
        rule: `!(${isTrigger('self')}) || !(has(self.timeout) || has(self.retry) || has(self.onError) || has(self.forEach) || has(self.effect))`,
        message: 'timeout, retry, onError, forEach and effect are for steps; a trigger has none of them',
        messageExpression:
          "'node ' + self.id + ' is a trigger and cannot have timeout, retry, onError, forEach or effect'",
      },
      {
        rule: "!(has(self.response) || (has(self.skill) && self.skill.name == 'set')) || !(has(self.timeout) || has(self.retry) || has(self.effect))",
        message:
          'timeout, retry and effect have no effect on a response node or the skill set, which call no other system: remove them',
        messageExpression:
          "'timeout, retry and effect have no effect on node ' + self.id + ': a response node and the skill set call no other system. Remove them'",
      },
    ),
  });

/** A message of the API server that begins with the first edge that is wrong. `isBad` and `says` are CEL over `e` and `ids`. */
const edgeMessage = ({ ids, isBad, says }: { ids: string; isBad: string; says: string }) =>
  `[${ids}].map(ids, self.edges.map(e, ${isBad}, 'edge ' + e.from + ' to ' + e.to + ${says}))[0][0]`;

const edge = z
  .object({
    from: z.string().max(63).describe('The node that must end first.'),
    to: z.string().max(63).describe('The node that may then start.'),
    when: z
      .string()
      .max(4096)
      .optional()
      .describe(
        'A condition in CEL over the outputs before it, such as nodes.agent_1.data_content.usage.total_tokens < 1000. Left out: always.',
      ),
    after: z
      .enum(['Success', 'Failure'])
      .optional()
      .describe('Whether the edge is for the success or the failure of `from`. Default Success.'),
  })
  .describe('One node comes after another.');

const otherwise = (value: string) =>
  `Default ${value}, unless the ProjectSettings of the namespace say otherwise.`;

export const workflowSpec = z
  .object({
    displayName: z.string().max(256).optional().describe("What people see. Default: the object's name."),
    description: z.string().max(4096).optional().describe('What the workflow is for.'),
    active: z.boolean().default(false).describe('Whether the trigger starts runs.'),
    suspend: z
      .boolean()
      .optional()
      .describe(
        'Refuses every run of the workflow, also test runs, retries and runs of older revisions, and holds back those that wait to start or to continue. A run that is executing continues: cancel it to stop it. Default false.',
      ),
    nodes: z
      .array(node)
      .min(1)
      .max(100)
      .meta({
        description: 'The trigger and the steps. Edges point forward in this list.',
        'x-kubernetes-list-type': 'atomic',
        // Of the list and not of the spec, so that a workflow from before these rules can still be switched off.
        ...rules(
          {
            rule: `!self.exists(n, has(n.response)) || !self.exists(n, ${WITHOUT_CALLER.map((kind) => `has(n.${kind})`).join(' || ')})`,
            message: NO_CALLER,
            messageExpression: `self.map(n, has(n.response), 'node ' + n.id + ': ${NO_CALLER}')[0]`,
          },
          {
            rule: '!self.exists(n, has(n.webhook) && has(n.webhook.replyTimeout)) || self.exists(n, has(n.response))',
            message:
              'replyTimeout has no effect without a response node, since callers get 200 at once: add a response, or remove replyTimeout',
          },
        ),
      }),
    edges: z.array(edge).max(300).optional().meta({
      description: 'What comes after what. Left out: the nodes form a chain in the order they are listed.',
      'x-kubernetes-list-type': 'atomic',
    }),
    history: history(otherwise).optional(),
    recordData: z
      .enum(['All', 'Errors', 'None'])
      .optional()
      .describe(
        'Of which runs the WorkflowRun holds the input and the outputs of nodes: all, those that failed, or none. What is left out cannot be retried or restored after a loss of the run store. Default All.',
      ),
    timeout: duration(
      `How long a run may take, without the time that it waits. ${otherwise('1h')}`,
      DURATION_BOUNDS.runTimeout,
    ).optional(),
    concurrency: z
      .object({
        limit: z
          .int()
          .min(1)
          .max(1000)
          .optional()
          .describe(
            'How many runs of the workflow may execute at once. Default: as many as the runners take.',
          ),
        policy: z
          .enum(['Queue', 'Reject', 'Replace'])
          .optional()
          .describe(
            'What becomes of an event beyond the limit: it waits, it is refused with 429, or the oldest run is cancelled for it. Default Queue.',
          ),
      })
      .meta({
        description: 'How many runs may execute at once.',
        ...rules({
          rule: '!has(self.policy) || has(self.limit)',
          message: 'policy has no effect without limit: add limit',
        }),
      })
      .optional(),
  })
  .meta({
    description: 'What the workflow does.',
    ...rules(
      {
        rule: `self.nodes.exists(n, ${isTrigger('n')})`,
        message: `a workflow needs a trigger: add a node with one of ${TRIGGER_KINDS.join(', ')}`,
      },
      {
        rule: `self.nodes.filter(n, ${isTrigger('n')}).size() <= 1`,
        message:
          'a workflow has exactly one trigger, and this one has more: make a workflow for each of them',
      },
      {
        rule: '[self.nodes.map(n, n.id)].all(ids, self.nodes.all(n, ids.indexOf(n.id) == ids.lastIndexOf(n.id)))',
        message: 'node ids must be unique: two nodes have the same id',
        messageExpression:
          "self.nodes.map(n, self.nodes.exists_one(m, m.id == n.id) == false, 'node ids must be unique: two nodes have the id ' + n.id)[0]",
      },
      {
        rule: '!has(self.edges) || [self.nodes.map(n, n.id)].all(ids, self.edges.all(e, e.from in ids && e.to in ids))',
        message: 'an edge names a node that does not exist: "from" and "to" must be ids of nodes',
        messageExpression: edgeMessage({
          ids: 'self.nodes.map(n, n.id)',
          isBad: '!(e.from in ids) || !(e.to in ids)',
          says: "' names a node that does not exist, ' + (e.from in ids ? e.to : e.from) + ': from and to must be ids of nodes'",
        }),
      },
      {
        rule: `!has(self.edges) || [self.nodes.filter(n, ${isTrigger('n')}).map(n, n.id)].all(ids, self.edges.all(e, !(e.to in ids)))`,
        message: 'an edge leads into the trigger: a trigger starts the workflow and nothing comes before it',
        messageExpression: edgeMessage({
          ids: `self.nodes.filter(n, ${isTrigger('n')}).map(n, n.id)`,
          isBad: 'e.to in ids',
          says: "' leads into the trigger: a trigger starts the workflow and nothing comes before it'",
        }),
      },
      {
        rule: '!has(self.edges) || [self.nodes.map(n, n.id)].all(ids, self.edges.all(e, !(e.from in ids) || !(e.to in ids) || ids.indexOf(e.from) < ids.indexOf(e.to)))',
        message:
          'an edge points backward: list the nodes in the order in which they run, edges only point forward',
        messageExpression: edgeMessage({
          ids: 'self.nodes.map(n, n.id)',
          isBad: 'e.from in ids && e.to in ids && ids.indexOf(e.from) >= ids.indexOf(e.to)',
          says: "' points backward: list the nodes in the order in which they run, edges only point forward'",
        }),
      },
      {
        rule: "!has(self.edges) || [self.edges.map(e, e.from + '>' + e.to)].all(pairs, pairs.all(p, pairs.indexOf(p) == pairs.lastIndexOf(p)))",
        message: 'two edges join the same pair of nodes: join their conditions into one edge',
        messageExpression: edgeMessage({
          ids: "self.edges.map(e, e.from + '>' + e.to)",
          isBad: "ids.indexOf(e.from + '>' + e.to) != ids.lastIndexOf(e.from + '>' + e.to)",
          says: "' is there twice: two edges join the same pair of nodes; join their conditions into one edge'",
        }),
      },
      {
        rule: `has(self.edges) || !self.nodes.exists(n, ${isTrigger('n')}) || [self.nodes[0]].all(n, ${isTrigger('n')})`,
        message:
          'without edges the nodes form a chain in the order they are listed, so the trigger must be the first node',
      },
    ),
  });

export const workflowStatus = z
  .object({
    id: z.string().optional().describe('The id in URLs: <namespace>.<name>.'),
    url: z.string().optional().describe('Where the webhook answers, while it does.'),
    trigger: z.string().optional().describe('The kind of the trigger.'),
    access: z
      .string()
      .max(64)
      .optional()
      .describe(
        `Who may call the webhook now: ${PUBLIC}, anybody who knows the URL; ${CLOSED}, nobody, because the workflow is inactive, suspended or invalid; otherwise the scheme of \`auth\` that verifies callers.`,
      ),
    revision: z.string().optional().describe('The revision that new runs execute.'),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('The generation of the spec that the status was made from.'),
    conditions: conditions('Ready, and the conditions below it.')
      .max(32)
      .default([
        {
          type: 'Ready',
          status: 'Unknown',
          reason: 'Pending',
          message: 'Waiting for the operator',
          lastTransitionTime: '1970-01-01T00:00:00Z',
        },
      ]),
    schedule: z
      .object({ last: time('When it last fired.').optional(), next: time('When it fires next.').optional() })
      .optional()
      .describe('The times of a schedule.'),
    poll: z
      .object({
        cursor: z.string().max(4096).optional().describe('Up to where the account was read.'),
        lastPollTime: time('When it was last read.').optional(),
        lastError: z.string().max(4096).optional().describe('Why the last poll failed.'),
        reset: z
          .string()
          .max(64)
          .optional()
          .describe('The value of the annotation windlass.dev/reset-cursor that was granted last.'),
      })
      .optional()
      .describe('How far a polling trigger is.'),
    runs: z
      .object({
        succeeded: z
          .int()
          .min(0)
          .optional()
          .describe('Runs that succeeded, in total, not counting test runs.'),
        failed: z
          .int()
          .min(0)
          .optional()
          .describe('Runs that ended in phase Failed, in total, not counting test runs.'),
        cancelled: z
          .int()
          .min(0)
          .optional()
          .describe('Runs that were cancelled or replaced, in total, not counting test runs.'),
        active: z
          .int()
          .min(0)
          .optional()
          .describe('Runs that have not ended, including test runs: running and waiting.'),
        running: z.int().min(0).optional().describe('Runs that a runner executes, including test runs.'),
        waiting: z
          .int()
          .min(0)
          .optional()
          .describe(
            'Runs that have not ended and that no runner executes, including test runs: they wait for a runner, for the concurrency limit, for a retry, or for the workflow to be resumed.',
          ),
        last: time('When the last live run (no test run) was accepted.').optional(),
      })
      .optional()
      .describe(
        'Counts of runs, written at most once a minute, and at most every 10 seconds while the workflow is suspended.',
      ),
    testRuns: z
      .object({
        succeeded: z.int().min(0).optional().describe('Test runs that succeeded, in total.'),
        failed: z.int().min(0).optional().describe('Test runs that ended in phase Failed, in total.'),
        cancelled: z.int().min(0).optional().describe('Test runs that were cancelled or replaced, in total.'),
        last: time('When the last test run was accepted.').optional(),
      })
      .optional()
      .describe('Counts of test runs, written as often as runs. Left out: none was accepted.'),
  })
  .describe('What the operator made of it.');

export type WorkflowSpec = z.infer<typeof workflowSpec>;
export type WorkflowStatus = z.infer<typeof workflowStatus>;
export type WorkflowNode = z.infer<typeof node>;
export type WorkflowEdge = z.infer<typeof edge>;

/** The kind of a node, and its fields. */
export type NodeKind = TriggerKind | StepKind;

/** The one member of a node that names its kind. Throws when the node has none, which the CRD does not admit. */
export function kindOf(node: WorkflowNode): NodeKind {
  const kind = NODE_KINDS.find((kind) => node[kind] !== undefined);
  if (!kind) throw new Error(`node ${node.id} has no kind`);
  return kind;
}

/** Whether the kind is a trigger's. */
export function isTriggerKind(kind: NodeKind): kind is TriggerKind {
  return kind in triggers;
}
