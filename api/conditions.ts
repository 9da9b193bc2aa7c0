/**
 * The conditions of workflows, credentials, project settings and evaluations: their types, and the meaning of
 * every reason.
 */

/** `Ready` is computed from the conditions in `DEPENDENTS`. `Active` is independent of it. */
export const CONDITION = {
  Ready: 'The spec is in effect.',
  Active: 'Events start runs.',
  Valid: 'The spec is valid, and so are its references.',
  CredentialsReady: 'Every credential that the workflow uses is ready.',
  Routed: 'Every ready gateway replica serves the current spec.',
  Scheduled: 'The CronJob of the schedule exists, and its ticks succeed.',
  TriggerHealthy: 'The last poll of the account succeeded, or the bot is registered.',
  PoolReady: 'The runner pool of the project has a ready runner, or sleeps until there is work.',
  Stalled: 'Waiting does not help: the object, or one that conflicts with it, must change.',
  Checked: 'The last check of the credential succeeded.',
  HostsAllowed: 'http_request may send the credential to at least one host.',
  Complete: 'The evaluation has ended.',
} as const;

export type ConditionType = keyof typeof CONDITION;

/** The conditions that `Ready` is computed from, in the order in which their reasons are shown. */
export const DEPENDENTS: ConditionType[] = [
  'Valid',
  'CredentialsReady',
  'PoolReady',
  'Scheduled',
  'TriggerHealthy',
  'Routed',
];

