/** The schemas of the seven trigger kinds. What is left out takes the default that the description names. */
import * as z from 'zod';
import { CRON_FIELDS } from './cron.ts';
import { DURATION_BOUNDS } from './duration.ts';
import { duration } from './durationField.ts';
import { jsonObject, objectName, output, rules, secretKeyRef } from './value.ts';

const testData = output
  .meta({ 'x-kubernetes-map-type': undefined })
  .optional()
  .describe('The output that a test run takes from this trigger when it is given no event.');

const pollIntervalSeconds = z
  .int()
  .min(5)
  .max(86_400)
  .optional()
  .describe('Seconds between two polls of the account. Default 60, at least 5.');

const credential = objectName('The Credential to use, in the same namespace.');

const manualTrigger = z
  .object({
    testData: jsonObject(
      'The JSON object that a test run takes as data_content when it is given none.',
    ).optional(),
  })
  .describe(
    'Starts a run only when somebody asks for one: by the execute call, in the console, or with a WorkflowRun.',
  );

const scheduleTrigger = z
  .object({
    cron: z
      .string()
      .max(256)
      .meta({
        description:
          'When to start a run, as five cron fields: minute, hour, day of month, month, day of week.',
        ...rules({
          rule: `self.matches(r'^${CRON_FIELDS}$')`,
          message:
            'cron must have five fields (minute 0-59, hour 0-23, day of month 1-31, month 1-12, day of week 0-6), for example "*/5 * * * *" or "0 9 * * 1-5"',
        }),
      }),
    timeZone: z
      .string()
      .max(64)
      .optional()
      .describe('IANA time zone of the fields, such as Europe/Berlin. Default UTC.'),
    missed: z
      .enum(['Skip', 'RunLatest'])
      .optional()
      .describe(
        'What to do about times that passed while nothing could start: the latest one starts a run if it was not longer ago than startingDeadlineSeconds (Skip), or however long ago it was (RunLatest). Default Skip.',
      ),
    startingDeadlineSeconds: z
      .int()
      .min(10)
      .max(604_800)
      .optional()
      .describe(
        'How late a run may start and still count for its time. Default 300; with RunLatest: as late as it may be.',
      ),
    testData,
  })
  .describe('Starts a run at the times of a cron expression.');

const headerName = (description: string) =>
  z
    .string()
    .min(1)
    .max(128)
    .regex(/^[A-Za-z0-9_-]+$/)
    .describe(description);

const tolerance = duration(
  'How old or how far ahead the time of signing may be. Default 5m.',
  DURATION_BOUNDS.tolerance,
).optional();

const hmacAuth = z
  .object({
    secretRefs: z
      .array(secretKeyRef('A secret.'))
      .min(1)
      .max(5)
      .describe('The secrets; any one may have signed, so that they can be rotated.'),
    header: headerName('The request header that holds the signature.'),
    algorithm: z.enum(['sha256', 'sha512', 'sha1']).optional().describe('The hash. Default sha256.'),
    encoding: z.enum(['hex', 'base64']).optional().describe('How the signature is written. Default hex.'),
    prefix: z
      .string()
      .max(64)
      .optional()
      .describe('Text before the signature in the header, such as "sha256=".'),
    timestampHeader: headerName(
      'The header with the time of signing (Unix seconds), signed as "<time>.<body>". Left out: the body alone is signed, and a copy of a request stays good for ever.',
    ).optional(),
    tolerance,
  })
  .meta({
    description: 'An HMAC over the raw body.',
    ...rules({
      rule: '!has(self.tolerance) || has(self.timestampHeader)',
      message: 'tolerance needs timestampHeader: without a time of signing nothing is too old',
    }),
  });

const secretRefs = z
  .array(secretKeyRef('A secret.'))
  .min(1)
  .max(5)
  .describe('The secrets; any one is accepted, so that they can be rotated.');

