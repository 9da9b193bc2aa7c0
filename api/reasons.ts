/** Why a node or a run failed: the register of reasons. Each says whether trying again can help. */

export type FailureReason = keyof typeof FAILURES;

export const FAILURES = {
  MissingValue: { retryable: false, meaning: 'A reference names something that the output does not have.' },
  InvalidParameters: {
    retryable: false,
    meaning: 'The evaluated parameters do not fit what the step takes.',
  },
  ConditionFailed: { retryable: false, meaning: 'The condition of an edge could not be evaluated.' },
  CredentialMissing: {
    retryable: true,
    meaning: 'The credential, its Secret or a key of it does not exist.',
  },
  CredentialRejected: { retryable: false, meaning: 'The other side refused the credential.' },
  AddressForbidden: {
    retryable: false,
    meaning: 'The host leads to an address that steps may not connect to.',
  },
  Unreachable: { retryable: true, meaning: 'The other side could not be reached, or broke off.' },
  RateLimited: { retryable: true, meaning: 'The other side asked to wait.' },
  UpstreamError: { retryable: true, meaning: 'The other side answered with an error of its own.' },
  Refused: { retryable: false, meaning: 'The other side refused what was asked.' },
  InvalidAnswer: { retryable: true, meaning: 'The other side answered with something that cannot be read.' },
  Timeout: { retryable: true, meaning: 'The step took longer than its timeout.' },
  OutputTooLarge: { retryable: false, meaning: 'The output is larger than a run may hold.' },
  EffectUnknown: { retryable: false, meaning: 'The effect may have happened; it is not repeated.' },
  RunTimeout: { retryable: false, meaning: 'The run took longer than its timeout.' },
  Cancelled: { retryable: false, meaning: 'Somebody cancelled the run.' },
  Replaced: {
    retryable: false,
    meaning: 'A newer run replaced this run (concurrency.policy: Replace).',
  },
  Poison: { retryable: false, meaning: 'Three runners died while they executed the run.' },
  DataLost: {
    retryable: false,
    meaning: 'The run store was lost, and the record does not hold all that is needed to go on.',
  },
  RevisionMissing: {
    retryable: false,
    meaning: 'The revision that the run should execute does not exist any more.',
  },
  RevisionNotActivated: {
    retryable: false,
    meaning: 'The revision was never that of an active workflow, so that only test runs execute it.',
  },
  NodeMissing: {
    retryable: false,
    meaning: 'The run should go as far as a node that the revision does not have.',
  },
  RunMissing: { retryable: false, meaning: 'There is no such run of the workflow to repeat.' },
  WorkflowMissing: { retryable: false, meaning: 'There is no workflow of that name in the namespace.' },
  WorkflowInactive: {
    retryable: false,
    meaning: 'The workflow is switched off, so that it admits test runs only.',
  },
  Suspended: {
    retryable: false,
    meaning: 'The workflow is suspended, so that it refuses every run.',
  },
  WorkflowInvalid: {
    retryable: false,
    meaning: 'The workflow is invalid and not in effect, so that it cannot run.',
  },
  ConcurrencyLimit: {
    retryable: false,
    meaning: 'As many runs of the workflow execute as may at once, and it refuses more.',
  },
  NameTaken: { retryable: false, meaning: 'The run store still holds another run of that name.' },
  NodeFailed: { retryable: false, meaning: 'A node failed, so the run did.' },
  Internal: { retryable: false, meaning: 'A defect of Windlass; the log has the details.' },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

/** An error of a step, with its reason and a message for people. Never holds a secret or a body. */
export class StepError extends Error {
  readonly reason: FailureReason;
  /** Milliseconds after which the other side asked to be tried again. */
  readonly retryAfterMs: number | undefined;
  /** Whether trying again can help; the register's answer unless the thrower knows better. */
  readonly retryable: boolean;

  constructor(
    reason: FailureReason,
    message: string,
    options: { retryAfterMs?: number; retryable?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'StepError';
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable = options.retryable ?? FAILURES[reason].retryable;
  }
}
