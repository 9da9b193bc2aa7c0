/** The result of checking a credential, as runners report it to the operator. */
import * as z from 'zod';

/** Why a credential does not work. Each is also a reason of the condition `Ready`. */
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
  /** The credential works. `message`: how that was checked. */
  | { works: true; message: string; account?: string; models?: string[] }
  /** `NotChecked`: the check was not possible. `retryAfterMs`: how long the provider asked to wait. */
  | { works: false; reason: CheckReason | 'NotChecked'; message: string; retryAfterMs?: number };

/** At most as long as a message in the status of a credential. */
const message = z.string().max(32_768);

/** A failed check, as read from the run store. */
export const failedCheck = z.object({
  works: z.literal(false),
  reason: z.enum([...CHECK_REASONS, 'NotChecked']),
  message,
  retryAfterMs: z.number().min(0).optional(),
});

/** Validates results from the run store: the runners of a project are not trusted to write valid ones. */
export const checkResult = z.discriminatedUnion('works', [
  z.object({
    works: z.literal(true),
    message,
    account: z.string().max(512).optional(),
    models: z.array(z.string().max(256)).max(50).optional(),
  }),
  failedCheck,
]);
