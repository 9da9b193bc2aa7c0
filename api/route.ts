/**
 * The WebhookRoute kind: the effective state of one workflow. The operator writes it, and the gateway reads
 * it. While the spec is invalid, the operator also takes the schedule from it.
 */
import * as z from 'zod';
import { FORMERLY_PUBLIC, PUBLIC } from './access.ts';
import { PLATFORMS } from './credential.ts';
import { CHAT_TYPES, rateLimit } from './trigger.ts';
import { TRIGGER_KINDS } from './triggerKinds.ts';
import { objectName, secretKeyRef } from './value.ts';
import { AUTH_SCHEMES, WEBHOOKS, type AuthScheme } from './webhookAuth.ts';

const verification = z
  .object({
    material: z
      .string()
      .max(64)
      .optional()
      .describe(
        `The entry of the Secret ${WEBHOOKS} that verifies callers. It changes with the secrets. Left out: a secret is missing, and every call gets 503.`,
      ),
    secretRefs: z
      .array(secretKeyRef('A secret.'))
      .min(1)
      .max(5)
      .describe('The Secret keys that the workflow refers to. The gateway does not read them.'),
    toleranceSeconds: z
      .int()
      .min(1)
      .max(86_400)
      .describe('How far the signing time may be in the past or future.'),
    hmac: z
      .object({
        header: z.string().max(128).describe('The request header that holds the signature, in lower case.'),
        algorithm: z.enum(['sha256', 'sha512', 'sha1']).describe('The hash function.'),
        encoding: z.enum(['hex', 'base64']).describe('The encoding of the signature.'),
        prefix: z.string().max(64).describe('Text before the signature in the header.'),
        timestampHeader: z
          .string()
          .max(128)
          .optional()
          .describe('The header with the signing time, in lower case.'),
      })
      .optional()
      .describe('For hmac.'),
    username: z.string().max(256).optional().describe('For basic.'),
  })
  .describe('How callers are verified.');

