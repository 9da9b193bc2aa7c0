/** The schemas of the trigger kinds. Descriptions state the defaults. */
import * as z from 'zod';
import { CRON_FIELDS } from './cron.ts';
import { DURATION_BOUNDS } from './duration.ts';
import { duration } from './durationField.ts';
import type { TriggerKind } from './triggerKinds.ts';
import { jsonObject, objectName, output, rules, secretKeyRef } from './value.ts';

const testData = output
  .meta({ 'x-kubernetes-map-type': undefined })
  .optional()
  .describe('The output of this trigger in a test run without an input of its own.');

const pollIntervalSeconds = z
  .int()
  .min(5)
  .max(86_400)
  .optional()
  .describe('Seconds between two polls of the account, at least 5. Default 60.');

const credential = objectName('The Credential to use, in the same namespace.');

const manualTrigger = z
  .object({
    testData: jsonObject(
      'The data_content of this trigger in a test run without an input of its own: a JSON object.',
    ).optional(),
    inputSchema: jsonObject(
      'A JSON Schema of the data_content of this trigger: an object with properties. An agent that has the workflow as a tool shows it to the model, and checks calls against it. Other callers are not checked. Default: any data.',
    ).optional(),
  })
  .describe('Starts a run on request: with the execute call, in the console, or with a WorkflowRun.');

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
      .describe('IANA time zone of the fields, for example Europe/Berlin. Default UTC.'),
    missed: z
      .enum(['Skip', 'RunLatest'])
      .optional()
      .describe(
        'How to handle times that passed while no run could start. Skip: the latest one starts a run if it is at most startingDeadlineSeconds old; RunLatest: the latest one starts a run, however old it is. Default Skip.',
      ),
    startingDeadlineSeconds: z
      .int()
      .min(10)
      .max(604_800)
      .optional()
      .describe(
        'How many seconds after its time a run may still start. Default 300; with RunLatest: no limit.',
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
  'How far the signing time may be in the past or future. Default 5m.',
  DURATION_BOUNDS.tolerance,
).optional();

const hmacAuth = z
  .object({
    secretRefs: z
      .array(secretKeyRef('A secret.'))
      .min(1)
      .max(5)
      .describe('The secrets. A signature by any of them is accepted, so that they can be rotated.'),
    header: headerName('The request header that holds the signature.'),
    algorithm: z.enum(['sha256', 'sha512', 'sha1']).optional().describe('The hash function. Default sha256.'),
    encoding: z.enum(['hex', 'base64']).optional().describe('The encoding of the signature. Default hex.'),
    prefix: z
      .string()
      .max(64)
      .optional()
      .describe('Text before the signature in the header, for example "sha256=".'),
    timestampHeader: headerName(
      'The header with the signing time (Unix seconds), signed as "<time>.<body>". Left out: only the body is signed, and a captured request can be replayed forever.',
    ).optional(),
    tolerance,
  })
  .meta({
    description: 'An HMAC over the raw body.',
    ...rules({
      rule: '!has(self.tolerance) || has(self.timestampHeader)',
      message: 'tolerance requires timestampHeader: without a signing time, no request is too old',
    }),
  });

const secretRefs = z
  .array(secretKeyRef('A secret.'))
  .min(1)
  .max(5)
  .describe('The secrets. Any of them is accepted, so that they can be rotated.');

const webhookAuth = z
  .object({
    none: z
      .object({})
      .optional()
      .describe('No authentication, on purpose: anybody who knows the URL may call.'),
    hmac: hmacAuth.optional(),
    standardWebhooks: z
      .object({ secretRefs, tolerance })
      .optional()
      .describe(
        'Signatures as specified by standardwebhooks.com. A secret is "whsec_" and base64. The header webhook-id is the dedupe key.',
      ),
    github: z
      .object({ secretRefs })
      .optional()
      .describe('GitHub: X-Hub-Signature-256. The header X-GitHub-Delivery is the dedupe key.'),
    bearer: z.object({ secretRefs }).optional().describe('Authorization: Bearer with a fixed token.'),
    basic: z
      .object({
        username: z
          .string()
          .min(1)
          .max(256)
          .regex(/^[^:]+$/)
          .describe('The user name, without a colon.'),
        passwordRefs: z
          .array(secretKeyRef('A password.'))
          .min(1)
          .max(5)
          .describe('The passwords. Any of them is accepted.'),
      })
      .optional()
      .describe('Authorization: Basic with a fixed user name and password.'),
  })
  .meta({
    description:
      'How callers are verified. Left out: the webhook is public: anybody who knows the URL may call, and status.access is Public. A namespace or an installation can require a scheme.',
    ...rules({
      rule: '[has(self.none), has(self.hmac), has(self.standardWebhooks), has(self.github), has(self.bearer), has(self.basic)].filter(x, x).size() == 1',
      message: 'auth must have exactly one of none, hmac, standardWebhooks, github, bearer, basic',
    }),
  });

