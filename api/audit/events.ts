/**
 * The register of audit events: meaning, verb and kind of object of each, and the programs that write it. A
 * test compares it with the table in docs/audit.md.
 */

type Program = 'gateway' | 'operator' | 'runner';

type EventDefinition = {
  verb:
    | 'create'
    | 'get'
    | 'list'
    | 'update'
    | 'delete'
    | 'use'
    | 'activate'
    | 'deactivate'
    | 'suspend'
    | 'resume'
    | 'connect';
  /** Left out: each line names the kind. */
  kind?: 'Workflow' | 'WorkflowRun' | 'Credential' | 'Session';
  programs: readonly Program[];
  meaning: string;
};

export const AUDIT_EVENTS = {
  'run.execute': {
    verb: 'create',
    kind: 'Workflow',
    programs: ['gateway', 'operator'],
    meaning: 'A user started a run: over HTTP (gateway), or with a WorkflowRun object (operator).',
  },
  'run.test': {
    verb: 'create',
    kind: 'Workflow',
    programs: ['gateway', 'operator'],
    meaning: 'A user started a test run, in the same ways.',
  },
  'run.retry': {
    verb: 'create',
    kind: 'Workflow',
    programs: ['gateway', 'operator'],
    meaning:
      'A user repeated or resumed a run: over HTTP (gateway), or with a WorkflowRun that has `retryOf` (operator).',
  },
  'run.cancel': {
    verb: 'delete',
    kind: 'WorkflowRun',
    programs: ['gateway', 'operator'],
    meaning:
      'A user cancelled a run: over HTTP (gateway), or with `spec.cancel` or by deleting the WorkflowRun (operator).',
  },
  'run.read': {
    verb: 'get',
    kind: 'WorkflowRun',
    programs: ['gateway'],
    meaning: 'A call that reads or follows a run was denied. Allowed calls are not recorded.',
  },
  'run.list': {
    verb: 'list',
    kind: 'WorkflowRun',
    programs: ['gateway'],
    meaning: 'A call that lists the runs of a workflow was denied. Allowed calls are not recorded.',
  },
  'memory.delete': {
    verb: 'delete',
    kind: 'Workflow',
    programs: ['gateway'],
    meaning: 'A user deleted what an agent of the workflow remembers for a key.',
  },
  'session.create': {
    verb: 'create',
    kind: 'Session',
    programs: ['gateway'],
    meaning:
      'A user signed in to the console, or failed to: with a token, a link or OpenID Connect (`method`).',
  },
  'session.link': {
    verb: 'create',
    kind: 'Session',
    programs: ['gateway'],
    meaning: 'A user requested a one-time link that signs in to the console.',
  },
  'session.delete': {
    verb: 'delete',
    kind: 'Session',
    programs: ['gateway'],
    meaning: 'A user signed out of the console.',
  },
  'object.read': {
    verb: 'get',
    programs: ['gateway'],
    meaning: 'A call of the console to the Kubernetes API was denied before it was forwarded.',
  },
  'object.create': {
    verb: 'create',
    programs: ['gateway'],
    meaning: 'The console created an object with the permissions of its user.',
  },
  'object.update': {
    verb: 'update',
    programs: ['gateway'],
    meaning:
      'The console changed an object with the permissions of its user, for example activated a workflow.',
  },
  'object.delete': {
    verb: 'delete',
    programs: ['gateway'],
    meaning: 'The console deleted an object with the permissions of its user.',
  },
  'workflow.activate': {
    verb: 'activate',
    kind: 'Workflow',
    programs: ['operator'],
    meaning:
      'A workflow became active: its trigger starts runs. `reason` is `AuthNoLongerRequired` if its public webhook is no longer refused.',
  },
  'workflow.deactivate': {
    verb: 'deactivate',
    kind: 'Workflow',
    programs: ['operator'],
    meaning:
      'A workflow became inactive. If its spec still says active, `reason` says why it is invalid, for example `AuthRequired`.',
  },
  'workflow.suspend': {
    verb: 'suspend',
    kind: 'Workflow',
    programs: ['operator'],
    meaning: 'A workflow was suspended: every run of it is refused.',
  },
  'workflow.resume': {
    verb: 'resume',
    kind: 'Workflow',
    programs: ['operator'],
    meaning: 'A suspended workflow was resumed.',
  },
  'webhook.madePublic': {
    verb: 'update',
    kind: 'Workflow',
    programs: ['operator'],
    meaning:
      'The webhook of a workflow became public. `reason` is the auth scheme that verified its callers before.',
  },
  'workflow.delete': {
    verb: 'delete',
    kind: 'Workflow',
    programs: ['operator'],
    meaning: 'A workflow was deleted.',
  },
  'credential.delete': {
    verb: 'delete',
    kind: 'Credential',
    programs: ['operator'],
    meaning: 'A credential was deleted.',
  },
  'credential.link': {
    verb: 'update',
    kind: 'Credential',
    programs: ['gateway'],
    meaning: 'A user requested a one-time link that connects the account of a credential.',
  },
  'credential.connect': {
    verb: 'connect',
    kind: 'Credential',
    programs: ['operator'],
    meaning:
      'Connecting the account of a credential succeeded or failed. `user` is the user who requested the link.',
  },
  'credential.use': {
    verb: 'use',
    kind: 'Credential',
    programs: ['runner'],
    meaning:
      "A node of a run used a credential: once per attempt of the node. Denied (`host-not-allowed`): the credential does not allow the host of the step's URL, and nothing was sent.",
  },
  'audit.leftOut': {
    verb: 'create',
    programs: ['gateway', 'operator', 'runner'],
    meaning:
      '`count` lines were left out since the last such line, because they exceeded the rate limit. `reason` says which lines: `refused` or `uses`.',
  },
} as const satisfies Record<string, EventDefinition>;

export type AuditEvent = keyof typeof AUDIT_EVENTS;
