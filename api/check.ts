/** What trying a credential found, as runners tell it to the operator. */

/** Why a credential does not work. Each is a reason of the condition `Ready`, too. */
export type CheckReason =
  | 'KeyMissing'
  | 'Rejected'
  | 'Unreachable'
  | 'NotConnected'
  | 'Expired'
  | 'MissingScope';

export type CheckResult =
  /** It works. `message`: how that is known. */
  | { works: true; message: string; account?: string; models?: string[] }
  /** `NotChecked`: it could not be tried. `retryAfterMs`: the other side asked to wait so long. */
  | { works: false; reason: CheckReason | 'NotChecked'; message: string; retryAfterMs?: number };
