/** The conditions of a workflow and a credential: their types, and every reason with what it means. */

/** `Ready` is the root; it is computed from those below it. `Active` stands beside it. */
export const CONDITION = {
  Ready: 'What the spec asks for is in effect everywhere.',
  Active: 'Events start runs.',
  Valid: 'The spec makes sense together with what it refers to.',
  CredentialsReady: 'Every credential that the workflow names is there and complete.',
  Routed: 'Every ready gateway replica serves the workflow as the spec says.',
  Scheduled: 'The CronJob of the schedule is in place, and its ticks succeed.',
  TriggerHealthy: 'The last poll of the account succeeded, or the bot is registered.',
  PoolReady: 'The runner pool of the project has a runner that is ready.',
  Stalled: 'Waiting does not help: the object, or one that conflicts with it, must change.',
  Checked: 'The last check of the credential succeeded.',
  HostsAllowed: 'http_request may send the credential to some host.',
} as const;

export type ConditionType = keyof typeof CONDITION;

/** What `Ready` is computed from, in the order in which reasons are shown. */
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
  Serving: 'Everything is in effect.',
  Inactive: 'The workflow is switched off and served nowhere, as the spec says.',
  Suspended: 'The workflow is suspended: every run is refused, as the spec says.',
  Accepted: 'The spec is valid.',
  InvalidSpec: 'The spec is invalid, so what was valid before stays in effect, if anything was.',
  FieldNotSupported: 'This version cannot execute a field of the spec yet.',
  InvalidExpression: 'A reference or condition cannot be parsed.',
  UnknownReference:
    'A reference names a node that does not come before the node that uses it, or a header or an error that never has a value.',
  UnreachableStep: 'No edge leads to a step, or only an edge that is never taken: the step would never run.',
  UnknownSkill: 'No skill has that name.',
  InvalidParameters: 'Parameters do not fit the schema of the skill.',
  AuthRequired:
    'The webhook verifies no caller, and the namespace or the installation refuses public webhooks.',
  InvalidSchedule: 'The time zone or the cron expression is not usable.',
  Scheduled: 'The CronJob is in place.',
  TicksFail: 'The CronJob fires, and its pods do not hand the event to the run store.',
  ScheduleRefused:
    'The API server refuses the CronJob for another reason than its times. This is tried again.',
  QuotaExceeded: 'A quota of the namespace admits no further CronJob. This is tried again.',
  CredentialMissing: 'A credential does not exist in the namespace.',
  CredentialNotReady: 'A credential exists and does not work.',
  WrongCredentialKind: 'A credential is of another kind than the node needs.',
  CredentialsFound: 'All credentials that the workflow names are ready.',
  SecretMissing: 'A Secret that the credential names does not exist.',
  KeyMissing: 'A Secret lacks the key that the credential names.',
  KeyUnusable:
    'A Secret key that callers are verified with is empty, too long, or not in the form of the scheme.',
  Complete: 'The Secret and its keys exist, and the credential cannot be checked.',
  Unused: 'The Secret and its keys exist. No workflow names the credential, so it is not checked.',
  NotChecked: 'The credential was not checked yet, since no workflow names it or no runner is ready.',
  Checked: 'The last check of the credential succeeded.',
  Polled: 'The last poll of the account succeeded.',
  NotPolled: 'The account is due to be polled, but no pod polls it.',
  Registered: 'The messaging service sends what is written to the bot.',
  Rejected: 'The other side refuses the credential.',
  Unreachable: 'The other side could not be reached, broke off, or cannot answer now.',
  Connected: 'The account is connected.',
  NotConnected: 'Nobody has connected the account yet, or the provider has taken the access back.',
  Expiring: 'The account is connected, and the access ends soon.',
  Expired: 'The access has ended.',
  MissingScope: 'The access lacks a right that is needed.',
  HostsAllowed: 'allowedHosts or the preset names the hosts.',
  NoAllowedHosts: 'The credential names no host, so http_request sends it nowhere.',
  AddressForbidden: 'The host of an account or of a step leads to an address that may not be connected to.',
  MailboxMissing: 'The account has no such mailbox.',
  SpreadsheetMissing: 'The account has no such spreadsheet or sheet, or may not see it.',
  FolderMissing: 'The account has no such folder or bucket, or may not see it.',
  RateLimited: 'The other side asked to wait.',
  UpstreamError: 'The other side answered with an error of its own.',
  InvalidAnswer: 'The other side answered with something that cannot be read.',
  Timeout: 'The other side did not answer in time.',
  TooLarge: 'The account has more in it than a poll can remember.',
  ProjectFull: 'The project may hold no more in the run store.',
  InvalidTrigger: 'The trigger and its credential do not fit together.',
  Internal: 'A defect of Windlass; the log has the details.',
  BotTaken: 'Another workflow has the bot: the messages to one bot start runs of one workflow.',
  WaitingForReplicas: 'Some gateway replica does not serve the current spec yet.',
  NoGateway: 'No gateway replica is ready.',
  Routed: 'All gateway replicas serve the current spec.',
  PoolStarting: 'No runner is ready yet.',
  PoolReady: 'A runner is ready.',
  PoolNotStarted: 'Nothing in the namespace needs runners yet: no workflow of it has taken effect.',
  SettingsApplied: 'The runner pool has the settings.',
  RollingOut: 'Not every runner has the settings yet.',
  SettingsNotAdmitted:
    'The installation does not admit some of the settings. For these its own values stay in effect; the other settings are applied.',
  SettingsInvalid:
    'The API server refuses pods with the placement or the resources of the settings. Both stay as they were; the other settings are applied.',
  PoolInvalid: 'The API server refuses an object of the runner pool: a value of the installation is invalid.',
  PodsRefused:
    'Kubernetes refuses the pods of the runners: a quota, a limit range or a policy of the namespace forbids them.',
  PodsNotReady: 'The pods of the runners do not become ready.',
  StoreUnavailable: 'The run store cannot be reached, so nothing can be activated.',
  RevisionNameTaken:
    'A ControllerRevision that is not of the workflow has the name of its revision and cannot be deleted.',
  Unauthorized:
    'Kubernetes refuses a write of the operator: it lacks a right, or an admission policy refuses the object.',
} as const;

export type Reason = keyof typeof REASON;

/**
 * Reasons that people are asked to look at, although the object itself need not change (it is not `Stalled`). Some heal by
 * themselves.
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
]);