const webhookAuth = z
  .object({
    none: z
      .object({})
      .optional()
      .describe('Nobody is verified, on purpose: anybody who knows the URL may call.'),
    hmac: hmacAuth.optional(),
    standardWebhooks: z
      .object({ secretRefs, tolerance })
      .optional()
      .describe(
        'Signatures as standardwebhooks.com describes them; a secret is "whsec_" and base64. The header webhook-id names the event.',
      ),
    github: z
      .object({ secretRefs })
      .optional()
      .describe('GitHub: X-Hub-Signature-256. The header X-GitHub-Delivery names the event.'),
    bearer: z.object({ secretRefs }).optional().describe('Authorization: Bearer with a fixed token.'),
    basic: z
      .object({
        username: z
          .string()
          .min(1)
          .max(256)
          .regex(/^[^:]+$/)
          .describe('The user name; it has no colon.'),
        passwordRefs: z
          .array(secretKeyRef('A password.'))
          .min(1)
          .max(5)
          .describe('The passwords; any one is accepted.'),
      })
      .optional()
      .describe('Authorization: Basic with a fixed user name and password.'),
  })
  .meta({
    description:
      'How callers are verified. Left out: the webhook is public, anybody who knows the URL may call, and the status says so. A namespace or an installation can require a scheme.',
    ...rules({
      rule: '[has(self.none), has(self.hmac), has(self.standardWebhooks), has(self.github), has(self.bearer), has(self.basic)].filter(x, x).size() == 1',
      message: 'auth must have exactly one of none, hmac, standardWebhooks, github, bearer, basic',
    }),
  });

/** How many requests are taken: a token bucket. */
export const rateLimit = z.object({
  requestsPerSecond: z.int().min(1).max(100_000).describe('Requests a second in the long run.'),
  burst: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Requests that may come at once after a quiet time. Default: those of two seconds.'),
});

export const webhookPath = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description: 'Last segment of the URL: POST /webhook/<namespace>.<workflow>/<path>.',
    ...rules({
      rule: "self.matches('^[A-Za-z0-9._~-]+$') && self != '.' && self != '..'",
      message: 'path must be one URL segment of letters, digits and . _ ~ - (no slash)',
    }),
  });

const webhookTrigger = z
  .object({
    path: webhookPath,
    auth: webhookAuth.optional(),
    dedupe: z
      .object({
        header: z.string().min(1).max(128).describe('The request header whose value names the event.'),
      })
      .optional()
      .describe(
        'How to tell that two requests are one event. The delivery id of standardWebhooks or github counts before it, and so does an Idempotency-Key header.',
      ),
    headers: z
      .array(
        z
          .string()
          .min(1)
          .max(128)
          .regex(/^[A-Za-z0-9-]+$/),
      )
      .max(32)
      .optional()
      .describe(
        "Request headers that nodes may read, as {{ $('trigger').headers['x-name'] }}. None by default.",
      ),
    replyTimeout: duration(
      'How long a caller waits for the response node. Default 30s.',
      DURATION_BOUNDS.replyTimeout,
    ).optional(),
    rateLimit: rateLimit
      .optional()
      .describe(
        'How many requests each replica of the gateway takes for this webhook: 429 beyond that. Default: what the installation says (chart value gateway.limits.perRoute).',
      ),
    testData,
  })
  .describe('Starts a run for each POST of a JSON body.');

const mailTrigger = z
  .object({
    credential,
    pollIntervalSeconds,
    mailbox: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe('The folder to watch; at Gmail the name of a label. Default INBOX.'),
    unseenOnly: z
      .boolean()
      .optional()
      .describe('Only mail that is not marked as seen when it is polled. Default false.'),
    from: z
      .string()
      .max(512)
      .optional()
      .describe('Only mail whose sender, name or address, contains this text in whatever case.'),
    subject: z
      .string()
      .max(512)
      .optional()
      .describe('Only mail whose subject contains this text in whatever case.'),
    attachments: z
      .enum(['None', 'Metadata', 'Content'])
      .optional()
      .describe(
        'What to bring of attachments: nothing, their names, types and sizes, or also what is in them. Default Metadata.',
      ),
    maxAttachmentBytes: z
      .int()
      .min(0)
      .max(393_216)
      .optional()
      .describe(
        'Attachments above this size come without their content. Default 262144; all contents of a mail together have some 350000 bytes of room.',
      ),
    testData,
  })
  .meta({
    description: 'Starts a run for each new mail.',
    ...rules({
      rule: "!has(self.maxAttachmentBytes) || (has(self.attachments) && self.attachments == 'Content')",
      message: 'maxAttachmentBytes has no effect unless attachments is Content',
    }),
  });

