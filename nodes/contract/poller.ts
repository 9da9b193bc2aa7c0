/**
 * The contract of pollers: a poll of an account returns events and the cursor from which the next poll
 * continues. Every failure is a `PollError`.
 */
import type { NodeOutput } from '../../api/value.ts';
import type { Egress } from '../egress/egress.ts';
import { Failure, type FailureKind } from './failure.ts';
import type { CredentialAccess, NodeLog } from './node.ts';

export type PolledEvent = {
  /**
   * Identifies the event in its trigger: the same in every poll that returns it, and that of no other event.
   */
  key: string;
  output: NodeOutput;
};

/** The result of a poll. */
export type Polled = {
  /** Oldest first, at most `limit`. */
  events: readonly PolledEvent[];
  /** Where the next poll continues, once the events were submitted: JSON of at most 3 KiB. */
  cursor: unknown;
  /** There is more to read: poll again at once. */
  more: boolean;
  /** Why the previous cursor is void, in words. Then `events` is empty, and `cursor` a new baseline. */
  baselineLost?: string;
};

/** What a poller stores beside its cursor if it is too large for one: at most 8 MiB. */
export type KnownItems = {
  /** What was stored with the cursor of this poll; undefined if nothing was, or it was lost. */
  read(): Promise<Buffer | undefined>;
  /**
   * Stores the bytes with the cursor that this poll returns. Without a call the stored bytes stay.
   * @throws PollError `TooLarge`, `ProjectFull`
   */
  store(bytes: Buffer): Promise<void>;
};

export type PollContext = {
  /** A credential of the project. Throws a StepError `CredentialMissing`. */
  credential(name: string): Promise<CredentialAccess>;
  /** Decides where the poller may connect to. Every connection goes through it. */
  egress: Egress;
  /** Aborted when the poll must end. Its result is not used after that. */
  signal: AbortSignal;
  /** Aborted some time before: a poll that made progress returns it then, with `more`. */
  enough: AbortSignal;
  /** The largest number of events. */
  limit: number;
  /** Bytes that the output of an event may have as JSON. */
  maxEventBytes: number;
  /** Bytes that all events may have together. The first event is accepted whatever its size. */
  maxBytes: number;
  knownItems: KnownItems;
  log: NodeLog;
};

export type Poller<Trigger> = {
  /**
   * Polls once. `cursor` undefined: the first poll, which returns a baseline and no events, or events from
   * `since` on.
   * @throws PollError, StepError
   */
  poll(trigger: Trigger, cursor: unknown, context: PollContext, since?: Date): Promise<Polled>;
};

/** Why a poll failed. `api/conditions.ts` documents each reason. */
export type PollReason =
  | 'CredentialMissing'
  | 'NotConnected'
  | 'Rejected'
  | 'MissingScope'
  | 'Unreachable'
  | 'AddressForbidden'
  | 'MailboxMissing'
  | 'SpreadsheetMissing'
  | 'FolderMissing'
  | 'RateLimited'
  | 'UpstreamError'
  | 'InvalidAnswer'
  | 'Timeout'
  | 'TooLarge'
  | 'ProjectFull'
  | 'StoreUnavailable'
  | 'InvalidTrigger';

/** A failed poll. The message is one line for people, bounded and without secrets. */
export class PollError extends Error {
  override readonly name = 'PollError';
  readonly reason: PollReason;
  /** How long the provider asked to wait. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    reason: PollReason,
    message: string,
    options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

const REASONS: Record<Exclude<FailureKind, 'Stopped' | 'Egress'>, PollReason> = {
  Unreachable: 'Unreachable',
  InvalidAnswer: 'InvalidAnswer',
  TooLarge: 'InvalidAnswer',
  Rejected: 'Rejected',
  MissingScope: 'MissingScope',
  Forbidden: 'Rejected',
  Missing: 'FolderMissing',
  RateLimited: 'RateLimited',
  UpstreamError: 'UpstreamError',
  Refused: 'UpstreamError',
  Unexpected: 'InvalidAnswer',
};

/** The error of a poll for a failed request; any other error is returned as it is. */
function pollError(error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  const { kind, message, cause, retryAfterMs } = error;
  if (kind === 'Egress') return cause;
  if (kind === 'Stopped')
    return cause instanceof Error ? cause : new PollError('Timeout', 'the poll was stopped');
  const wait = retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) };
  return new PollError(REASONS[kind], message, { ...wait, cause: error });
}

/** A poller whose failed requests are PollErrors. */
export function createPoller<Trigger>(poll: Poller<Trigger>['poll']): Poller<Trigger> {
  return {
    poll: async (...given) => {
      try {
        return await poll(...given);
      } catch (error) {
        throw pollError(error);
      }
    },
  };
}
