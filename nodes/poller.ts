/** What a poller is to those who call it: a poll of an account brings events and from where to continue; every failure is a `PollError`. */
import type { NodeOutput } from '../api/value.ts';
import type { Egress } from './egress/egress.ts';
import { Failure, type FailureKind } from './http/failure.ts';
import type { CredentialAccess, NodeLog } from './node.ts';

export type PolledEvent = {
  /** The same whenever the same event is seen; no other event of the trigger has it. */
  key: string;
  output: NodeOutput;
};

/** What a poll of an account brings. */
export type Polled = {
  /** Oldest first, at most `limit`. */
  events: readonly PolledEvent[];
  /** From where to continue, once the events were submitted: JSON, small (<= 3 KiB). */
  cursor: unknown;
  /** More is waiting: poll again at once. */
  more: boolean;
  /** The old cursor means nothing any more: why, in words. Then `events` is empty and `cursor` a new baseline. */
  baselineLost?: string;
};

/** What a trigger remembers beside its cursor, where that is too large for one: at most 8 MiB. */
export type KnownItems = {
  /** What was kept with the cursor that this poll was given; undefined if there is none, or where it was lost. */
  read(): Promise<Buffer | undefined>;
  /**
   * Keeps the bytes with the cursor that this poll brings; without a call, what was kept before stays.
   * @throws PollError `TooLarge`, `ProjectFull`
   */
  store(bytes: Buffer): Promise<void>;
};

export type PollContext = {
  /** A credential of the project. Throws a StepError `CredentialMissing`. */
  credential(name: string): Promise<CredentialAccess>;
  /** Where the poller may connect to. Every connection goes through it. */
  egress: Egress;
  /** Aborted when this poll must end. What it brings after that is not used. */
  signal: AbortSignal;
  /** Aborted some time before that: whoever has got further by then ends the poll, with `more`, so that the next one continues from there. */
  enough: AbortSignal;
  /** Events that are wanted at most. */
  limit: number;
  /** What an event's output may have as JSON. */
  maxEventBytes: number;
  /** What all events of this poll may have together; the first one comes whatever it has. Beyond that: `more`. */
  maxBytes: number;
  knownItems: KnownItems;
  log: NodeLog;
};

export type Poller<Trigger> = {
  /**
   * `cursor` undefined: the first poll, which brings a baseline and no events, or what came since `since`.
   * @throws PollError, or a StepError of what it used
   */
  poll(trigger: Trigger, cursor: unknown, context: PollContext, since?: Date): Promise<Polled>;
};

/** Why a poll failed; what each means stands in `api/conditions.ts`. */
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

/** A poll that failed, with a message for people: one line, bounded, without secrets. */
export class PollError extends Error {
  override readonly name = 'PollError';
  readonly reason: PollReason;
  /** After which time the provider asked to be tried again. */
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