const spreadsheetTrigger = z
  .object({
    credential,
    spreadsheetId: z
      .string()
      .min(1)
      .max(2048)
      .describe(
        'Id or URL of the spreadsheet; of a workbook of Excel the id of its file in the OneDrive, or a URL that leads to it.',
      ),
    sheet: z
      .string()
      .max(256)
      .optional()
      .describe('Name of the sheet. Default: the one that the URL shows (gid), else the first one.'),
    range: z
      .string()
      .max(256)
      .optional()
      .describe('Cells to watch, in A1 notation such as A3:F. Default: the whole sheet.'),
    keyColumn: z
      .string()
      .max(256)
      .optional()
      .describe(
        'Header or letters of the column that identifies a row. Rows in which it is empty are left out. Default: rows are told apart by all that they hold.',
      ),
    header: z
      .boolean()
      .optional()
      .describe('Whether the first row of what is watched names the columns. Default true.'),
    events: z
      .array(z.enum(['added', 'updated', 'removed']))
      .max(3)
      .optional()
      .describe('The changes that count. Default: all.'),
    perRow: z
      .boolean()
      .optional()
      .describe('One run for each row that changed, not one for each look. Default false.'),
    pollIntervalSeconds,
    testData,
  })
  .describe('Starts a run when rows of a spreadsheet change.');

const fileStorageTrigger = z
  .object({
    credential,
    folderId: z
      .string()
      .max(1024)
      .optional()
      .describe('The folder to watch: its id; at S3 its name, such as reports/2026. Default: all.'),
    includeSubfolders: z.boolean().optional().describe('Also what lies in folders below. Default false.'),
    mimeTypes: z
      .array(z.string().max(256))
      .max(32)
      .optional()
      .describe('Only files of these types; image/* are all images. Default: all.'),
    events: z
      .array(z.enum(['added', 'modified']))
      .max(2)
      .optional()
      .describe('The changes that count. Default: all.'),
    pollIntervalSeconds,
    testData,
  })
  .describe('Starts a run when a file is added or modified.');

/** The kinds of chats, in Telegram's words. */
export const CHAT_TYPES = ['private', 'group', 'supergroup', 'channel'] as const;
export type ChatType = (typeof CHAT_TYPES)[number];

const botTrigger = z
  .object({
    credential,
    chatTypes: z
      .array(z.enum(CHAT_TYPES))
      .max(4)
      .optional()
      .describe('Only messages of these chats; at Slack, direct messages are private. Default: all.'),
    commands: z
      .array(z.string().min(1).max(64).regex(/^\S+$/))
      .max(64)
      .optional()
      .describe(
        'Only messages that begin with one of these commands, in whatever case; with a slash or without. Default: all.',
      ),
    testData,
  })
  .describe('Starts a run for each message that a messaging bot receives.');

export const triggers = {
  manual: manualTrigger,
  schedule: scheduleTrigger,
  webhook: webhookTrigger,
  mail: mailTrigger,
  spreadsheet: spreadsheetTrigger,
  fileStorage: fileStorageTrigger,
  bot: botTrigger,
} as const;

export type TriggerKind = keyof typeof triggers;
export const TRIGGER_KINDS = Object.keys(triggers) as TriggerKind[];
export type MailTrigger = z.infer<typeof mailTrigger>;
export type SpreadsheetTrigger = z.infer<typeof spreadsheetTrigger>;
export type FileStorageTrigger = z.infer<typeof fileStorageTrigger>;
export type ScheduleTrigger = z.infer<typeof scheduleTrigger>;
export type RateLimit = z.infer<typeof rateLimit>;
export type WebhookTrigger = z.infer<typeof webhookTrigger>;
export type WebhookAuth = z.infer<typeof webhookAuth>;
