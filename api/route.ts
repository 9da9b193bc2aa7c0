/**
 * The WebhookRoute kind: what is in effect of one workflow. Written by the operator, read by the gateway; of a schedule it is what the
 * operator goes by while the spec is invalid.
 */
import * as z from 'zod';
import { FORMERLY_PUBLIC, PUBLIC } from './access.ts';
import { PLATFORMS } from './credential.ts';
import { CHAT_TYPES, rateLimit, TRIGGER_KINDS } from './trigger.ts';
import { objectName, secretKeyRef } from './value.ts';
import { AUTH_SCHEMES, WEBHOOKS, type AuthScheme } from './webhookAuth.ts';

const verification = z
  .object({
    material: z
      .string()
      .max(64)
      .optional()
      .describe(
        `Which entry of the Secret ${WEBHOOKS} callers are verified with: another one whenever the secrets change. Left out: a secret is missing, and every call is answered with 503.`,
      ),
    secretRefs: z
      .array(secretKeyRef('A secret.'))
      .min(1)
      .max(5)
      .describe('The keys that the workflow names. The gateway never reads them.'),
    toleranceSeconds: z
      .int()
      .min(1)
      .max(86_400)
      .describe('How old or how far ahead a time of signing may be.'),
    hmac: z
      .object({
        header: z.string().max(128).describe('The request header that holds the signature, in lower case.'),
        algorithm: z.enum(['sha256', 'sha512', 'sha1']).describe('The hash.'),
        encoding: z.enum(['hex', 'base64']).describe('How the signature is written.'),
        prefix: z.string().max(64).describe('Text before the signature in the header.'),
        timestampHeader: z
          .string()
          .max(128)
          .optional()
          .describe('The header with the time of signing, in lower case.'),
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
      .describe("The workflow's uid: a workflow made again under the same name inherits nothing."),
    projectUID: z.string().max(64).describe("The namespace's uid, which names the project in the run store."),
    revision: z.string().max(253).describe('The revision that new runs execute.'),
    trigger: z.enum(TRIGGER_KINDS as [string, ...string[]]).describe('The kind of the trigger.'),
    active: z
      .boolean()
      .describe(
        'Whether events start runs. Execute calls of an inactive workflow are refused, but for test runs.',
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
      .describe('Whether the workflow is suspended: every execute call is refused, also test runs.'),
    webhook: z
      .object({
        path: z.string().max(128).describe('Last segment of the URL.'),
        reply: z
          .boolean()
          .describe('Whether a response node defines the answer, so that the caller waits for it.'),
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
          .describe('The request header whose value names the event, in lower case.'),
        access: z
          .enum([PUBLIC, FORMERLY_PUBLIC, ...AUTH_SCHEMES])
          .optional()
          .meta({
            description: `Who may call: ${PUBLIC}, anybody who knows the URL; otherwise the scheme that verifies callers. ${FORMERLY_PUBLIC} is what earlier versions wrote for ${PUBLIC}.`,
            default: PUBLIC,
          }),
        verify: verification.optional(),
        rateLimit: rateLimit
          .optional()
          .describe('How many requests each replica takes. Left out: what the installation says.'),
      })
      .optional()
      .describe('The public URL, while the workflow is active and has one.'),
    bot: z
      .object({
        credential: objectName(
          'The Credential of the bot, which names its URL: POST /bot/<namespace>.<credential>.',
        ),
        platform: z.enum(PLATFORMS).optional().describe('The messaging service.'),
        account: z
          .string()
          .max(64)
          .optional()
          .describe("Telegram: the bot's id. Its updates are numbered by it."),
        username: z.string().max(256).optional().describe('Telegram: the name of the bot, once it is known.'),
        chatTypes: z.array(z.enum(CHAT_TYPES)).max(4).optional().describe('Only messages of these chats.'),
        commands: z
          .array(z.string().max(64))
          .max(64)
          .optional()
          .describe('Only messages that begin with one of these commands.'),
        verify: verification.optional(),
      })
      .optional()
      .describe('The URL of the bot, while the workflow is active and takes its messages.'),
    schedule: z
      .object({
        cron: z.string().max(256).describe('The five cron fields.'),
        timeZone: z.string().max(64).describe('The IANA time zone of the fields.'),
        latestSeconds: z
          .int()
          .optional()
          .describe('How late a run may start and still count for its time. Left out: as late as it may be.'),
      })
      .optional()
      .describe('When runs start, while the workflow is active and starts by the clock.'),
    poll: z
      .object({
        trigger: z.string().max(64).describe('Which trigger: another one has another value.'),
      })
      .optional()
      .describe('The account that is polled, while the workflow is active and its trigger is polled.'),
  })
  .describe('What is served.');

export const routeStatus = z.object({}).describe('Empty: replicas say in their Leases what they serve.');

export type RouteSpec = z.infer<typeof routeSpec>;
export type Verification = z.infer<typeof verification>;

/** The scheme that verifies the callers of a route's webhook; undefined where it is public, or where there is none. */
export function schemeOf({ webhook }: Pick<RouteSpec, 'webhook'>): AuthScheme | undefined {
  const { access = PUBLIC } = webhook ?? {};
  return access === PUBLIC || access === FORMERLY_PUBLIC ? undefined : access;
}

/** How the callers of a route's URL are verified; undefined where it has none, or nobody is to be verified. */
export function verificationIn({
  webhook,
  bot,
}: Pick<RouteSpec, 'webhook' | 'bot'>): Verification | undefined {
  return webhook?.verify ?? bot?.verify;
}
