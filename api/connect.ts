/** What a caller gets who wants to connect a credential. */
import * as z from 'zod';

/** A credential as callers write it. */
export const credentialText = z
  .string()
  .max(317)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  .describe('The credential, <namespace>.<name>.');

/** The secret in a link. */
export const linkText = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/)
  .describe('What makes the link one that nobody can guess.');

export const connectLink = z
  .object({
    url: z.string().describe('Open it in a browser, once. Whoever opens it connects an account of theirs.'),
    expires: z.iso.datetime().describe('When the link, and signing in with it, ends.'),
  })
  .describe('A link that connects a credential.');
