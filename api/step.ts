/** The schemas of the step kinds and of the options that all steps share. */
import * as z from 'zod';
import { stepBudget } from './budget.ts';
import { DURATION_BOUNDS } from './duration.ts';
import { celMilliseconds, duration } from './durationField.ts';
import { json, jsonObject, objectName, rules } from './value.ts';

const template = (limit: number, description: string) =>
  z.string().max(limit).describe(`${description} May contain references.`);

const agentTool = z
  .object({
    skill: z.string().min(1).max(64).optional().describe('The skill that the model may call.'),
    workflow: objectName(
      'The workflow that the model may run as a child run, in the same namespace. It may be inactive. The agent continues when the child run has ended, and its output is the result.',
    ).optional(),
    name: z
      .string()
      .max(64)
      .regex(/^[a-zA-Z0-9_-]{1,64}$/)
      .optional()
      .describe(
        'How the model names the tool. Unique in the node. Default: the name of the skill or workflow.',
      ),
    credential: objectName('The Credential that the skill uses.').optional(),
    description: z
      .string()
      .max(1024)
      .optional()
      .describe('When and how the model should call it. Default: the description of the skill or workflow.'),
    parameterDescriptions: z
      .record(z.string(), z.string().min(1).max(1024))
      .optional()
      .describe(
        'Descriptions of parameters that the model sets, by the name of the parameter. Default: those of the skill, or of the input schema of the workflow.',
      ),
    parameters: jsonObject(
      'Parameters with fixed values, which the model can neither see nor set; of a workflow, members of its input. Values may contain references, which are evaluated when the step starts.',
    ).optional(),
    modelMaySet: z
      .record(z.string(), z.string().min(1).max(1024))
      .optional()
      .describe(
        'Parameters that say where data goes, such as url or to, or what is done there (method), which the model may set: their names, with the pattern that each value must match. * stands for any characters except spaces, commas, semicolons, quotes and angle brackets. Without an entry the model cannot set such a parameter.',
      ),
    effect: z
      .enum(['AtLeastOnce', 'AtMostOnce'])
      .optional()
      .describe(
        'How to handle a runner that dies during a call. AtLeastOnce: the call is repeated; AtMostOnce: it is not repeated, and the phase of the node is Unknown. Default: that of the skill.',
      ),
  })
  .meta({
    description: 'A tool: a skill or a workflow.',
    ...rules(
      {
        rule: 'has(self.skill) != has(self.workflow)',
        message: 'a tool must have exactly one of skill and workflow',
      },
      {
        rule: '!has(self.workflow) || !(has(self.credential) || has(self.modelMaySet) || has(self.effect))',
        message:
          'a tool with workflow cannot have credential, modelMaySet or effect: set them in the nodes of that workflow',
      },
    ),
  });
const agentMemory = z
  .object({
    key: template(
      4096,
      'Whose memory it is, such as the ID of a chat: text or a number, at most 512 bytes, not empty. Runs with one key use the memory one after the other.',
    ).min(1),
    name: z
      .string()
      .max(63)
      .regex(/^[A-Za-z][A-Za-z0-9_]{0,62}$/)
      .optional()
      .describe('Agents of the workflow with one name share their memory. Default: the ID of the node.'),
    window: z
      .object({
        turns: z.int().min(1).max(200).optional().describe('The most turns. Default 20.'),
        tokens: z
          .int()
          .min(100)
          .max(2_000_000)
          .optional()
          .describe('The most tokens of these turns, estimated. Default 16000.'),
      })
      .optional()
      .describe('How much of the memory the model is sent: the newest whole turns that fit both limits.'),
    ttl: duration(
      'How long the memory of a key is stored after its last turn. Default 30d.',
      DURATION_BOUNDS.memory,
    ).optional(),
  })
  .describe(
    'Lets the agent continue the conversations of earlier runs: it is sent their turns before the prompt, and its own turn is stored when it ends. Test runs have memories of their own.',
  );

