/**
 * The Credential kind: the kind of account, the Secret keys that hold it, and whether it works. Holds no
 * secret itself.
 */
import * as z from 'zod';
import { RESERVED_HEADERS } from './headers.ts';
import { API_HOSTS } from './hosts.ts';
import { allowedHosts } from './hostsField.ts';
import { NO_SENDER, SENDER } from './sender.ts';
import { conditions, host, port, rules, secretKeyRef, time, url } from './value.ts';

const TLS_MODES = ['None', 'StartTLS', 'TLS'] as const;
const TLS_WORDS =
  'None: plain text; StartTLS: starts unencrypted and must upgrade to TLS; TLS: encrypted from the first byte.';

const smtpCredential = z
  .object({
    host: host('Host name of the mail server.'),
    port: port('Port of the mail server. Default: 465 with TLS, 587 with StartTLS, 25 with None.').optional(),
    tls: z.enum(TLS_MODES).optional().describe(`${TLS_WORDS} Default StartTLS.`),
    username: z
      .string()
      .max(512)
      .optional()
      .describe('The login at the mail server. Left out: no authentication.'),
    passwordRef: secretKeyRef('The Secret key that holds the password.').optional(),
    from: z
      .string()
      .min(3)
      .max(512)
      .regex(/^[^\r\n]+$/)
      .describe('The sender, for example "Orders <orders@example.com>".'),
  })
  .meta({
    description: 'An SMTP account, which sends email.',
    ...rules(
      {
        rule: 'has(self.username) == has(self.passwordRef)',
        message: 'username and passwordRef belong together: set both or neither',
      },
      { rule: `self.from.matches(r'${SENDER}')`, message: `from ${NO_SENDER}`, fieldPath: '.from' },
    ),
  });

const imapCredential = z
  .object({
    host: host('Host name of the mail server.'),
    port: port('Port of the mail server. Default: 993 with TLS, else 143.').optional(),
    tls: z.enum(TLS_MODES).optional().describe(`${TLS_WORDS} Default TLS.`),
    username: z.string().min(1).max(512).describe('The user name.'),
    passwordRef: secretKeyRef('The Secret key that holds the password.'),
  })
  .describe('An IMAP account, which reads email.');

const openaiCredential = z
  .object({
    baseURL: url(
      'Base URL of an OpenAI-compatible API, including /v1. Default https://api.openai.com/v1.',
    ).optional(),
    apiKeyRef: secretKeyRef('The Secret key that holds the API key.'),
    organization: z.string().max(256).optional().describe('The organization to bill.'),
  })
  .describe('An account of an OpenAI-compatible API of language models.');

const anthropicCredential = z
  .object({
    baseURL: url(
      "Base URL of the API, without /v1, for a gateway in front of Anthropic's API. Default https://api.anthropic.com.",
    ).optional(),
    apiKeyRef: secretKeyRef('The Secret key that holds the API key.'),
  })
  .describe("An account of Anthropic's API of language models.");

const oauth2Imap = z
  .object({
    host: host('Host name of the mail server. Default: that of the preset.').optional(),
    port: port('Port of the mail server. Default: 993 with TLS, else 143.').optional(),
    tls: z.enum(TLS_MODES).optional().describe(`${TLS_WORDS} Default TLS.`),
    username: z.string().min(1).max(512).describe('The user name, usually the address of the mailbox.'),
  })
  .describe(
    "Reads email over IMAP with this account (XOAUTH2). Left out: email of a Google account is read with Gmail's API.",
  );

