/** The Workflow kind: a graph of nodes that starts at one trigger. */
import * as z from 'zod';
import { CLOSED, PUBLIC } from './access.ts';
import { workflowBudget } from './budget.ts';
import { DURATION_BOUNDS } from './duration.ts';
import { duration } from './durationField.ts';
import { history } from './history.ts';
import { nodeOptions, STEP_KINDS, stepOptions, steps, type StepKind } from './step.ts';
import { triggers } from './trigger.ts';
import { TRIGGER_KINDS, type TriggerKind } from './triggerKinds.ts';
import { shownUsage } from './usage.ts';
import { conditions, objectName, rules, time } from './value.ts';

const MAX_NODES = 100;
const NODE_KINDS = [...TRIGGER_KINDS, ...STEP_KINDS];
const has = (kinds: string[]) => kinds.map((kind) => `has(self.${kind})`);
const hasAny = (node: string, kinds: readonly string[]) =>
  kinds.map((kind) => `has(${node}.${kind})`).join(' || ');
const isTrigger = (node: string) => hasAny(node, TRIGGER_KINDS);

// The API server evaluates all rules again with each write of a status, and copies the schemas of all fields
// of a node for each of its members that a rule reads. So rules first ask what most nodes answer at once.

/** The most frequent kinds of steps. */
const FREQUENT: StepKind[] = ['skill', 'response', 'agent'];
/** The same as `isTrigger`, for expressions that ask it of all nodes: a node has one kind. */
const isTriggerAmongSteps = (node: string) => `!(${hasAny(node, FREQUENT)}) && (${isTrigger(node)})`;
/**
 * Whether the node has one member beside its ID and the name that is shown: one kind and no option. The
 * number of members is known without reading any. `dyn`: an object of a schema has no size otherwise.
 */
const isPlain = (node: string) =>
  `(dyn(${node}).size() == 2 || (dyn(${node}).size() == 3 && has(${node}.displayName)))`;
/** A rule of a node about its options. */
const ofOptions = (rule: string) => `${isPlain('self')} || ${rule}`;
/** The kinds, in the order in which they are most probable. */
const PROBABLE = [...new Set<string>([...FREQUENT, ...NODE_KINDS])];