const agentStep = z
  .object({
    credential: objectName('The Credential of kind openai or anthropic to use, in the same namespace.'),
    model: template(256, 'Name of the model, as the provider lists it.').min(1),
    systemPrompt: template(65_536, 'Instructions for the model, sent before the prompt.').optional(),
    prompt: template(65_536, 'What the model is asked.').min(1),
    images: z
      .array(template(4096, 'One reference.').min(1))
      .min(1)
      .max(10)
      .optional()
      .describe(
        'Images for the model, beside the prompt: each is one reference to a downloaded file (data_content of download_file with encoding base64), to an attachment of an email with its content, or to a list of attachments, of which images are taken. PNG, JPEG, GIF or WebP; at most 10 images with 384,000 bytes together. Only for models that take images.',
      ),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .optional()
      .describe("The sampling temperature of the model. Default: the provider's."),
    maxTokens: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe("The most tokens of an answer. Default: the provider's."),
    reasoningEffort: z
      .enum(['Low', 'Medium', 'High'])
      .optional()
      .describe(
        "How much the model thinks before it answers, for models that can. Default: the provider's. With it, the model may be silent for 5 minutes instead of 30 seconds.",
      ),
    stop: z
      .array(z.string().min(1).max(64))
      .max(4)
      .optional()
      .describe('Texts at which the model stops. They are not part of the answer.'),
    options: jsonObject(
      "Members of the request in the provider's own API, such as top_p or service_tier, which are sent as they are. They take precedence over the fields above. Not allowed are model, messages, system, tools and stream.",
    ).optional(),
    fallback: z
      .array(
        z
          .object({
            credential: objectName('The Credential of kind openai or anthropic to use.'),
            model: z.string().min(1).max(256).describe('Name of the model, as the provider lists it.'),
          })
          .describe('A model to ask instead.'),
      )
      .max(3)
      .optional()
      .describe(
        'Models to ask if the one above has a temporary error (InvalidAnswer, RateLimited, Timeout, Unreachable, UpstreamError) before the first answer of the step: each once, in order. data_content.failed_models lists those that failed.',
      ),
    outputSchema: jsonObject(
      'A JSON Schema that the answer must match. The parsed answer is then data_content.json. An answer that does not match is sent back to the model once; if the next one does not match either, the node fails with the reason InvalidAnswer, and its message quotes the answer.',
    ).optional(),
    tools: z.array(agentTool).max(32).optional().describe('Skills and workflows that the model may call.'),
    maxSteps: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe(
        'How often the model may answer: each time that it calls tools, and the last time. If the last of these answers still calls tools, the node fails with the reason StepLimit, and these tools are not called. Default 10.',
      ),
    maxParallel: z
      .int()
      .min(1)
      .max(16)
      .optional()
      .describe('How many tools are called concurrently. Default 4.'),
    budget: stepBudget.optional(),
    memory: agentMemory.optional(),
  })
  .describe('Asks a language model.');

const skillStep = z
  .object({
    name: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[a-z][a-z0-9_]*$/)
      .describe('Name of the skill, for example send_email.'),
    credential: objectName('The Credential that the skill uses, in the same namespace.').optional(),
    parameters: jsonObject('Parameters of the skill. Values may contain references.').optional(),
  })
  .describe('Performs one named action.');

const responseStep = z
  .object({
    status: z.int().min(200).max(599).optional().describe('The HTTP status. Default 200.'),
    headers: z
      .record(z.string(), z.string().max(4096))
      .optional()
      .describe(
        'HTTP headers. Values may contain references. Not allowed are headers of the connection (Content-Length, Transfer-Encoding), headers that a browser stores for the whole host (Set-Cookie, Strict-Transport-Security, NEL, Report-To) and headers that proxies obey (X-Accel-Redirect): docs/http.md lists them.',
      ),
    body: json(
      'The body: any JSON value. Strings may contain references. A string is sent as text, all other values as JSON.',
    ),
    contentType: z
      .string()
      .max(256)
      .optional()
      .describe('The Content-Type. Default application/json, or text/plain for a string.'),
  })
  .describe('Replies to the caller of the webhook. The first response node that runs defines the reply.');

const groupStep = z
  .object({})
  .describe(
    'A scope. The nodes whose `within` names the group are its body: they run for each item of forEach, again for repeat, and their failures are the failures of the group.',
  );

