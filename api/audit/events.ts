/**
 * The register of audit events: what each means, which verb and kind of object its lines name, and which programs write it. A verb or a
 * meaning is described here alone; docs/audit.md repeats this table, and a test compares the two.
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
  /** Left out: the line says which kind. */
  kind?: 'Workflow' | 'WorkflowRun' | 'Credential' | 'Session';
  programs: readonly Program[];
  meaning: string;
};

export const AUDIT_EVENTS = {
  'run.execute': {
    verb: 'create',
    kind: 'Workflow',
    programs: ['gateway', 'operator'],
    meaning: 'Somebody started a run: over HTTP (gateway), or with a WorkflowRun object (operator).',
  },
  'run.test': {
    verb: 'create',
    kind: 'Workflow',
    programs: ['gateway', 'operator'],
    meaning: 'The same, for a test run.',
  },
  'run.retry': {
    verb: 'create',
    kind: 'Workflow',
    programs: ['operator'],
    meaning: 'Somebody created a WorkflowRun that repeats another (`retryOf`).',
  },
  'run.cancel': {
    verb: 'delete',
    kind: 'WorkflowRun',
    programs: ['gateway', 'operator'],
    meaning:
      'Somebody cancelled a run: over HTTP (gateway), or with `spec.cancel` or by deleting it (operator).',
  },
  'run.read': {
    verb: 'get',
    kind: 'WorkflowRun',
    programs: ['gateway'],
    meaning: 'A call that reads or follows a run was refused. Calls that are allowed are not recorded.',
  },
  'run.list': {
    verb: 'list',
    kind: 'WorkflowRun',
    programs: ['gateway'],
    meaning: 'A call that lists the runs of a workflow was refused. Calls that are allowed are not recorded.',
  },
  'session.create': {
    verb: 'create',
    kind: 'Session',
    programs: ['gateway'],
    meaning:
      'Somebody signed in to the console, or tried to: with a token, a link or OpenID Connect (`method`).',
  },
  'session.link': {
    verb: 'create',
    kind: 'Session',
    programs: ['gateway'],
    meaning: 'Somebody asked for a one-time link that signs in to the console.',
  },
  'session.delete': {
    verb: 'delete',
    kind: 'Session',
    programs: ['gateway'],
    meaning: 'Somebody signed out of the console.',
  },
  'object.read': {
    verb: 'get',
    programs: ['gateway'],
    meaning: 'A call of the console to the Kubernetes API was refused before it was passed on.',
  },
  'object.create': {
    verb: 'create',
    programs: ['gateway'],
    meaning: 'The console created an object with the rights of its user.',
  },
  'object.update': {
    verb: 'update',
    programs: ['gateway'],
    meaning: 'The console changed an object with the rights of its user, such as activating a workflow.',
  },
  'object.delete': {
    verb: 'delete',
    programs: ['gateway'],
    meaning: 'The console deleted an object with the rights of its user.',
  },
  'workflow.activate': {
    verb: 'activate',
    kind: 'Workflow',
    programs: ['operator'],
    meaning:
      'A workflow is active from now on: its trigger starts runs. `reason` is `AuthNoLongerRequired` where its public webhook is no longer refused.',
  },
  'workflow.deactivate': {
    verb: 'deactivate',
    kind: 'Workflow',
    programs: ['operator'],
    meaning:
      'A workflow is no longer active. Where its spec still says active, `reason` says why it is invalid, such as `AuthRequired`.',
  },
  'workflow.suspend': {
    verb: 'suspend',
    kind: 'Workflow',
    programs: ['operator'],
    meaning: 'A workflow is suspended from now on: every run of it is refused.',
  },
  'workflow.resume': {
    verb: 'resume',
    kind: 'Workflow',
    programs: ['operator'],
    meaning: 'A workflow is no longer suspended.',
  },
  'webhook.madePublic': {
    verb: 'update',
    kind: 'Workflow',
    programs: ['operator'],
    meaning:
      'The webhook of a workflow verified its callers until now (`reason` is the scheme), and is public from now on.',
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
    meaning: 'Somebody asked for a one-time link that connects the account of a credential.',
  },
  'credential.connect': {
    verb: 'connect',
    kind: 'Credential',
    programs: ['operator'],
    meaning:
      'The account of a credential was connected, or could not be. The user is who asked for the link.',
  },
  'credential.use': {
    verb: 'use',
    kind: 'Credential',
    programs: ['runner'],
    meaning:
      "A node of a run took a credential: once for each attempt of the node. Denied (`host-not-allowed`): the step's URL is at no host that the credential allows, and nothing was sent.",
  },
  'audit.leftOut': {
    verb: 'create',
    programs: ['gateway', 'operator', 'runner'],
    meaning:
      'So many lines (`count`) were left out since the last such line, because they came too fast; `reason` says which.',
  },
} as const satisfies Record<string, EventDefinition>;

export type AuditEvent = keyof typeof AUDIT_EVENTS;
