/** The schemas of requests and answers that connect a credential. */
import * as z from 'zod';

/** The ID of a credential in requests. */
export const credentialText = z
  .string()
  .max(317)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  .describe('The credential, <namespace>.<name>.');

/** The secret in a link. */
export const linkText = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/)
  .describe('The secret part of the link, which nobody can guess.');

export const connectLink = z
  .object({
    url: z
      .string()
      .describe('Open this URL in a browser, once. The person who opens it connects their own account.'),
    expires: z.iso.datetime().describe('When the link, and signing in with it, expires.'),
  })
  .describe('A link that connects a credential.');