const waitStep = z
  .object({
    duration: duration('How long to wait.', DURATION_BOUNDS.wait).optional(),
    until: template(
      4096,
      'The time until which to wait, as a date and time with its zone (RFC 3339), for example 2026-05-01T08:00:00Z. A time in the past ends the wait at once. At most 90 days ahead.',
    )
      .min(1)
      .optional(),
    callback: z
      .object({
        timeout: duration(
          'How long to wait; after it the node fails with the reason CallbackTimeout. Default 24h.',
          DURATION_BOUNDS.callback,
        ).optional(),
      })
      .optional()
      .describe(
        "Waits for an HTTP call. {{ $url('<ID of this node>') }} is the URL to call, in every node of the workflow. The JSON body of the call is data_content.",
      ),
  })
  .meta({
    description:
      'Waits for a duration, until a time, or until a URL is called (callback). A run that only waits occupies no runner, and the time does not count toward its timeout.',
    ...rules({
      rule: '[has(self.duration), has(self.until), has(self.callback)].filter(is, is).size() == 1',
      message: 'a wait must have exactly one of duration, until and callback',
    }),
  });

const workflowStep = z
  .object({
    name: objectName('Name of the workflow to run, in the same namespace. It may be inactive.'),
    input: json(
      'The data_content of the trigger of the child run: any JSON value. Strings may contain references. Default {}.',
    ),
    wait: z
      .boolean()
      .optional()
      .describe(
        'true: the node ends with the child run, and its output is that of the last node of the child; false: the node ends at once, and its output is the name of the child run. Default true.',
      ),
  })
  .describe(
    'Runs another workflow of the namespace as a child run. A run that only waits for child runs holds no runner, and its timeout does not continue meanwhile.',
  );

const failStep = z
  .object({
    reason: z
      .string()
      .max(64)
      .regex(/^[A-Z][A-Za-z0-9]*$/)
      .describe(
        'The reason with which the node fails, for programs: a word in CamelCase such as OutOfStock. The run fails with it too, unless the node is in a group or loop.',
      ),
    message: template(4096, 'The message of the failed run, for people.').min(1),
  })
  .describe('Fails the run, or the group that the node is in, with a reason and a message.');

const codeStep = z
  .object({
    source: z
      .string()
      .min(1)
      .max(65_536)
      .describe(
        'JavaScript: the body of a function. It reads nodes.<id>.data_content of the nodes before it. The value that it returns is data_content; a returned string is also text_content.',
      ),
    timeout: duration('How long one execution may take. Default 5s.', DURATION_BOUNDS.codeTimeout).optional(),
    memoryMiB: z
      .int()
      .min(8)
      .max(128)
      .optional()
      .describe('The memory that one execution may use, in MiB. Default 64.'),
  })
  .describe('Executes JavaScript in a sandbox, without access to the network or to files.');

export const steps = {
  agent: agentStep,
  skill: skillStep,
  response: responseStep,
  group: groupStep,
  wait: waitStep,
  workflow: workflowStep,
  fail: failStep,
  code: codeStep,
} as const;

export type StepKind = keyof typeof steps;
export const STEP_KINDS = Object.keys(steps) as StepKind[];
export type AgentStep = z.infer<typeof agentStep>;
export type AgentMemoryFields = z.infer<typeof agentMemory>;
export type AgentTool = NonNullable<AgentStep['tools']>[number];
export type SkillStep = z.infer<typeof skillStep>;
export type ResponseStep = z.infer<typeof responseStep>;
export type WaitStep = z.infer<typeof waitStep>;
export type WorkflowStep = z.infer<typeof workflowStep>;
export type FailStep = z.infer<typeof failStep>;
export type CodeStep = z.infer<typeof codeStep>;

/** The options that triggers and steps take. */
export const nodeOptions = {
  sensitive: z
    .boolean()
    .optional()
    .describe(
      "Excludes the node's output and messages from records, live events and the console. Other nodes can still reference the output. Default false.",
    ),
} as const;

