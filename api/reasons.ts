/** The register of reasons why a node or a run failed. Each entry states whether a retry can help. */

export type FailureReason = keyof typeof FAILURES;

export const FAILURES = {
  MissingValue: { retryable: false, meaning: 'A reference names a value that the output does not have.' },
  InvalidParameters: {
    retryable: false,
    meaning: 'The evaluated parameters do not match the schema of the step.',
  },
  ConditionFailed: { retryable: false, meaning: 'The condition of an edge could not be evaluated.' },
  CredentialMissing: {
    retryable: true,
    meaning: 'The credential, its Secret or a key of the Secret does not exist.',
  },
  CredentialRejected: { retryable: false, meaning: 'The provider rejected the credential.' },
  AddressForbidden: {
    retryable: false,
    meaning: 'The host resolves to a blocked address.',
  },
  Unreachable: { retryable: true, meaning: 'The server was unreachable or closed the connection.' },
  RateLimited: { retryable: true, meaning: 'The provider limited the rate of requests.' },
  UpstreamError: { retryable: true, meaning: 'The provider answered with a server error.' },
  Refused: { retryable: false, meaning: 'The provider refused the request.' },
  InvalidAnswer: { retryable: true, meaning: 'The provider sent an answer that cannot be parsed.' },
  Timeout: { retryable: true, meaning: 'The step took longer than its timeout.' },
  TooManyItems: { retryable: false, meaning: 'A node has more items than it may have in a run.' },
  RepeatLimit: {
    retryable: false,
    meaning: 'The condition of repeat did not hold after the allowed number of executions.',
  },
  StepLimit: {
    retryable: false,
    meaning: 'The model did not finish within its steps.',
  },
  InvalidToolCall: {
    retryable: false,
    meaning: 'The model called tools wrongly in three answers in a row, or twice in a step without tools.',
  },
  TranscriptTooLarge: {
    retryable: false,
    meaning: 'The answers of the model and the results of its tools are larger than the limit.',
  },
  BudgetExceeded: {
    retryable: false,
    meaning: 'The request to the model could exceed a budget, so it was not sent.',
  },
  PriceUnknown: {
    retryable: false,
    meaning: 'A budget limits the cost, and the price table of the installation does not have the model.',
  },
  ContextTooLong: {
    retryable: false,
    meaning: 'The prompt, the memory and the transcript are longer than the context of the model.',
  },
  MemoryBusy: {
    retryable: true,
    meaning: 'Other runs used the memory of the agent for 10 minutes, or 200 runs wait for it.',
  },
  NotMocked: {
    retryable: false,
    meaning: 'The test run has mocks, but none for the step or for a tool of the agent.',
  },
  InvalidMocks: {
    retryable: false,
    meaning:
      'The mocks or the model of the test run do not fit the workflow, are too large, or must be named by the run itself.',
  },
  CallbackTimeout: { retryable: false, meaning: 'No call of the callback came before its timeout.' },
  OutputTooLarge: { retryable: false, meaning: 'The output is larger than the limit of a run.' },
  CodeError: { retryable: false, meaning: 'The code threw an error.' },
  CodeTimeout: { retryable: false, meaning: 'The code took longer than its timeout.' },
  CodeMemoryExceeded: { retryable: false, meaning: 'The code needs more memory than its limit.' },
  CodeStackExceeded: { retryable: false, meaning: 'The code nests calls or data too deeply.' },
  CodeInputTooLarge: {
    retryable: false,
    meaning: 'The outputs that the code reads are larger than an eighth of its memory limit.',
  },
  CodeDisabled: { retryable: false, meaning: 'The installation does not execute code.' },
  InvalidOutput: { retryable: false, meaning: 'The code returned a value that is not JSON.' },
  EffectUnknown: { retryable: false, meaning: 'The effect may have happened. It is not repeated.' },
  RunTimeout: { retryable: false, meaning: 'The run took longer than its timeout.' },
  Cancelled: { retryable: false, meaning: 'The run was cancelled.' },
  Replaced: {
    retryable: false,
    meaning: 'A newer run replaced this run (concurrency.policy: Replace).',
  },
  Poison: { retryable: false, meaning: 'Three runners died while they executed the run.' },
  DataLost: {
    retryable: false,
    meaning: 'The run store was lost, and the record does not hold enough data to continue.',
  },
  RevisionMissing: {
    retryable: false,
    meaning: 'The revision of the run no longer exists.',
  },
  RevisionNotActivated: {
    retryable: false,
    meaning: 'The revision was never activated, so only test runs can execute it.',
  },
  DraftInvalid: {
    retryable: false,
    meaning: 'The draft of the test run does not pass the checks of a workflow.',
  },
  CannotListen: {
    retryable: false,
    meaning: 'The test run cannot listen for an event.',
  },
  NoEvent: {
    retryable: false,
    meaning: 'No event came while the test run listened.',
  },
  NodeMissing: {
    retryable: false,
    meaning: 'The node in `until` does not exist in the revision.',
  },
  NotResumable: {
    retryable: false,
    meaning: 'The run in `retryOf` cannot be resumed, or not with these decisions.',
  },
  DecisionMissing: {
    retryable: false,
    meaning: 'A node of the run in `retryOf` is Unknown, and `decisions` does not decide it.',
  },
  RunMissing: { retryable: false, meaning: 'The run in `retryOf` does not exist in the workflow.' },
  WorkflowMissing: { retryable: false, meaning: 'The workflow does not exist in the namespace.' },
  WorkflowInactive: {
    retryable: false,
    meaning: 'The workflow is inactive, so it accepts only test runs.',
  },
  Suspended: {
    retryable: false,
    meaning: 'The workflow is suspended, so it refuses every run.',
  },
  WorkflowInvalid: {
    retryable: false,
    meaning: 'The workflow is invalid and was never valid before, so it cannot run.',
  },
  WorkflowCycle: {
    retryable: false,
    meaning: 'The node would run the workflow of this run, or of one of its ancestors, again.',
  },
  ChildFailed: {
    retryable: true,
    meaning: 'The child run failed, was cancelled, or was lost. A retry is a new child run.',
  },
  TooDeep: { retryable: false, meaning: 'Child runs are nested more than 10 levels deep.' },
  TooManyChildren: {
    retryable: false,
    meaning: 'The run that has no parent has 10,000 descendants already.',
  },
  RunStoreFull: {
    retryable: true,
    meaning: 'The project has used up its quota in the run store, so no child run starts.',
  },
  ConcurrencyLimit: {
    retryable: false,
    meaning: 'The workflow has reached its concurrency limit and refuses more runs.',
  },
  NameTaken: { retryable: false, meaning: 'The run store still holds another run of this name.' },
  NodeFailed: { retryable: false, meaning: 'A node failed.' },
  Internal: { retryable: false, meaning: 'Internal error. The log has the details.' },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

/** The error of a step: a reason and a message for people. Holds no secret and no body. */
export class StepError extends Error {
  readonly reason: FailureReason;
  /** After how many milliseconds the provider asked to retry. */
  readonly retryAfterMs: number | undefined;
  /** Whether a retry can help. Default: that of the reason. */
  readonly retryable: boolean;
  /** What the code of the step wrote to its log. */
  readonly log: string | undefined;

  constructor(
    reason: FailureReason,
    message: string,
    options: { retryAfterMs?: number; retryable?: boolean; log?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'StepError';
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable = options.retryable ?? FAILURES[reason].retryable;
    this.log = options.log;
  }
}