const oauth2Credential = z
  .object({
    preset: z
      .enum(['google', 'microsoft', 'custom'])
      .optional()
      .describe('The provider whose endpoints to use. Default custom.'),
    authorizationURL: url('The authorization endpoint. Only for custom.').optional(),
    tokenURL: url('The token endpoint. Only for custom.').optional(),
    userinfoURL: url(
      'The userinfo endpoint, which returns the name of the account. Only for custom.',
    ).optional(),
    revocationURL: url(
      'The revocation endpoint (RFC 7009), called when the credential is deleted. Only for custom. Left out: the access is not revoked.',
    ).optional(),
    issuer: url('The issuer that answers must name. Only for custom.').optional(),
    clientID: z.string().min(1).max(1024).describe('The client ID from the provider.'),
    clientSecretRef: secretKeyRef('The Secret key that holds the client secret.').optional(),
    clientAuthentication: z
      .enum(['Basic', 'Post'])
      .optional()
      .describe(
        'How the client secret is sent to tokenURL: in a header (Basic) or in the body (Post). Only for custom. Default Basic.',
      ),
    scopes: z
      .array(z.string().min(1).max(512))
      .max(64)
      .optional()
      .describe(
        'Scopes to request in addition to those that the triggers and skills which use the credential require.',
      ),
    allowedHosts: allowedHosts(
      `The hosts to which http_request may send the access token. Default: with google ${API_HOSTS.google.join(', ')}; with microsoft ${API_HOSTS.microsoft.join(', ')}; with custom none. An empty list allows none`,
    ).optional(),
    imap: oauth2Imap.optional(),
    apiURL: url(
      "Base URL of Google's or Microsoft's APIs, for example of a proxy in front of them. Default: the provider's own.",
    ).optional(),
  })
  .meta({
    description: 'An OAuth 2.0 account, which a person connects in the browser.',
    ...rules({
      rule: "(has(self.preset) && self.preset != 'custom') || (has(self.authorizationURL) && has(self.tokenURL))",
      message: 'preset custom requires authorizationURL and tokenURL',
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
      'The hosts to which http_request may send the secret, including the host of checkURL. Left out: none, so that no step can use the credential',
    ).optional(),
    checkURL: url(
      'A URL that requires authentication. A GET request to it checks the credential. Left out: the credential is not checked.',
    ).optional(),
  })
  .meta({
    description: 'An account of an HTTP API.',
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
      'Slack: the Secret key that holds the signing secret. Required by bot triggers.',
    ).optional(),
    apiURL: url("Base URL of the service's API. Default: the service's own.").optional(),
  })
  .describe('A messaging bot.');

const s3Credential = z
  .object({
    endpoint: url('URL of the S3-compatible service.'),
    region: z.string().max(64).optional().describe('Region. Default us-east-1.'),
    // With pathStyle false it is the first label of the host name, so it must not add others.
    bucket: z
      .string()
      .min(3)
      .max(63)
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
      .describe('The bucket.'),
    accessKeyIdRef: secretKeyRef('The Secret key that holds the access key ID.'),
    secretAccessKeyRef: secretKeyRef('The Secret key that holds the secret access key.'),
    pathStyle: z
      .boolean()
      .optional()
      .describe('Whether the bucket is part of the path instead of the host name. Default true.'),
  })
  .describe('A bucket of an S3-compatible service.');

/** The register of kinds of credentials: one line for each. */
const credentials = {
  smtp: smtpCredential,
  imap: imapCredential,
  openai: openaiCredential,
  anthropic: anthropicCredential,
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
    description: 'The kind of account, and the Secret keys that hold its secrets.',
    ...rules({
      rule: `[${CREDENTIAL_KINDS.map((kind) => `has(self.${kind})`).join(', ')}].filter(x, x).size() == 1`,
      message: `a credential must have exactly one kind: ${CREDENTIAL_KINDS.join(', ')}`,
    }),
  });

export const credentialStatus = z
  .object({
    kind: z.string().max(64).optional().describe('The kind of account.'),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('The generation of the spec that the status describes.'),
    account: z.string().max(512).optional().describe('The name of the account, once it is known.'),
    lastChecked: time('When it was last checked.').optional(),
    check: z
      .string()
      .max(64)
      .optional()
      .describe('The last value of the annotation windlass.dev/check that was handled.'),
    expires: time('When the access expires.').optional(),
    connectURL: z
      .string()
      .max(2048)
      .optional()
      .describe('oauth2: a POST request to this URL returns a link that connects the account.'),
    scopes: z
      .array(z.string().max(512))
      .max(64)
      .optional()
      .describe('oauth2: the scopes that connecting requests.'),
    grantedScopes: z
      .array(z.string().max(512))
      .max(64)
      .optional()
      .describe('oauth2: the scopes that the account granted.'),
    models: z
      .array(z.string().max(256))
      .max(50)
      .optional()
      .describe('openai, anthropic: the models that the API lists.'),
    conditions: conditions(
      'Ready; Checked, if the credential can be checked; HostsAllowed, for kinds http and oauth2; Stalled, while the credential must change.',
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
  .describe('Whether the credential works.');

export type CredentialSpec = z.infer<typeof credentialSpec>;
export type CredentialStatus = z.infer<typeof credentialStatus>;

/** The kind of the credential. Throws if it has none, which the CRD refuses. */
export function credentialKind(spec: CredentialSpec): CredentialKind {
  const kind = CREDENTIAL_KINDS.find((kind) => spec[kind] !== undefined);
  if (!kind) throw new Error('the credential has no kind');
  return kind;
}

/** Every Secret key that a credential refers to. */
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