/** The options that every step takes. */
export const stepOptions = {
  disabled: z
    .boolean()
    .optional()
    .describe(
      'Does not execute the step, or the body of the group: its phase is Skipped, with the reason Disabled. Edges from it are followed as after success, and other nodes cannot read its output: give references to it a default. Its fields are not checked. Default false.',
    ),
  timeout: duration(
    'How long one attempt may take. Default 60s, for an agent 10m.',
    DURATION_BOUNDS.stepTimeout,
  ).optional(),
  retry: z
    .object({
      limit: z.int().min(0).max(20).describe('How often to retry after a temporary error.'),
      backoff: z
        .object({
          initial: duration('Delay before the first retry. Default 1s.', DURATION_BOUNDS.backoff).optional(),
          factor: z
            .number()
            .min(1)
            .max(10)
            .optional()
            .describe('By what factor the delay grows with each further retry. Default 2.'),
          max: duration('The longest delay. Default 60s.', DURATION_BOUNDS.backoff).optional(),
        })
        .meta({
          description: 'The delay between attempts.',
          ...rules({
            rule: `!has(self.initial) || ${celMilliseconds('self.initial')} <= (has(self.max) ? ${celMilliseconds('self.max')} : 60000.0)`,
            message: 'initial must not be longer than max (default 60s): set max too',
          }),
        })
        .optional(),
    })
    .optional()
    .describe('Retry on failure. Off by default.'),
  onError: z
    .enum(['Fail', 'Continue'])
    .optional()
    .describe(
      'How to handle a failure of this node. Fail: the run, or the group that the node is in, fails, unless an edge with `after: Failure` handles it; Continue: the run continues, and other nodes can read .error. Default Fail.',
    ),
  within: z
    .string()
    .max(63)
    .optional()
    .describe('ID of the group whose body the node belongs to. The group must be earlier in the list.'),
  forEach: z
    .object({
      items: template(4096, 'One reference to an array.').min(1),
      maxParallel: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe('How many items are executed concurrently. Default 1.'),
      batch: z
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .describe('Groups so many elements into one item, so that $item is an array. Default: no batches.'),
      delay: duration(
        'The least time between the starts of two items. Default 0s.',
        DURATION_BOUNDS.itemDelay,
      ).optional(),
      collect: z
        .enum(['Results', 'None'])
        .optional()
        .describe(
          'Results: data_content is the array of the outputs, in the order of the items; None: outputs of items are dropped, for loops whose results would be too large. Default Results.',
        ),
    })
    .optional()
    .describe(
      'Executes the node once for each element of an array, which is $item; $index is its position from 0. At most 10,000 items. The other options apply to each item on its own: with onError: Continue the result of a failed item is {error: {reason, message}}.',
    ),
  repeat: z
    .object({
      until: z
        .string()
        .min(1)
        .max(4096)
        .describe(
          'A condition in CEL. The node is executed again until it holds. `nodes.<own ID>` is the output of the last execution.',
        ),
      limit: z
        .int()
        .min(1)
        .max(10_000)
        .describe('The most executions. If the condition does not hold after them, the node fails.'),
      delay: duration('The pause between two executions. Default 0s.', DURATION_BOUNDS.itemDelay).optional(),
      initial: json('The data_content of $previous in the first execution. Default null.'),
      collect: z
        .enum(['Results', 'None'])
        .optional()
        .describe(
          'Results: data_content is the array of the outputs of all executions; None: the output is that of the last one. Default None.',
        ),
    })
    .optional()
    .describe(
      'Executes the node again until a condition holds. $previous is the output of the execution before.',
    ),
  effect: z
    .enum(['AtLeastOnce', 'AtMostOnce'])
    .optional()
    .describe(
      'How to handle a runner that dies during the step. AtLeastOnce: the step is repeated; AtMostOnce: it is not repeated, and its phase is Unknown. Default: that of the kind of step or skill.',
    ),
} as const;

/** The name by which the model calls the tool. */
export function nameOfTool({
  name,
  skill = '',
  workflow,
}: Pick<AgentTool, 'name' | 'skill' | 'workflow'>): string {
  return name ?? (workflow === undefined ? skill : workflow.replaceAll('.', '_').slice(0, 64));
}
