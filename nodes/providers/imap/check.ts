/** Checks an account by logging in at the mail server. No mailbox is opened. */
import type { CheckReason } from '../../../api/check.ts';
import { withImap } from './connection.ts';
import { imapAccount } from './account.ts';
import { PollError, type PollReason } from '../../contract/poller.ts';
import { CheckError, type Check } from '../../contract/check.ts';

export const checkImap: Check = async (credential, context) => {
  try {
    const account = imapAccount(credential);
    await withImap(account, context, () => Promise.resolve());
    return { message: `${account.host} accepted the login.`, account: account.username };
  } catch (error) {
    throw error instanceof PollError ? asCheckError(error) : error;
  }
};

/** What else there is may pass. */
const REASONS: Partial<Record<PollReason, CheckReason>> = {
  CredentialMissing: 'KeyMissing',
  NotConnected: 'NotConnected',
  Rejected: 'Rejected',
  MissingScope: 'MissingScope',
  InvalidTrigger: 'Rejected',
};

function asCheckError({ reason, message, retryAfterSeconds }: PollError): CheckError {
  const retryAfterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1_000;
  return new CheckError(REASONS[reason] ?? 'Unreachable', message, { retryAfterMs });
}