/** A token bucket. */
export const rateLimit = z.object({
  requestsPerSecond: z.int().min(1).max(100_000).describe('Requests per second on average.'),
  burst: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Requests that are accepted at once after a pause. Default: twice requestsPerSecond.'),
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
        header: z.string().min(1).max(128).describe('The request header that holds the dedupe key.'),
      })
      .optional()
      .describe(
        'How to detect that two requests are the same event. The delivery ID of standardWebhooks or github and the header Idempotency-Key take precedence.',
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
      .meta({
        description:
          "Request headers that nodes may read, as {{ $('trigger').headers['x-name'] }}. Not Cookie. Default: none.",
        ...rules({
          rule: "self.all(name, name.lowerAscii() != 'cookie')",
          message:
            'headers cannot admit Cookie: all workflows share the host of the webhooks, so a browser sends cookies that are not meant for this one. Send the value in another header',
        }),
      }),
    replyTimeout: duration(
      'How long a caller waits for the response node. Default 30s.',
      DURATION_BOUNDS.replyTimeout,
    ).optional(),
    rateLimit: rateLimit
      .optional()
      .describe(
        'The rate limit of this webhook in each gateway replica: requests beyond it get 429. Default: that of the installation (chart value gateway.limits.perRoute).',
      ),
    testData,
  })
  .describe('Starts a run for each POST request with a JSON body.');

const mailTrigger = z
  .object({
    credential,
    pollIntervalSeconds,
    mailbox: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe('The folder to watch; with Gmail the name of a label. Default INBOX.'),
    unseenOnly: z
      .boolean()
      .optional()
      .describe('Only emails that are unread when they are polled. Default false.'),
    from: z
      .string()
      .max(512)
      .optional()
      .describe('Only emails whose sender (name or address) contains this text, ignoring case.'),
    subject: z
      .string()
      .max(512)
      .optional()
      .describe('Only emails whose subject contains this text, ignoring case.'),
    attachments: z
      .enum(['None', 'Metadata', 'Content'])
      .optional()
      .describe(
        'What the event holds of attachments. None: nothing; Metadata: names, types and sizes; Content: also the content. Default Metadata.',
      ),
    maxAttachmentBytes: z
      .int()
      .min(0)
      .max(393_216)
      .optional()
      .describe(
        'Larger attachments are passed without their content. Default 262144. The contents of all attachments of an email together may have about 350000 bytes.',
      ),
    testData,
  })
  .meta({
    description: 'Starts a run for each new email.',
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
        'ID or URL of the spreadsheet; for an Excel workbook the ID of its file in OneDrive, or a URL of it.',
      ),
    sheet: z
      .string()
      .max(256)
      .optional()
      .describe('Name of the sheet. Default: the sheet in the URL (gid), else the first one.'),
    range: z
      .string()
      .max(256)
      .optional()
      .describe('Cells to watch, in A1 notation, for example A3:F. Default: the whole sheet.'),
    keyColumn: z
      .string()
      .max(256)
      .optional()
      .describe(
        'Header or letters of the column that identifies a row. Rows without a value in it are ignored. Default: the whole content of a row identifies it.',
      ),
    header: z
      .boolean()
      .optional()
      .describe('Whether the first watched row has the names of the columns. Default true.'),
    events: z
      .array(z.enum(['added', 'updated', 'removed']))
      .max(3)
      .optional()
      .describe('The changes that start runs. Default: all.'),
    perRow: z
      .boolean()
      .optional()
      .describe('Whether each changed row starts a run, instead of one run for each poll. Default false.'),
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
      .describe(
        'ID of the folder to watch; with S3 its name, for example reports/2026. Default: all folders.',
      ),
    includeSubfolders: z.boolean().optional().describe('Whether to watch subfolders, too. Default false.'),
    mimeTypes: z
      .array(z.string().max(256))
      .max(32)
      .optional()
      .describe('Only files of these MIME types; image/* matches all images. Default: all.'),
    events: z
      .array(z.enum(['added', 'modified']))
      .max(2)
      .optional()
      .describe('The changes that start runs. Default: all.'),
    pollIntervalSeconds,
    testData,
  })
  .describe('Starts a run when a file is added or modified.');

