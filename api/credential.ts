/** The Credential kind: what kind of account it is, which Secret keys hold it, and whether it works. It holds no secret. */
import * as z from 'zod';
import { RESERVED_HEADERS } from './headers.ts';
import { API_HOSTS } from './hosts.ts';
import { allowedHosts } from './hostsField.ts';
import { conditions, host, port, rules, secretKeyRef, time, url } from './value.ts';

const TLS_MODES = ['None', 'StartTLS', 'TLS'] as const;

const smtpCredential = z
  .object({
    host: host('Host name of the mail server.'),
    port: port('Port of the mail server. Default: 465 with TLS, 587 with StartTLS, 25 with None.').optional(),
    tls: z
      .enum(TLS_MODES)
      .optional()
      .describe(
        'None: plain text; StartTLS: begins plain and must turn to TLS; TLS: from the first byte. Default StartTLS.',
      ),
    username: z.string().max(512).optional().describe('The user name. Left out: no login.'),
    passwordRef: secretKeyRef('The Secret key that holds the password.').optional(),
    from: z
      .string()
      .min(3)
      .max(512)
      .regex(/^[^\r\n]+$/)
      .describe('The sender, such as "Orders <orders@example.com>".'),
  })
  .meta({
    description: 'An account for sending mail.',
    ...rules({
      rule: 'has(self.username) == has(self.passwordRef)',
      message: 'username and passwordRef go together: give both or none',
    }),
  });

const imapCredential = z
  .object({
    host: host('Host name of the mail server.'),
    port: port('Port of the mail server. Default: 993 with TLS, else 143.').optional(),
    tls: z.enum(TLS_MODES).optional().describe('As for smtp. Default TLS.'),
    username: z.string().min(1).max(512).describe('The user name.'),
    passwordRef: secretKeyRef('The Secret key that holds the password.'),
  })
  .describe('An account for reading mail.');

const openaiCredential = z
  .object({
    baseURL: url(
      'Address of any OpenAI-compatible API, up to and with /v1. Default https://api.openai.com/v1.',
    ).optional(),
    apiKeyRef: secretKeyRef('The Secret key that holds the API key.'),
    organization: z.string().max(256).optional().describe('The organization to bill.'),
  })
  .describe('Access to a language model.');

const oauth2Imap = z
  .object({
    host: host(
      'Host name of the mail server. Default: that of Google or Microsoft, as the preset says.',
    ).optional(),
    port: port('Port of the mail server. Default: 993 with TLS, else 143.').optional(),
    tls: z.enum(TLS_MODES).optional().describe('As for smtp. Default TLS.'),
    username: z.string().min(1).max(512).describe('The user name, as a rule the address of the mailbox.'),
  })
  .describe("Read mail by IMAP with this account (XOAUTH2). Left out with google: by Gmail's API.");

const oauth2Credential = z
  .object({
    preset: z
      .enum(['google', 'microsoft', 'custom'])
      .optional()
      .describe('Whose endpoints to use. Default custom.'),
    authorizationURL: url('Where a person allows the access. For custom.').optional(),
    tokenURL: url('Where tokens are issued. For custom.').optional(),
    userinfoURL: url('Where the account is named. For custom.').optional(),
    revocationURL: url(
      'Where the access is taken back (RFC 7009) when the credential is deleted. For custom. Left out: nowhere.',
    ).optional(),
    issuer: url('The issuer that answers must name. For custom.').optional(),
    clientID: z.string().min(1).max(1024).describe('The client id that the provider gave.'),
    clientSecretRef: secretKeyRef('The Secret key that holds the client secret.').optional(),
    clientAuthentication: z
      .enum(['Basic', 'Post'])
      .optional()
      .describe(
        'How the client secret is shown at tokenURL: in a header, or in the body. For custom. Default Basic.',
      ),
    scopes: z
      .array(z.string().min(1).max(512))
      .max(64)
      .optional()
      .describe('Rights to ask for, beside those that the triggers and skills need that use the credential.'),
    allowedHosts: allowedHosts(
      `The hosts to which http_request may send the access token. Left out: with google ${API_HOSTS.google.join(', ')}; with microsoft ${API_HOSTS.microsoft.join(', ')}; with custom none. An empty list: none`,
    ).optional(),
    imap: oauth2Imap.optional(),
    apiURL: url(
      "Address of Google's or Microsoft's APIs, where something stands in front of them. Default: their own.",
    ).optional(),
  })
  .meta({
    description: 'An account that a person connects in the browser.',
    ...rules({
      rule: "(has(self.preset) && self.preset != 'custom') || (has(self.authorizationURL) && has(self.tokenURL))",
      message: 'a custom provider needs authorizationURL and tokenURL',
    }),
  });

