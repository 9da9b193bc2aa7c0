/** What trying a credential found, as runners tell it to the operator. */
import * as z from 'zod';

/** Why a credential does not work. Each is a reason of the condition `Ready`, too. */
const CHECK_REASONS = [
  'KeyMissing',
  'Rejected',
  'Unreachable',
  'NotConnected',
  'Expired',
  'MissingScope',
] as const;

export type CheckReason = (typeof CHECK_REASONS)[number];

export type CheckResult =
  /** It works. `message`: how that is known. */
  | { works: true; message: string; account?: string; models?: string[] }
  /** `NotChecked`: it could not be tried. `retryAfterMs`: the other side asked to wait so long. */
  | { works: false; reason: CheckReason | 'NotChecked'; message: string; retryAfterMs?: number };

/** What the status of a credential holds. */
const message = z.string().max(32_768);

/** A check that failed, from there. */
export const failedCheck = z.object({
  works: z.literal(false),
  reason: z.enum([...CHECK_REASONS, 'NotChecked']),
  message,
  retryAfterMs: z.number().min(0).optional(),
});

/** The results, from whoever holds the account of a project's runners in the run store. */
export const checkResult = z.discriminatedUnion('works', [
  z.object({
    works: z.literal(true),
    message,
    account: z.string().max(512).optional(),
    models: z.array(z.string().max(256)).max(50).optional(),
  }),
  failedCheck,
]);