/** The kinds of chats, as Telegram names them. */
export const CHAT_TYPES = ['private', 'group', 'supergroup', 'channel'] as const;
export type ChatType = (typeof CHAT_TYPES)[number];

const botTrigger = z
  .object({
    credential,
    chatTypes: z
      .array(z.enum(CHAT_TYPES))
      .max(4)
      .optional()
      .describe(
        'Only messages of these kinds of chats; with Slack, direct messages are private. Default: all.',
      ),
    commands: z
      .array(z.string().min(1).max(64).regex(/^\S+$/))
      .max(64)
      .optional()
      .describe(
        'Only messages that begin with one of these commands, with or without a slash, ignoring case. Default: all.',
      ),
    testData,
  })
  .describe('Starts a run for each message that a messaging bot receives.');

const siteOrigin = z
  .string()
  .min(8)
  .max(256)
  .regex(/^https?:\/\/(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$/)
  .describe('An origin, for example https://www.example.com, or https://*.example.com for all subdomains.');

const chatTrigger = z
  .object({
    title: z.string().min(1).max(100).optional().describe('The title of the page. Default: Chat.'),
    welcome: z
      .string()
      .max(2_000)
      .optional()
      .describe(
        'The text that the page shows before the first message. Anybody who knows the URL can read it.',
      ),
    suggestions: z
      .array(z.string().min(1).max(200))
      .max(6)
      .optional()
      .describe('Messages that the page offers as buttons before the first message.'),
    access: z
      .enum(['Token', 'Public'])
      .optional()
      .describe(
        'Who may send messages. Token: whoever sends one of the tokens in tokenRefs, which the page asks for once; Public: anybody who knows the URL. Default Token.',
      ),
    tokenRefs: z
      .array(secretKeyRef('A token.'))
      .min(1)
      .max(5)
      .optional()
      .describe('With access Token: the tokens. Any of them is accepted, so that they can be rotated.'),
    answer: z
      .string()
      .max(63)
      .optional()
      .describe(
        'ID of the agent whose text answers the message. Default: the response node, else the only agent that no other node follows.',
      ),
    embedIn: z
      .array(siteOrigin)
      .max(16)
      .optional()
      .describe('Origins of the sites that may show the page in a frame. Default: none.'),
    testData,
  })
  .meta({
    description: 'Starts a run for each message of a chat, on a page of the gateway or by HTTP.',
    ...rules(
      {
        rule: "(has(self.access) && self.access == 'Public') || has(self.tokenRefs)",
        message:
          'access Token needs tokenRefs: name the Secret keys with the tokens, or set access to Public so that anybody who knows the URL may send messages',
      },
      {
        rule: "!has(self.access) || self.access != 'Public' || !has(self.tokenRefs)",
        message: 'tokenRefs have no effect with access Public: remove them, or set access to Token',
      },
    ),
  });

export const triggers = {
  manual: manualTrigger,
  schedule: scheduleTrigger,
  webhook: webhookTrigger,
  mail: mailTrigger,
  spreadsheet: spreadsheetTrigger,
  fileStorage: fileStorageTrigger,
  bot: botTrigger,
  chat: chatTrigger,
} as const satisfies Record<TriggerKind, z.ZodType>;

export type MailTrigger = z.infer<typeof mailTrigger>;
export type SpreadsheetTrigger = z.infer<typeof spreadsheetTrigger>;
export type FileStorageTrigger = z.infer<typeof fileStorageTrigger>;
export type ScheduleTrigger = z.infer<typeof scheduleTrigger>;
export type ChatTrigger = z.infer<typeof chatTrigger>;
export type RateLimit = z.infer<typeof rateLimit>;
export type WebhookTrigger = z.infer<typeof webhookTrigger>;
export type WebhookAuth = z.infer<typeof webhookAuth>;