/** Triggers whose events have a caller. For a manual trigger, the response is an ordinary output. */
const WITH_CALLER: TriggerKind[] = ['webhook', 'manual', 'chat'];
const WITHOUT_CALLER = TRIGGER_KINDS.filter((kind) => !WITH_CALLER.includes(kind));
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
        description: 'ID of the node, unique in the workflow. References use it.',
        ...rules({
          rule: "self.matches('^[A-Za-z][A-Za-z0-9_]{0,62}$')",
          message:
            'a node ID must begin with a letter and contain only letters, digits and _, at most 63 characters',
        }),
      }),
    displayName: z.string().max(256).optional().describe('The name that the console shows. Default: the ID.'),
    ...optional(triggers),
    ...optional(steps),
    ...nodeOptions,
    ...stepOptions,
  })
  .meta({
    description: 'A trigger or a step.',
    ...rules(
      {
        rule: `(${isPlain('self')} && (${hasAny('self', PROBABLE)})) || [${has(NODE_KINDS).join(', ')}].filter(x, x).size() == 1`,
        message: `a node must have exactly one kind: ${NODE_KINDS.join(', ')}`,
        messageExpression: `'node ' + self.id + ' must have exactly one kind: ${NODE_KINDS.join(', ')}'`,
      },
      {
        rule: ofOptions(
          `!(${isTrigger('self')}) || !(has(self.timeout) || has(self.retry) || has(self.onError) || has(self.within) || has(self.forEach) || has(self.repeat) || has(self.effect))`,
        ),
        message:
          'a trigger cannot have timeout, retry, onError, within, forEach, repeat or effect: they are options of steps',
        messageExpression:
          "'node ' + self.id + ' is a trigger and cannot have timeout, retry, onError, within, forEach, repeat or effect'",
      },
      {
        rule: ofOptions(`!(${isTrigger('self')}) || !has(self.disabled)`),
        message: 'a trigger cannot be disabled: set active of the workflow to false',
        messageExpression:
          "'node ' + self.id + ' is a trigger and cannot have disabled: set active of the workflow to false'",
      },
      {
        rule: ofOptions('!has(self.code) || !(has(self.timeout) || has(self.retry) || has(self.effect))'),
        message:
          'a code node cannot have timeout, retry or effect: it calls no other system, and computes the same each time. Limit it with code.timeout',
        messageExpression:
          "'node ' + self.id + ' cannot have timeout, retry or effect: code calls no other system, and computes the same each time. Limit it with code.timeout'",
      },
      {
        rule: ofOptions(
          "!(has(self.response) || (has(self.skill) && self.skill.name == 'set')) || !(has(self.timeout) || has(self.retry) || has(self.effect))",
        ),
        message:
          'timeout, retry and effect have no effect on a response node or the skill set, which call no other system: remove them',
        messageExpression:
          "'timeout, retry and effect have no effect on node ' + self.id + ': a response node and the skill set call no other system. Remove them'",
      },
      {
        rule: ofOptions('!has(self.forEach) || !has(self.repeat)'),
        message:
          'a node cannot have both forEach and repeat: put the node with repeat into a group with forEach',
        messageExpression:
          "'node ' + self.id + ' cannot have both forEach and repeat: put the node with repeat into a group with forEach'",
      },
      {
        rule: ofOptions('!has(self.response) || !(has(self.forEach) || has(self.repeat))'),
        message: 'a response node cannot have forEach or repeat: a run has one reply. Remove them',
        messageExpression:
          "'response node ' + self.id + ' cannot have forEach or repeat: a run has one reply. Remove them'",
      },
      {
        rule: ofOptions('!has(self.wait) || !(has(self.timeout) || has(self.retry) || has(self.effect))'),
        message: 'timeout, retry and effect have no effect on a wait node: remove them',
        messageExpression:
          "'timeout, retry and effect have no effect on the wait node ' + self.id + ': remove them'",
      },
      {
        rule: ofOptions('!has(self.workflow) || !(has(self.timeout) || has(self.effect))'),
        message:
          'a workflow node cannot have timeout or effect: set timeout of the workflow that it runs, and effect of its nodes',
        messageExpression:
          "'node ' + self.id + ' cannot have timeout or effect: set timeout of workflow ' + self.workflow.name + ', and effect of its nodes'",
      },
      {
        rule: ofOptions('!has(self.group) || !has(self.effect)'),
        message: 'effect has no effect on a group: set it on the nodes of the body',
        messageExpression:
          "'effect has no effect on the group ' + self.id + ': set it on the nodes of the body'",
      },
      {
        rule: ofOptions(
          '!has(self.fail) || !(has(self.timeout) || has(self.retry) || has(self.effect) || has(self.onError) || has(self.forEach) || has(self.repeat))',
        ),
        message:
          'timeout, retry, effect, onError, forEach and repeat have no effect on a fail node, which ends the run: remove them',
        messageExpression:
          "'timeout, retry, effect, onError, forEach and repeat have no effect on node ' + self.id + ': a fail node ends the run. Remove them'",
      },
    ),
  });

/**
 * A CEL message expression that names the first wrong edge. `isBad` and `says` are CEL over `e` and `ids`.
 */
const edgeMessage = ({ ids, isBad, says }: { ids: string; isBad: string; says: string }) =>
  `[${ids}].map(ids, self.edges.map(e, ${isBad}, 'edge ' + e.from + ' to ' + e.to + ${says}))[0][0]`;

const withIds = '[self.nodes.map(n, n.id)].all(ids,';
/** No node is in a group. */
const withoutGroups = `self.nodes.all(n, ${isPlain('n')} || !has(n.within))`;
/** A number in CEL that identifies the pair of nodes of the edge `e`, given the node IDs `ids`. */
const EDGE_NUMBER = `ids.indexOf(e.from) * ${MAX_NODES} + ids.indexOf(e.to)`;

const edge = z
  .object({
    from: z.string().max(63).describe('ID of the node that must end first.'),
    to: z.string().max(63).describe('ID of the node that starts after it.'),
    when: z
      .string()
      .max(4096)
      .optional()
      .describe(
        'A condition in CEL on outputs of earlier nodes, for example nodes.agent_1.data_content.usage.total_tokens < 1000. Left out: always true.',
      ),
    after: z
      .enum(['Success', 'Failure'])
      .optional()
      .describe('Whether the edge is taken after success or after failure of `from`. Default Success.'),
  })
  .describe('A connection: the node `to` runs after the node `from`.');

const otherwise = (value: string) =>
  `Default ${value}, unless the ProjectSettings of the namespace say otherwise.`;