export const REASON = {
  Pending: 'Waiting for the operator.',
  Serving: 'The spec is in effect.',
  Inactive: 'The workflow is inactive, as the spec says: it is not served.',
  Suspended: 'The workflow is suspended, as the spec says: every run is refused.',
  Accepted: 'The spec is valid.',
  InvalidSpec: 'The spec is invalid. The last valid spec stays in effect, if there was one.',
  FieldNotSupported: 'This version does not support a field of the spec yet.',
  InvalidExpression: 'A reference or condition cannot be parsed.',
  UnknownReference:
    'A reference names a node that does not run before the node that uses it, or a header or an error that never has a value.',
  UnreachableStep: 'A step would never run: no edge leads to it, or only edges that are never taken.',
  UnknownSkill: 'No skill has this name.',
  InvalidParameters: 'Parameters do not match the schema of the skill.',
  InvalidCode: 'The source of a code node is not JavaScript that can be compiled.',
  CodeDisabled: 'The installation does not execute code nodes.',
  BudgetMissing: 'A public chat starts a workflow whose agent has no daily budget.',
  WorkflowMissing: 'A node runs a workflow that does not exist in the namespace.',
  WorkflowCycle: 'A node runs a workflow that runs this workflow again.',
  AuthRequired: 'The webhook is public, and the namespace or the installation refuses public webhooks.',
  InvalidSchedule: 'The time zone or the cron expression is invalid.',
  Scheduled: 'The CronJob exists.',
  TicksFail: 'The CronJob fires, but its pods fail to submit the event.',
  ScheduleRefused:
    'The API server refuses the CronJob for a reason other than its times. The operator retries.',
  QuotaExceeded: 'A quota of the namespace allows no further CronJob. The operator retries.',
  CredentialMissing: 'A credential does not exist in the namespace.',
  CredentialNotReady: 'A credential exists but does not work.',
  WrongCredentialKind: 'A credential is of a kind that the node cannot use.',
  CredentialsFound: 'Every credential that the workflow uses is ready.',
  SecretMissing: 'A Secret that the credential refers to does not exist.',
  KeyMissing: 'A Secret lacks a key that the credential refers to.',
  KeyUnusable: 'A Secret key that verifies callers is empty, too long, or malformed for its scheme.',
  Complete: 'The Secret and its keys exist. The credential cannot be checked.',
  Unused: 'The Secret and its keys exist. No workflow uses the credential, so it is not checked.',
  NotChecked: 'The credential is not checked yet: no workflow uses it, or no runner is ready.',
  Checked: 'The last check of the credential succeeded.',
  Polled: 'The last poll of the account succeeded.',
  NotPolled: 'The account is due, but neither a runner nor a poll pod polls it.',
  Registered: 'The messaging service sends the messages to the bot to Windlass.',
  Rejected: 'The provider rejects the credential.',
  Unreachable: 'The provider is unreachable or unavailable, or closed the connection.',
  Connected: 'The account is connected.',
  NotConnected: 'The account is not connected yet, or the provider revoked the access.',
  Expiring: 'The account is connected, but the access expires soon.',
  Expired: 'The access has expired.',
  MissingScope: 'The access lacks a required scope.',
  HostsAllowed: 'allowedHosts or the preset lists the hosts.',
  NoAllowedHosts: 'The credential lists no host, so http_request does not send it.',
  AddressForbidden: 'The host of an account or a step resolves to a blocked address.',
  MailboxMissing: 'The mailbox does not exist in the account.',
  SpreadsheetMissing: 'The spreadsheet or sheet does not exist, or the account has no access to it.',
  FolderMissing: 'The folder or bucket does not exist, or the account has no access to it.',
  RateLimited: 'The provider limits the rate of requests.',
  UpstreamError: 'The provider answered with a server error.',
  InvalidAnswer: 'The provider sent an answer that cannot be parsed.',
  Timeout: 'The provider did not answer in time.',
  TooLarge: 'The account holds more items than the polling state can hold.',
  ProjectFull: 'The project has used up its quota in the run store.',
  InvalidTrigger: 'The trigger and its credential do not match.',
  VariableMissing:
    'An expression or code reads a variable that the ConfigMap windlass-variables does not have.',
  VariableInvalid: 'A key of the ConfigMap windlass-variables ends in .json, and its value is not JSON.',
  VariablesTooLarge: 'The ConfigMap windlass-variables is larger than 64 KiB.',
  Internal: 'Internal error. The log has the details.',
  BotTaken: 'Another workflow uses the bot. The messages to a bot start runs of one workflow only.',
  WaitingForReplicas: 'Not every gateway replica serves the current spec yet.',
  NoGateway: 'No gateway replica is ready.',
  Routed: 'Every ready gateway replica serves the current spec.',
  PoolStarting: 'No runner is ready yet.',
  PoolReady: 'A runner is ready.',
  PoolAsleep: 'The runners sleep until there is work, or are waking up.',
  PoolNotStarted: 'The namespace needs no runners yet: it has no workflow in effect.',
  SettingsApplied: 'The settings are in effect.',
  RollingOut: 'Not every runner has the settings yet.',
  SettingsNotAdmitted:
    'The installation does not allow some of the settings: its own values apply instead. The other settings are in effect.',
  SettingsInvalid:
    'The API server refuses pods with the placement or the resources of the settings. Both keep their previous values. The other settings are in effect.',
  PoolInvalid: 'The API server refuses an object of the runner pool: a value of the installation is invalid.',
  PodsRefused:
    'Kubernetes refuses the runner pods: a quota, a limit range or a policy of the namespace forbids them.',
  PodsNotReady: 'The runner pods do not become ready.',
  ScalingConflict: 'An autoscaler that is not the configured engine sets the number of runners, too.',
  ScalerFailing: 'The engine that sets the number of runners does not work.',
  CasesMissing: 'The ConfigMap or the key with the cases does not exist.',
  CasesInvalid: 'The cases are not a valid list of cases, or do not fit the workflow.',
  CasesChanged: 'The cases have changed since the evaluation started.',
  RevisionMissing: 'The revision of a variant does not exist.',
  InvalidVariant: 'A variant does not fit the workflow.',
  TooManyRuns: 'The evaluation has more than 1,000 runs.',
  Evaluating: 'Runs of the evaluation have not ended yet.',
  AllPassed: 'All runs met their expectations.',
  SomeFailed: 'Some runs did not meet their expectations.',
  StoreUnavailable: 'The run store is unreachable, so no workflow can be activated.',
  RevisionNameTaken:
    'A ControllerRevision of another owner has the name of the revision and cannot be deleted.',
  Unauthorized:
    'Kubernetes refuses a write of the operator: a permission is missing, or an admission policy refuses the object.',
} as const;

export type Reason = keyof typeof REASON;

/**
 * Reasons that need the attention of a person, although the object itself need not change (it is not
 * `Stalled`). Some resolve by themselves.
 */
export const NEEDS_ACTION: ReadonlySet<string> = new Set<Reason>([
  'CredentialMissing',
  'CredentialNotReady',
  'SecretMissing',
  'KeyMissing',
  'KeyUnusable',
  'MissingScope',
  'PoolInvalid',
  'PodsRefused',
  'PodsNotReady',
  'ScalingConflict',
  'ScalerFailing',
]);