const httpCredential = z
  .object({
    basic: z
      .object({
        username: z.string().max(512).describe('The user name.'),
        passwordRef: secretKeyRef('The Secret key that holds the password.'),
      })
      .optional()
      .describe('Authorization: Basic.'),
    bearer: z
      .object({ tokenRef: secretKeyRef('The Secret key that holds the token.') })
      .optional()
      .describe('Authorization: Bearer.'),
    header: z
      .object({
        name: z
          .string()
          .min(1)
          .max(128)
          .regex(/^[A-Za-z0-9-]+$/)
          .describe('Name of the header.'),
        valueRef: secretKeyRef('The Secret key that holds its value.'),
      })
      .meta({
        description: 'One header.',
        ...rules({
          rule: `!(self.name.lowerAscii() in [${[...RESERVED_HEADERS].map((name) => `'${name}'`).join(', ')}])`,
          message: 'the connection sets this header itself: name another one',
        }),
      })
      .optional(),
    query: z
      .object({
        name: z.string().min(1).max(128).describe('Name of the parameter.'),
        valueRef: secretKeyRef('The Secret key that holds its value.'),
      })
      .optional()
      .describe('One parameter of the query.'),
    allowedHosts: allowedHosts(
      'The hosts to which http_request may send the secret, among them that of checkURL. Left out: none, so that no step can use the credential',
    ).optional(),
    checkURL: url(
      'A page that only callers with a login get: asked for (GET) to see whether the credential works. Left out: the credential is not checked.',
    ).optional(),
  })
  .meta({
    description: 'Access to an HTTP API.',
    ...rules({
      rule: '[has(self.basic), has(self.bearer), has(self.header), has(self.query)].filter(x, x).size() == 1',
      message: 'http must have exactly one of basic, bearer, header, query',
    }),
  });

export const PLATFORMS = ['telegram', 'slack'] as const;
export type Platform = (typeof PLATFORMS)[number];

const botCredential = z
  .object({
    platform: z.enum(PLATFORMS).optional().describe('The messaging service. Default telegram.'),
    tokenRef: secretKeyRef("The Secret key that holds the bot's token."),
    signingSecretRef: secretKeyRef(
      'Slack: the Secret key that holds the signing secret. For a bot trigger.',
    ).optional(),
    apiURL: url("Address of the service's API. Default: the service's own.").optional(),
  })
  .describe('A messaging bot.');

const s3Credential = z
  .object({
    endpoint: url('Address of the S3-compatible service.'),
    region: z.string().max(64).optional().describe('Region. Default us-east-1.'),
    // With pathStyle false it is the beginning of the host name, and must not be more of it.
    bucket: z
      .string()
      .min(3)
      .max(63)
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
      .describe('The bucket.'),
    accessKeyIdRef: secretKeyRef('The Secret key that holds the access key id.'),
    secretAccessKeyRef: secretKeyRef('The Secret key that holds the secret access key.'),
    pathStyle: z
      .boolean()
      .optional()
      .describe('Put the bucket into the path, not into the host name. Default true.'),
  })
  .describe('A bucket in an S3-compatible store.');

/** The register of kinds of credentials: one line for each. */
const credentials = {
  smtp: smtpCredential,
  imap: imapCredential,
  openai: openaiCredential,
  oauth2: oauth2Credential,
  bot: botCredential,
  http: httpCredential,
  s3: s3Credential,
} as const;

export type CredentialKind = keyof typeof credentials;
const CREDENTIAL_KINDS = Object.keys(credentials) as CredentialKind[];

export const credentialSpec = z
  .object(credentials)
  .partial()
  .meta({
    description: 'What kind of account it is, and where its secrets lie.',
    ...rules({
      rule: `[${CREDENTIAL_KINDS.map((kind) => `has(self.${kind})`).join(', ')}].filter(x, x).size() == 1`,
      message: `a credential must have exactly one kind: ${CREDENTIAL_KINDS.join(', ')}`,
    }),
  });

export const credentialStatus = z
  .object({
    kind: z.string().max(64).optional().describe('The kind, for a column.'),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('The generation of the spec that the status was made from.'),
    account: z.string().max(512).optional().describe('Whose account it is, once that is known.'),
    lastChecked: time('When it was last checked.').optional(),
    check: z
      .string()
      .max(64)
      .optional()
      .describe('The value of the annotation windlass.dev/check that was obeyed last.'),
    expires: time('When the access ends.').optional(),
    connectURL: z
      .string()
      .max(2048)
      .optional()
      .describe('oauth2: POST there to get a link that connects it.'),
    scopes: z
      .array(z.string().max(512))
      .max(64)
      .optional()
      .describe('oauth2: the rights that connecting asks for.'),
    grantedScopes: z
      .array(z.string().max(512))
      .max(64)
      .optional()
      .describe('oauth2: the rights that the account has given.'),
    models: z.array(z.string().max(256)).max(50).optional().describe('openai: models that it offers.'),
    conditions: conditions(
      'Ready; Checked, where the credential can be checked; HostsAllowed, of kind http and oauth2; Stalled, while only a change of the credential helps.',
    )
      .max(16)
      .default([
        {
          type: 'Ready',
          status: 'Unknown',
          reason: 'Pending',
          message: 'Waiting for the operator',
          lastTransitionTime: '1970-01-01T00:00:00Z',
        },
      ]),
  })
  .describe('Whether it works.');

export type CredentialSpec = z.infer<typeof credentialSpec>;
export type CredentialStatus = z.infer<typeof credentialStatus>;

/** The kind that the credential is of. Throws when it has none, which the CRD does not admit. */
export function credentialKind(spec: CredentialSpec): CredentialKind {
  const kind = CREDENTIAL_KINDS.find((kind) => spec[kind] !== undefined);
  if (!kind) throw new Error('the credential has no kind');
  return kind;
}

/** Every Secret key that a credential names. */
export function secretRefs(spec: CredentialSpec): { name: string; key: string }[] {
  const found: { name: string; key: string }[] = [];
  const walk = (value: unknown, name: string) => {
    if (typeof value !== 'object' || value === null) return;
    if (name.endsWith('Ref') && 'name' in value && 'key' in value)
      found.push(value as { name: string; key: string });
    else for (const [key, child] of Object.entries(value)) walk(child, key);
  };
  walk(spec, '');
  return found;
}
