/** The schemas of the step kinds and of the options that all steps share. */
import * as z from 'zod';
import { DURATION_BOUNDS } from './duration.ts';
import { celMilliseconds, duration } from './durationField.ts';
import { json, jsonObject, objectName, rules } from './value.ts';

const template = (limit: number, description: string) =>
  z.string().max(limit).describe(`${description} May contain references.`);

const agentStep = z
  .object({
    credential: objectName('The Credential of kind openai to use, in the same namespace.'),
    model: template(256, 'Name of the model, as the provider lists it.').min(1),
    systemPrompt: template(65_536, 'Instructions for the model, sent before the prompt.').optional(),
    prompt: template(65_536, 'The prompt.').min(1),
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
    outputSchema: jsonObject(
      'A JSON Schema that the answer must match. The parsed answer is then data_content.json.',
    ).optional(),
    tools: z
      .array(
        z.object({
          skill: z.string().min(1).max(64).describe('The skill that the model may call.'),
          credential: objectName('The Credential that the skill uses.').optional(),
          description: z.string().max(1024).optional().describe('When the model should call it.'),
          parameters: jsonObject('Parameters with fixed values that the model cannot change.').optional(),
        }),
      )
      .max(32)
      .optional()
      .describe('Skills that the model may call.'),
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

const failStep = z
  .object({
    reason: z
      .string()
      .max(64)
      .regex(/^[A-Z][A-Za-z0-9]*$/)
      .describe('The reason of the failed run, for programs: a word in CamelCase such as OutOfStock.'),
    message: template(4096, 'The message of the failed run, for people.').min(1),
  })
  .describe('Ends the run as failed, with a reason and a message.');

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
  fail: failStep,
  code: codeStep,
} as const;

export type StepKind = keyof typeof steps;
export const STEP_KINDS = Object.keys(steps) as StepKind[];
export type AgentStep = z.infer<typeof agentStep>;
export type SkillStep = z.infer<typeof skillStep>;
export type ResponseStep = z.infer<typeof responseStep>;
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
      'How to handle a failure of this node. Fail: the run fails; Continue: the run continues, and other nodes can read .error. Default Fail.',
    ),
  forEach: z
    .string()
    .max(4096)
    .optional()
    .describe('A reference to an array. The step runs once for each element, which is $item.'),
  effect: z
    .enum(['AtLeastOnce', 'AtMostOnce'])
    .optional()
    .describe(
      'How to handle a runner that dies during the step. AtLeastOnce: the step is repeated; AtMostOnce: it is not repeated, and its phase is Unknown. Default: that of the kind of step or skill.',
    ),
} as const;
