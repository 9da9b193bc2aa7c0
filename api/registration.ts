/** The result of registering the webhook of a bot, as runners report it to the operator. */
import * as z from 'zod';
import { failedCheck, type CheckResult } from './check.ts';

/** A registered webhook of a bot. */
export type Registered = {
  /** The URL that receives the updates. */
  url: string;
  /** The ID of the bot, which is not secret. */
  bot?: string;
};

export type RegistrationResult =
  | {
      works: true;
      /** The URL that receives the updates now; left out: the webhook was removed. */
      url?: string;
      /** The ID of the bot. */
      bot?: string;
      /** Why the webhook of the previously registered bot could not be removed: a clause. */
      left?: string;
      /** What someone else had changed and the runner repaired: a clause. */
      mended?: string;
      /** Why the messaging service could not deliver updates recently, in its own words. */
      undelivered?: string;
    }
  | (Extract<CheckResult, { works: false }> & {
      /** The last known registration. */
      registered?: Registered;
    });

const url = z.string().max(2_048);
const bot = z.string().max(20).optional();

/** Validates results from the run store: the runners of a project are not trusted to write valid ones. */
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
