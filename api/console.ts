/** What a caller gets who wants to sign in to the console in a browser. */
import * as z from 'zod';

export const signInLink = z
  .object({
    url: z.string().describe('Open it in a browser, once. Whoever opens it is signed in as the caller.'),
    expires: z.iso.datetime().describe('When the link ends.'),
  })
  .describe('A link that signs in to the console.');
