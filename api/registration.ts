/** What became of registering where the updates of a bot are sent, as runners tell it to the operator. */
import * as z from 'zod';
import { failedCheck, type CheckResult } from './check.ts';

export type RegistrationResult =
  | {
      works: true;
      /** Where the updates are sent now; left out: they are not sent to us any more. */
      url?: string;
      /** What was found, and is mended: half a sentence about the bot. Only what somebody else has done. */
      mended?: string;
      /** Why the messaging service could not deliver updates lately, in its words. */
      undelivered?: string;
    }
  | Extract<CheckResult, { works: false }>;

/** The same, from whoever holds the account of a project's runners in the run store. */
export const registrationResult = z.discriminatedUnion('works', [
  z.object({
    works: z.literal(true),
    url: z.string().max(2_048).optional(),
    mended: z.string().max(512).optional(),
    undelivered: z.string().max(512).optional(),
  }),
  failedCheck,
]);
