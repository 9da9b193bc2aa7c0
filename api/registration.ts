/** What became of registering where the updates of a bot are sent, as runners tell it to the operator. */
import * as z from 'zod';
import { failedCheck, type CheckResult } from './check.ts';

/** What was registered. */
export type Registered = {
  /** Where the updates are sent. */
  url: string;
  /** The bot's id, which is no secret. */
  bot?: string;
};

export type RegistrationResult =
  | {
      works: true;
      /** Where the updates are sent now; left out: they are not sent to us any more. */
      url?: string;
      /** Whose. */
      bot?: string;
      /** Why the webhook of the bot that was registered before is there still: half a sentence about it. */
      left?: string;
      /** What was found, and is mended: half a sentence about the bot. Only what somebody else has done. */
      mended?: string;
      /** Why the messaging service could not deliver updates lately, in its words. */
      undelivered?: string;
    }
  | (Extract<CheckResult, { works: false }> & {
      /** What is there still, as far as is known: as before. */
      registered?: Registered;
    });

const url = z.string().max(2_048);
const bot = z.string().max(20).optional();

/** The same, from whoever holds the account of a project's runners in the run store. */
export const registrationResult = z.discriminatedUnion('works', [
  z.object({
    works: z.literal(true),
    url: url.optional(),
    bot,
    left: z.string().max(512).optional(),
    mended: z.string().max(512).optional(),
    undelivered: z.string().max(512).optional(),
  }),
  failedCheck.extend({ registered: z.object({ url, bot }).optional() }),
]);