export const workflowSpec = z
  .object({
    displayName: z
      .string()
      .max(256)
      .optional()
      .describe("The name that the console shows. Default: the object's name."),
    description: z.string().max(4096).optional().describe('The purpose of the workflow, for people.'),
    active: z.boolean().default(false).describe('Whether the trigger starts runs.'),
    suspend: z
      .boolean()
      .optional()
      .describe(
        'Refuses every new run of the workflow, including test runs, retries and runs of older revisions, and pauses runs that wait to start or to continue. A run that is executing continues: cancel it to stop it. Default false.',
      ),
    nodes: z
      .array(node)
      .min(1)
      .max(MAX_NODES)
      .meta({
        description: 'The trigger and the steps. Edges point forward in this list.',
        'x-kubernetes-list-type': 'atomic',
        // Rules of the list and not of the spec, so that a workflow from before these rules can still be
        // deactivated.
        ...rules(
          {
            rule: `!self.exists(n, has(n.response)) || self.exists(n, ${hasAny('n', WITH_CALLER)}) || !self.exists(n, ${hasAny('n', WITHOUT_CALLER)})`,
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
      description: 'The order in which nodes run. Left out: the nodes form a chain in the order of the list.',
      'x-kubernetes-list-type': 'atomic',
    }),
    history: history(otherwise).optional(),
    recordData: z
      .enum(['All', 'Errors', 'None'])
      .optional()
      .describe(
        'Which runs keep their input and the outputs of nodes in the WorkflowRun: all, only failed ones, or none. Runs without recorded data cannot be retried, or restored after a loss of the run store. Default All.',
      ),
    timeZone: z
      .string()
      .max(64)
      .optional()
      .describe(
        'The IANA time zone of $run.localTime and $run.timeZone, for example Europe/Berlin. The schedule trigger has its own. Default UTC.',
      ),
    timeout: duration(
      `How long a run may take, not counting the time that it waits. ${otherwise('1h')}`,
      DURATION_BOUNDS.runTimeout,
    ).optional(),
    budget: workflowBudget.optional(),
    onFailure: z
      .object({
        workflow: objectName(
          'Name of the workflow, in the same namespace. It may be inactive, and must be another one.',
        ),
      })
      .optional()
      .describe(
        'The workflow that starts once when a live run of this workflow ends in phase Failed. The data_content of its trigger has workflow, run, trigger, node, reason, message and url. Its own failures start nothing.',
      ),
    concurrency: z
      .object({
        limit: z
          .int()
          .min(1)
          .max(1000)
          .optional()
          .describe(
            'How many runs of the workflow may execute concurrently. Default: as many as the runners accept.',
          ),
        policy: z
          .enum(['Queue', 'Reject', 'Replace'])
          .optional()
          .describe(
            'How to handle an event beyond the limit: Queue: it waits; Reject: it is refused with HTTP status 429; Replace: the oldest run is cancelled for it. Default Queue.',
          ),
      })
      .meta({
        description: 'The concurrency limit of the workflow.',
        ...rules({
          rule: '!has(self.policy) || has(self.limit)',
          message: 'policy has no effect without limit: add limit',
        }),
      })
      .optional(),
  })
  .meta({
    description: 'The nodes and edges of the workflow, and its options.',
    ...rules(
      {
        rule: `self.nodes.exists(n, ${isTrigger('n')})`,
        message: `a workflow needs a trigger: add a node with one of ${TRIGGER_KINDS.join(', ')}`,
      },
      {
        rule: `self.nodes.filter(n, ${isTriggerAmongSteps('n')}).size() <= 1`,
        message:
          'a workflow must have exactly one trigger, and this one has more: create one workflow for each trigger',
      },
      {
        rule: "!self.nodes.exists(n, has(n.chat) && has(n.chat.access) && n.chat.access == 'Public') || (has(self.budget) && has(self.budget.day))",
        message:
          'a public chat needs a daily budget, because anybody can send messages: set budget.day, or set access to Token, with tokenRefs',
      },
      {
        rule: '[self.nodes.map(n, n.id)].all(ids, ids.all(id, ids.indexOf(id) == ids.lastIndexOf(id)))',
        message: 'node IDs must be unique: two nodes have the same ID',
        messageExpression:
          "self.nodes.map(n, self.nodes.exists_one(m, m.id == n.id) == false, 'node IDs must be unique: two nodes have the ID ' + n.id)[0]",
      },
      {
        rule: '!has(self.edges) || [self.nodes.map(n, n.id)].all(ids, self.edges.all(e, e.from in ids && e.to in ids))',
        message: 'an edge names a node that does not exist: "from" and "to" must be IDs of nodes',
        messageExpression: edgeMessage({
          ids: 'self.nodes.map(n, n.id)',
          isBad: '!(e.from in ids) || !(e.to in ids)',
          says: "' names a node that does not exist, ' + (e.from in ids ? e.to : e.from) + ': from and to must be IDs of nodes'",
        }),
      },
      {
        rule: `!has(self.edges) || [self.nodes.filter(n, ${isTrigger('n')}).map(n, n.id)].all(ids, self.edges.all(e, !(e.to in ids)))`,
        message: 'an edge leads into the trigger: remove it, because the trigger is always the first node',
        messageExpression: edgeMessage({
          ids: `self.nodes.filter(n, ${isTrigger('n')}).map(n, n.id)`,
          isBad: 'e.to in ids',
          says: "' leads into the trigger: remove it, because the trigger is always the first node'",
        }),
      },
      {
        rule: '!has(self.edges) || [self.nodes.map(n, n.id)].all(ids, self.edges.all(e, !(e.from in ids) || !(e.to in ids) || ids.indexOf(e.from) < ids.indexOf(e.to)))',
        message:
          'an edge points backward: list the nodes in the order in which they run, because edges must point forward',
        messageExpression: edgeMessage({
          ids: 'self.nodes.map(n, n.id)',
          isBad: 'e.from in ids && e.to in ids && ids.indexOf(e.from) >= ids.indexOf(e.to)',
          says: "' points backward: list the nodes in the order in which they run, because edges must point forward'",
        }),
      },
      {
        // Pairs are compared as integers: as strings, long IDs exceed the cost limit of the API server.
        rule: `!has(self.edges) || [self.nodes.map(n, n.id)].all(ids, [self.edges.map(e, ${EDGE_NUMBER})].all(pairs, pairs.all(p, pairs.indexOf(p) == pairs.lastIndexOf(p))))`,
        message: 'two edges connect the same pair of nodes: combine their conditions in one edge',
        messageExpression: `[self.nodes.map(n, n.id)].map(ids, [self.edges.map(e, ${EDGE_NUMBER})].map(pairs, self.edges.map(e, pairs.indexOf(${EDGE_NUMBER}) != pairs.lastIndexOf(${EDGE_NUMBER}), 'edge ' + e.from + ' to ' + e.to + ' is duplicated: combine the conditions of both edges in one edge')))[0][0][0]`,
      },
      {
        rule: `${withoutGroups} || ${withIds} [self.nodes.map(n, has(n.group) ? n.id : '')].all(groups, self.nodes.all(n, !has(n.within) || (n.within in groups && groups.indexOf(n.within) < ids.indexOf(n.id)))))`,
        message: 'within must be the ID of a group that is earlier in the list of nodes',
        messageExpression:
          "[self.nodes.map(n, n.id)].map(ids, [self.nodes.map(n, has(n.group) ? n.id : '')].map(groups, self.nodes.map(n, has(n.within) && !(n.within in groups && groups.indexOf(n.within) < ids.indexOf(n.id)), 'node ' + n.id + ': within names ' + n.within + (!(n.within in ids) ? ', and no node has this ID: add the group, or correct the ID' : !(n.within in groups) ? ', which is not a group: name a node with group' : n.within == n.id ? ' itself: name another group, or remove within' : ', which is later in the list: move the group before its body')))[0])[0][0]",
      },
      {
        rule: `${withoutGroups} || ${withIds} [self.nodes.map(n, has(n.within) ? ids.indexOf(n.within) : -1)].all(scopes, scopes.all(s, s < 0 || scopes[s] < 0 || scopes[scopes[s]] < 0 || scopes[scopes[scopes[s]]] < 0)))`,
        message:
          'a node is in more than 3 groups: nest groups at most 3 levels deep, or move the inner ones to a workflow of their own',
        messageExpression:
          "[self.nodes.map(n, n.id)].map(ids, [self.nodes.map(n, has(n.within) ? ids.indexOf(n.within) : -1)].map(scopes, self.nodes.map(n, has(n.within) && [scopes[ids.indexOf(n.id)]].exists(s, s >= 0 && scopes[s] >= 0 && scopes[scopes[s]] >= 0 && scopes[scopes[scopes[s]]] >= 0), 'node ' + n.id + ' is in more than 3 groups: nest groups at most 3 levels deep'))[0])[0][0]",
      },
      {
        rule: `!has(self.edges) || ${withoutGroups} || ${withIds} [self.nodes.map(n, has(n.within) ? ids.indexOf(n.within) : -1)].all(scopes, self.edges.all(e, !(e.from in ids) || !(e.to in ids) || scopes[ids.indexOf(e.from)] == scopes[ids.indexOf(e.to)])))`,
        message:
          'an edge connects nodes of different groups: edges must connect nodes with the same within. Connect the group itself',
        messageExpression:
          "[self.nodes.map(n, n.id)].map(ids, [self.nodes.map(n, has(n.within) ? ids.indexOf(n.within) : -1)].map(scopes, self.edges.map(e, e.from in ids && e.to in ids && scopes[ids.indexOf(e.from)] != scopes[ids.indexOf(e.to)], 'edge ' + e.from + ' to ' + e.to + ' connects nodes of different groups: edges must connect nodes with the same within. Connect the group itself'))[0])[0][0]",
      },
      {
        rule: `has(self.edges) || [self.nodes[0]].all(n, ${isTrigger('n')}) || !self.nodes.exists(n, ${isTrigger('n')})`,
        message:
          'without edges the nodes form a chain in the order of the list, so the trigger must be the first node',
      },
    ),
  });

export const workflowStatus = z
  .object({
    id: z.string().optional().describe('The workflow ID in URLs: <namespace>.<name>.'),
    url: z.string().optional().describe('The URL of the webhook, bot or chat, while it is served.'),
    trigger: z.string().optional().describe('The kind of the trigger.'),
    access: z
      .string()
      .max(64)
      .optional()
      .describe(
        `Who may call the webhook or use the chat now. ${PUBLIC}: anybody who knows the URL; ${CLOSED}: nobody, because the workflow is inactive, suspended or invalid; otherwise the scheme in \`auth\` that verifies callers.`,
      ),
    revision: z.string().optional().describe('The revision that new runs execute.'),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('The generation of the spec that the status describes.'),
    conditions: conditions('Ready, the conditions that it is computed from, Active and Stalled.')
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
      .object({
        last: time('When the schedule last fired.').optional(),
        next: time('When the schedule fires next.').optional(),
      })
      .optional()
      .describe('The times of a schedule.'),
    poll: z
      .object({
        cursor: z.string().max(4096).optional().describe('Where the next poll continues.'),
        lastPollTime: time('When the account was last polled.').optional(),
        lastError: z.string().max(4096).optional().describe('Why the last poll failed.'),
        reset: z
          .string()
          .max(64)
          .optional()
          .describe('The last value of the annotation windlass.dev/reset-cursor that was handled.'),
      })
      .optional()
      .describe('The state of a polled trigger.'),
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
          .describe('Unfinished runs, including test runs: running and waiting.'),
        running: z.int().min(0).optional().describe('Runs that a runner executes, including test runs.'),
        waiting: z
          .int()
          .min(0)
          .optional()
          .describe(
            'Unfinished runs that no runner executes, including test runs: they wait for a runner, for the concurrency limit, for a retry, or until the workflow is resumed.',
          ),
        last: time('When the last live run (not a test run) was accepted.').optional(),
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
      .describe('Counts of test runs, written as often as `runs`. Left out: no test run was accepted.'),
    usage: shownUsage
      .optional()
      .describe(
        'What agents of the workflow used on the last day on which one asked a model, with test runs and with what is reserved. Written as often as `runs`.',
      ),
  })
  .describe('The observed state of the workflow. Written by the operator.');

export type WorkflowSpec = z.infer<typeof workflowSpec>;
export type WorkflowStatus = z.infer<typeof workflowStatus>;
export type WorkflowNode = z.infer<typeof node>;
export type WorkflowEdge = z.infer<typeof edge>;

export type NodeKind = TriggerKind | StepKind;

/** The kind of a node. Throws if it has none, which the CRD refuses. */
export function kindOf(node: WorkflowNode): NodeKind {
  const kind = NODE_KINDS.find((kind) => node[kind] !== undefined);
  if (!kind) throw new Error(`node ${node.id} has no kind`);
  return kind;
}

/** The names of the workflows that the nodes, and the tools of agents, run, each once. */
export function calleesOf({ nodes }: Pick<WorkflowSpec, 'nodes'>): string[] {
  return [...new Set(nodes.flatMap((node) => callsOf(node).map(({ name }) => name)))];
}

/** The workflows that the node, or a tool of it, runs, each with the field that names it. */
export function callsOf({ workflow, agent }: WorkflowNode): { field: string; name: string }[] {
  const ofTools = (agent?.tools ?? []).flatMap(({ workflow: name }, index) =>
    name === undefined ? [] : [{ field: `agent.tools[${index}].workflow`, name }],
  );
  return [...(workflow ? [{ field: 'workflow.name', name: workflow.name }] : []), ...ofTools];
}

/** Whether the kind is that of a trigger. */
export function isTriggerKind(kind: NodeKind): kind is TriggerKind {
  return kind in triggers;
}
