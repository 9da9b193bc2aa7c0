/** The schema of a link that signs in to the console. */
import * as z from 'zod';

export const signInLink = z
  .object({
    url: z.string().describe('Open this URL in a browser, once. It signs in as the caller.'),
    expires: z.iso.datetime().describe('When the link expires.'),
  })
  .describe('A link that signs in to the console.');