export const routeSpec = z
  .object({
    workflow: objectName('Name of the workflow.'),
    workflowUID: z
      .string()
      .max(64)
      .describe('The uid of the workflow, so that a new workflow of the same name inherits nothing.'),
    projectUID: z
      .string()
      .max(64)
      .describe('The uid of the namespace, which identifies the project in the run store.'),
    testRun: objectName(
      'The test run that listens for its event here. `workflowUID` is the uid of that run then, and the route is not active: it opens nothing but its webhook, for one event.',
    ).optional(),
    revision: z.string().max(253).describe('The revision that new runs execute.'),
    trigger: z.enum([...TRIGGER_KINDS] as [string, ...string[]]).describe('The kind of the trigger.'),
    active: z
      .boolean()
      .describe(
        'Whether events start runs. Execute calls of an inactive workflow are refused, except for test runs.',
      ),
    inactiveReason: z
      .enum(['AuthRequired'])
      .optional()
      .describe(
        'Why an active workflow is not served. `AuthRequired`: its webhook is public, and the namespace or the installation refuses public webhooks.',
      ),
    suspended: z
      .boolean()
      .optional()
      .describe('Whether the workflow is suspended: every execute call is refused, including test runs.'),
    webhook: z
      .object({
        path: z.string().max(128).describe('Last segment of the URL.'),
        reply: z
          .boolean()
          .describe('Whether a response node defines the reply, so that the caller waits for it.'),
        replyTimeoutSeconds: z.int().min(1).max(300).describe('How long the caller waits for it.'),
        headers: z
          .array(z.string().max(128))
          .max(32)
          .optional()
          .describe('Request headers that nodes may read, in lower case.'),
        dedupeHeader: z
          .string()
          .max(128)
          .optional()
          .describe('The request header that holds the dedupe key, in lower case.'),
        access: z
          .enum([PUBLIC, FORMERLY_PUBLIC, ...AUTH_SCHEMES])
          .optional()
          .meta({
            description: `Who may call the webhook. ${PUBLIC}: anybody who knows the URL; otherwise the scheme that verifies callers. Earlier versions wrote ${FORMERLY_PUBLIC} for ${PUBLIC}.`,
            default: PUBLIC,
          }),
        verify: verification.optional(),
        rateLimit: rateLimit
          .optional()
          .describe('The rate limit in each gateway replica. Default: that of the installation.'),
      })
      .optional()
      .describe('The webhook, while the workflow is active and has one.'),
    bot: z
      .object({
        credential: objectName(
          'The Credential of the bot, which is part of its URL: POST /bot/<namespace>.<credential>.',
        ),
        platform: z.enum(PLATFORMS).optional().describe('The messaging service.'),
        account: z
          .string()
          .max(64)
          .optional()
          .describe('Telegram: the ID of the bot. Numbers of updates are unique per bot.'),
        username: z
          .string()
          .max(256)
          .optional()
          .describe('Telegram: the user name of the bot, once it is known.'),
        chatTypes: z
          .array(z.enum(CHAT_TYPES))
          .max(4)
          .optional()
          .describe('Only messages of these kinds of chats.'),
        commands: z
          .array(z.string().max(64))
          .max(64)
          .optional()
          .describe('Only messages that begin with one of these commands.'),
        verify: verification.optional(),
      })
      .optional()
      .describe('The bot, while the workflow is active and has a bot trigger.'),
    chat: z
      .object({
        id: z.string().max(64).describe('The last segment of its URL: /chat/<id>.'),
        title: z.string().max(100).describe('The title of the page.'),
        welcome: z.string().max(2_000).optional().describe('The text before the first message.'),
        suggestions: z
          .array(z.string().max(200))
          .max(6)
          .optional()
          .describe('Messages that the page offers as buttons.'),
        embedIn: z
          .array(z.string().max(256))
          .max(16)
          .optional()
          .describe('Origins of the sites that may show the page in a frame.'),
        answer: z
          .string()
          .max(63)
          .optional()
          .describe('ID of the agent whose text is streamed. Left out: the response node answers.'),
        access: z
          .enum([PUBLIC, 'bearer'])
          .describe(
            `Who may send messages. ${PUBLIC}: anybody who knows the URL; bearer: whoever sends a token.`,
          ),
        verify: verification.optional(),
      })
      .optional()
      .describe('The chat, while the workflow is active and has one.'),
    schedule: z
      .object({
        cron: z.string().max(256).describe('The five cron fields.'),
        timeZone: z.string().max(64).describe('The IANA time zone of the fields.'),
        latestSeconds: z
          .int()
          .optional()
          .describe('How many seconds after its time a run may still start. Left out: no limit.'),
      })
      .optional()
      .describe('The schedule, while the workflow is active and has one.'),
    poll: z
      .object({
        trigger: z.string().max(64).describe('Identifies the trigger: it changes when the trigger does.'),
      })
      .optional()
      .describe('The polled trigger, while the workflow is active and has one.'),
  })
  .describe('What the gateway serves.');

export const routeStatus = z
  .object({})
  .describe('Empty: gateway replicas publish in their Leases what they serve.');

export type RouteSpec = z.infer<typeof routeSpec>;
export type Verification = z.infer<typeof verification>;

type Called = Pick<RouteSpec, 'webhook' | 'chat'>;

/** The scheme that verifies the callers of a webhook or chat; undefined if it is public or there is none. */
export function schemeOf({ webhook, chat }: Called): AuthScheme | undefined {
  const { access = PUBLIC } = webhook ?? chat ?? {};
  return access === PUBLIC || access === FORMERLY_PUBLIC ? undefined : access;
}

/** How the callers of a route are verified; undefined if it has no URL or callers are not verified. */
export function verificationIn({
  webhook,
  bot,
  chat,
}: Pick<RouteSpec, 'webhook' | 'bot' | 'chat'>): Verification | undefined {
  return webhook?.verify ?? bot?.verify ?? chat?.verify;
}
