/** The schemas of the step kinds and of the options that all steps share. */
import * as z from 'zod';
import { DURATION_BOUNDS } from './duration.ts';
import { celMilliseconds, duration } from './durationField.ts';
import { json, jsonObject, objectName, rules } from './value.ts';

const template = (limit: number, description: string) =>
  z.string().max(limit).describe(`${description} May hold references.`);

const agentStep = z
  .object({
    credential: objectName('The Credential of kind openai to use, in the same namespace.'),
    model: template(256, "The model's name, as the provider lists it.").min(1),
    systemPrompt: template(65_536, 'What the model is told about its task before the prompt.').optional(),
    prompt: template(65_536, 'What the model is asked.').min(1),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .optional()
      .describe("How freely the model answers. Default: the provider's."),
    maxTokens: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe("The most tokens that an answer may have. Default: the provider's."),
    outputSchema: jsonObject(
      'A JSON Schema that the answer must fit; the parsed answer is then data_content.json.',
    ).optional(),
    tools: z
      .array(
        z.object({
          skill: z.string().min(1).max(64).describe('The skill that the model may call.'),
          credential: objectName('The Credential that the skill uses.').optional(),
          description: z.string().max(1024).optional().describe('When the model should call it.'),
          parameters: jsonObject('Parameters with fixed values, which the model cannot set.').optional(),
        }),
      )
      .max(32)
      .optional()
      .describe('Skills that the model may call while it answers.'),
  })
  .describe('Asks a language model.');

const skillStep = z
  .object({
    name: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[a-z][a-z0-9_]*$/)
      .describe('The skill, such as send_email.'),
    credential: objectName('The Credential that the skill uses, in the same namespace.').optional(),
    parameters: jsonObject("The skill's parameters. Values may hold references.").optional(),
  })
  .describe('Does one named action.');

const responseStep = z
  .object({
    status: z.int().min(200).max(599).optional().describe('The HTTP status. Default 200.'),
    headers: z
      .record(z.string(), z.string().max(4096))
      .optional()
      .describe(
        'HTTP headers. Values may hold references. Not those of the connection (Content-Length, Transfer-Encoding), those that a browser keeps for the whole host (Set-Cookie, Strict-Transport-Security, NEL, Report-To) or that proxies obey (X-Accel-Redirect): docs/http.md lists them.',
      ),
    body: json(
      'The body: any JSON value; strings may hold references. A string is sent as text, everything else as JSON.',
    ),
    contentType: z
      .string()
      .max(256)
      .optional()
      .describe('The Content-Type. Default application/json, or text/plain for a string.'),
  })
  .describe('Answers the caller of the webhook. The first response node that is reached decides.');

export const steps = { agent: agentStep, skill: skillStep, response: responseStep } as const;

export type StepKind = keyof typeof steps;
export const STEP_KINDS = Object.keys(steps) as StepKind[];
export type AgentStep = z.infer<typeof agentStep>;
export type SkillStep = z.infer<typeof skillStep>;
export type ResponseStep = z.infer<typeof responseStep>;

/** The options that triggers and steps take. */
export const nodeOptions = {
  sensitive: z
    .boolean()
    .optional()
    .describe(
      "Keeps the node's output and messages out of records, live events and the console. Other nodes can still reference the output. Default false.",
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
          initial: duration('Wait before the first retry. Default 1s.', DURATION_BOUNDS.backoff).optional(),
          factor: z
            .number()
            .min(1)
            .max(10)
            .optional()
            .describe('What each further wait is multiplied by. Default 2.'),
          max: duration('The longest wait. Default 60s.', DURATION_BOUNDS.backoff).optional(),
        })
        .meta({
          description: 'How long to wait between attempts.',
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
      'What a failure of this node means: the run fails, or it goes on and .error can be read. Default Fail.',
    ),
  forEach: z
    .string()
    .max(4096)
    .optional()
    .describe('A reference to an array: the step runs once for each element, as $item.'),
  effect: z
    .enum(['AtLeastOnce', 'AtMostOnce'])
    .optional()
    .describe(
      "What happens when a runner dies in the middle: do it again, or leave it and say Unknown. Default: the step kind's own.",
    ),
} as const;
